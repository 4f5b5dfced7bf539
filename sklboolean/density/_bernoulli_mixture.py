"""Mixtures of Bernoulli products."""

import warnings

import numpy as np
from scipy.special import expit
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.validation import (
    check_choice,
    check_finite_sum,
    check_integer,
    check_real,
    check_sample_weight,
    remember_params,
)
from sklboolean.density._completion import most_probable_rows
from sklboolean.density._model import BinaryDensityMixin, by_blocks
from sklboolean.density._products import maximise, posterior
from sklboolean.density._starts import best_of_starts
from sklboolean.density._stepwise import KIND, StepwiseMixin
from sklboolean.density._tables import distinct_rows, read_signs


class BernoulliMixture(
    StepwiseMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin,
    BinaryDensityMixin, BaseEstimator,
):  # fmt: skip
    """Density of Boolean rows of a few hidden kinds, whose bits are independent.

    Fitted by EM, or on-line from a stream, with rows of which some bits are missing
    too. As a transformer it gives the probability of each kind.

    Parameters
    ----------
    n_components : int, default=10
        Kinds of rows.
    alpha : float, default=0.1
        Smoothing, above 0: added to the number of true bits, of false bits, and of
        rows, of each component. EM then climbs to a maximum of the likelihood times a
        Beta and a Dirichlet density.
    growth : {"doubling"} or None, default="doubling"
        "doubling": start with one component, and when EM has converged split each in
        two halves, the heaviest first, until there are enough. None: start with all
        of them, in random places.
    n_init : int, default=1
        Random starts, of which the best is kept.
    max_iter : int, default=200
        Most steps of EM, after each doubling anew.
    tol : float, default=1e-3
        EM has converged when a step gains less, in nats for a row.
    batch_size : int, default=1000
        Rows of a step of ``partial_fit``.
    learning_decay : float, default=0.7
        How soon the steps of ``partial_fit`` shrink: above 0.5, at most 1. The larger,
        the longer what was learned at first is remembered.
    warm_start : bool, default=False
        Whether ``fit`` goes on from the mixture it has found before.
    binarize : float or None, default=0.0
        A value above it is true. None demands the codes 0 and 1, or -1 and 1.
    random_state : int, RandomState instance or None, default=None
        Source of the starts.
    n_jobs : int or None, default=None
        Starts that run at once. The answer does not depend on it.
    verbose : int, default=0
        1 prints the log-likelihood of each start.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,), dtype float64
        Probability of each component.
    means_ : ndarray of shape (n_components, `n_features_in_`), dtype float64
        Probability of a true bit in each component.
    log_likelihoods_ : ndarray of shape (n_steps,), dtype float64
        Mean log-likelihood of the rows in nats, at the start and after each step of
        EM; of all doublings one after the other. After a ``partial_fit`` that was not
        the first, of the rows of each of its batches before they were learned.
    n_iter_ : int
        Steps of EM; of all calls of ``partial_fit`` together.
    converged_ : bool
        Whether the last gain was below ``tol``; False on a stream.
    codes_ : ndarray of shape (2,), dtype float64
        How rows are written in answers: (-1, 1) when all values learned were -1 or 1,
        else (0, 1).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    Warns
    -----
    ConvergenceWarning
        If EM still gained more than ``tol`` after ``max_iter`` steps.

    See Also
    --------
    ChowLiuTree : One tree instead of hidden kinds; nothing to choose.

    References
    ----------
    Dempster, Laird, Rubin. "Maximum Likelihood from Incomplete Data via the EM
    Algorithm". Journal of the Royal Statistical Society B 39, 1977.

    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    Thesis, 1993, section 4.4: doubling.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import BernoulliMixture
    >>> X = np.repeat([[0, 0, 0, 1], [1, 1, 1, 0]], 20, axis=0)
    >>> mixture = BernoulliMixture(2, random_state=0).fit(X)
    >>> mixture.impute([[1, 1, np.nan, np.nan]]).round(1)
    array([[1., 1., 1., 0.]])
    """

    def __init__(
        self, n_components=10, *, alpha=0.1, growth="doubling", n_init=1, max_iter=200,
        tol=1e-3, batch_size=1000, learning_decay=0.7, warm_start=False, binarize=0.0,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.n_components = n_components
        self.alpha = alpha
        self.growth = growth
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.learning_decay = learning_decay
        self.warm_start = warm_start
        self.binarize = binarize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X, y=None, sample_weight=None):
        """Find the mixture by EM.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which is left out of all counts: right when bits are
            missing regardless of what they are.
        y : None, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, at least 0; a row of weight 2 counts as two rows.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            For bad parameters and data, and for a warm start with another number of
            components or features. What was learned before is kept.
        """
        with restore_on_error(self):
            self._begin(X, sample_weight, self._settings())
        if not self.converged_:
            warnings.warn(
                f"EM had not converged after max_iter={self.max_iter} steps. Raise "
                "max_iter or tol, or fit again with warm_start=True.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _begin(self, X, sample_weight, settings):
        signs = read_signs(self, X, reset=True)
        weights = check_sample_weight(sample_weight, len(signs))
        check_finite_sum(weights, divides=True)
        self._counts, self._total = None, float(weights.sum())
        signs, weights = distinct_rows(signs, weights)
        if self.warm_start and hasattr(self, "_mixture"):
            self._check_goes_on()
            found = maximise(self._mixture, signs, weights, **settings)
        else:
            found = best_of_starts(
                signs, weights, self.n_components, self.growth, self.n_init,
                settings, self.random_state, self.n_jobs, self.verbose,
            )  # fmt: skip
        mixture, _, history, converged = found
        self._publish(mixture, history, converged, len(history) - 1)

    def _settings(self):
        check_integer(self.n_components, "n_components", 1)
        check_choice(self.growth, "growth", ("doubling", None))
        check_integer(self.n_init, "n_init", 1)
        self._check_steps()
        check_choice(self.warm_start, "warm_start", (False, True))
        return {
            "alpha": check_real(self.alpha, "alpha", 1e-10),
            "tol": check_real(self.tol, "tol", 0.0),
            "max_iter": check_integer(self.max_iter, "max_iter", 1),
        }

    def _publish(self, mixture, history, converged, n_iter):
        self._mixture = mixture
        remember_params(self, KIND)
        self.weights_, self.means_ = np.exp(mixture.log_weights), expit(mixture.logits)
        self.log_likelihoods_ = np.array(history, dtype=np.float64)
        self.n_iter_, self.converged_ = n_iter, converged

    def _log_density(self, signs):
        return posterior(self._mixture.log_joint(signs))[1]

    def _log_odds(self, signs):
        return self._mixture.log_odds(signs)

    def _complete_at_random(self, signs, rng):
        shares, _ = posterior(self._mixture.log_joint(signs))
        ranks = rng.uniform(size=(len(signs), 1)) < np.cumsum(shares, axis=1)
        # Rounding may leave the last sum below 1, and the draw above it.
        ranks[:, -1] = True
        means = self.means_[ranks.argmax(axis=1)]
        true = rng.uniform(size=signs.shape) < means
        return np.where(signs == 0, np.where(true, 1, -1), signs)

    def _most_probable(self, signs):
        return most_probable_rows(self._mixture, signs)

    def transform(self, X):
        """Return the probability of each component given the row.

        ``GaussianMixture`` calls this ``predict_proba``, which scikit-learn's checks
        keep for classifiers where tables may be sparse.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_components), dtype float64
            Rows sum to 1.
        """
        check_is_fitted(self)
        return by_blocks(
            lambda rows: posterior(self._mixture.log_joint(rows))[0],
            read_signs(self, X),
        )

    def predict(self, X):
        """Return the most probable component of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit.

        Returns
        -------
        components : ndarray of shape (n_samples,), dtype int64
            Numbers of components.
        """
        check_is_fitted(self)
        return by_blocks(
            lambda rows: self._mixture.log_joint(rows).argmax(axis=1),
            read_signs(self, X),
        )

    @property
    def _n_features_out(self):
        return len(self.weights_)

    def reconstruction_error(self, X):
        """Return how many bits a known bit still takes when the component is known.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            NaN is a missing bit, which need not be reconstructed.

        Returns
        -------
        error : float
            Mean of -log2 P(bit | most probable component of the row), over all known
            bits of all rows (Freund, section 4.4).
        """
        check_is_fitted(self)
        signs = read_signs(self, X)
        known = np.count_nonzero(signs)
        if not known:
            raise ValueError("X holds no known bit that could be reconstructed.")

        def log_probabilities(rows):
            joint = self._mixture.log_joint(rows)
            best = joint.argmax(axis=1)
            return joint[np.arange(len(rows)), best] - self._mixture.log_weights[best]

        return float(-by_blocks(log_probabilities, signs).sum() / (known * np.log(2)))

    def _n_parameters(self):
        return self.means_.size + len(self.weights_) - 1

    def bic(self, X):
        """Return the Bayesian information criterion; lower is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.

        Returns
        -------
        bic : float
            -2 log-likelihood + n_parameters ln(n_samples).
        """
        scores = self.score_samples(X)
        return float(-2 * scores.sum() + self._n_parameters() * np.log(len(scores)))

    def aic(self, X):
        """Return the Akaike information criterion; lower is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows that were learned.

        Returns
        -------
        aic : float
            -2 log-likelihood + 2 n_parameters.
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())
