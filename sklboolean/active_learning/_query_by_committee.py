"""Query by committee: query labels of samples on which the members disagree."""

# The class checks parameters and data and shows what was learned. What is learned lies
# in a `QueryState`, whether labels come from an array, a function, a stream or a
# person. Random numbers have four sources, drawn in this order before the first label:
# members, ties, coins of a stream, and the final estimator. An error of an oracle keeps
# earlier labels.

from contextlib import contextmanager
from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state, get_tags

from sklboolean._core.base import restore_on_error
from sklboolean._core.deprecation import old_parameters
from sklboolean._core.labels import check_classes, distinct_labels, encode_classes
from sklboolean._core.meta import draw_seed, set_seed
from sklboolean._core.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_same_params,
    flat_params,
)
from sklboolean._core.progress import (
    CallbackSupportMixin,
    Progress,
    restore,
    with_callbacks,
)
from sklboolean._core.validation import readable_errors, validate_data_strict
from sklboolean._core.versioned import VersionedEstimator
from sklboolean._core.weights import checked_weights, warn_of_absent
from sklboolean.active_learning._ensemble_committee import (
    EnsembleCommittee,
    check_bases,
    check_weighable,
)
from sklboolean.active_learning._oracles import (
    ArrayOracle,
    CallableOracle,
    check_source,
    find_missing,
)
from sklboolean.active_learning._query_predictions import QueryPredictionMixin
from sklboolean.active_learning._query_state import QueryState
from sklboolean.active_learning._strategies import STRATEGIES
from sklboolean.active_learning._version_space import (
    VersionSpaceCommittee,
    is_version_space,
)

N_TREES, N_CLONES = 30, 5
# Parameters that must not change while labels are added.
STATE_PARAMS = "committee n_members strategy epsilon initial".split()
DELTA = 0.05  # the probability of failure that is allowed where none is given


def delta_in_epsilon(_name, value, params):
    """Set ``epsilon`` to a pair of numbers, epsilon and delta."""
    if value != DELTA and params["epsilon"] is not None:
        epsilon = np.ravel(params["epsilon"])[0]
        params["epsilon"] = float(epsilon), value


def sampling_by_committee(name, value, params):
    """Clones see bootstrap samples; a list of classifiers sees all labels."""
    committee, n_members = params["committee"], params["n_members"]
    is_cloned = hasattr(committee, "fit") and n_members != 1
    if value == "all" and is_cloned:
        params["committee"] = [committee] * (n_members or N_CLONES)
    elif value not in (None, "bootstrap" if is_cloned else "all"):
        raise ValueError(
            f"{name}={value!r} is not supported since version 0.3. "
            f"{sampling_by_committee.__doc__}"
        )


@old_parameters(delta=delta_in_epsilon, sampling=sampling_by_committee)
class QueryByCommittee(
    CallbackSupportMixin, QueryPredictionMixin, ClassifierMixin, VersionedEstimator
):
    """Classifier that queries labels of samples on which a committee disagrees.

    Labels come from an array (``fit(X, y)`` reads only the labels that it queries),
    from a function (``fit(X, oracle=...)``), from a stream (``fit_stream``), or from a
    person, one after the other (``query`` and ``teach``).

    Parameters
    ----------
    committee : classifier, list of classifiers, version space or None, default=None
        The members. A classifier is cloned ``n_members`` times, and each clone is
        trained on a bootstrap sample that grows with the labels. A list contains the
        members, which are trained on all labels; the same classifier several times
        gives members that differ by their ``random_state`` only. A version space, such
        as `FiniteVersionSpace` or `HalfspaceVersionSpace`, has all hypotheses that
        agree with the labels as members; it is limited to two classes. None: randomized
        trees that see all labels,
        ``DecisionTreeClassifier(max_features="sqrt")``.
    n_members : int or None, default=None
        Number of clones of a single classifier, at least 1. More members measure
        disagreement more finely and take longer. The probabilities of a single member
        stand for a committee, for example those of a random forest. None: 30 trees, or
        5 clones of a given classifier.
    strategy : {"disagreement", "vote_entropy", "kl", "label_entropy", \
"pairwise_disagreement", "margin"}, callable or None, default=None
        The score of a candidate. "disagreement": 1 if two random members disagree,
        else 0. "vote_entropy": entropy of the votes. "kl": mean divergence from the
        consensus. "label_entropy": entropy of the mean probabilities.
        "pairwise_disagreement": probability that two members disagree. "margin": minus
        the lead of the first class. Members without ``predict_proba`` count as
        certain of their votes. A callable ``strategy(predictions, X, rng)`` returns
        one score per candidate, higher is better; ``predictions`` is a
        `sklboolean.active_learning.CommitteePredictions`. None: "margin" for
        classifiers, "pairwise_disagreement" for version spaces. Streams use
        "disagreement" only.
    epsilon : float, pair of floats or None, default=0.05
        Target error, in (0, 1). A pair gives the allowed probability of failure, delta,
        too; without it delta is 0.05. A stream ends when more than
        ``t_n = ln(pi^2 (n + 1)^2 / (3 delta)) / epsilon`` samples in a row were
        rejected after n labels; a pool ends when this is expected of it. None: continue
        until ``max_queries`` or the last sample.
    batch_size : int, default=1
        Number of labels of a pool to query at a time, at least 1. A batch consists of
        good candidates that are far from each other. Increase it if training is slow
        or several people give labels.
    max_queries : int or None, default=None
        Maximum number of labels to query. None: no limit.
    initial : int, array-like of int or None, default=None
        Labels to query first: the number of random samples, or indices of samples of
        the pool passed to ``fit``. None: 10, or 0 for a version space. Further random
        samples follow until labels of two classes are known.
    final_estimator : classifier, "auto" or None, default="auto"
        Classifier for predictions, fitted to all labelled samples. None: the committee
        predicts. "auto": the mean of the probabilities of the committee and of an
        `AveragedPerceptron`, where the committee is the default and all features are
        zeros and ones; otherwise the committee. Trees model interactions of features,
        and the perceptron adds up many weak ones.
    random_state : int, RandomState instance or None, default=None
        Controls samples, seeds, chains, coins and ties. Pass an int for reproducible
        results.
    n_jobs : int or None, default=None
        Number of classifiers fitted in parallel, as in joblib. It does not change the
        result. Members that take less than a second together stay in this process:
        others would be slower.
    verbose : int, default=0
        1 prints a line for every batch of labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    committee_ : list of classifiers, or version space
        The fitted members.
    estimator_ : classifier or None
        The fitted ``final_estimator``, or the perceptron of "auto".
    query_indices_ : ndarray of shape (`n_queries_`,), int
        Indices of the queried samples, in order: in X, in the ``X_pool`` of their
        query, or positions in the stream. -1 for samples taught without a query.
    query_labels_ : ndarray of shape (`n_queries_`,)
        Their labels.
    skipped_indices_ : ndarray of shape (n_skipped,), int
        Indices of the queried samples whose label is not known: the oracle returned
        None or NaN for them, or they were taught so.
    n_queries_ : int
        Number of labels queried, initial ones included.
    n_seen_ : int
        Number of samples of the pool, or of samples read from the stream.
    termination_condition_ : str or None
        "agreement" (a pool has reached the target error), "confidence_bound" (a stream
        has), "max_queries", "pool_exhausted", "stream_exhausted", "callback" (one
        stopped the fit), or None if learning can continue.
    information_gains_ : ndarray of shape (`n_queries_`,), float64
        Minus the binary logarithm of the probability that the committee gave to each
        label before it was known. For classifiers it is estimated from votes, and NaN
        before they are fitted.
    label_entropy_ : ndarray of shape (n_choices,), float64
        Mean entropy of the labels of the pool before each choice, in bits. It bounds
        the error of the best prediction
        (`sklboolean.active_learning.bayes_error_bounds`).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, if X has them.

    See Also
    --------
    sklboolean.active_learning : Measures of disagreement, and version spaces.

    Notes
    -----
    :doc:`/experiments/query_by_committee` computes the paper's results again, and
    :doc:`/experiments/exact_calls` has the parameters of its algorithm.

    References
    ----------
    Freund. "Data Filtering and Distribution Modeling Algorithms for Machine Learning".
    PhD thesis, University of California, Santa Cruz, 1993, chapter 3, Figure 3.2.

    Freund, Seung, Shamir, Tishby. "Selective Sampling Using the Query by Committee
    Algorithm". Machine Learning 28, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from sklboolean import QueryByCommittee
    >>> from sklboolean.active_learning import ThresholdVersionSpace
    >>> X = np.random.RandomState(0).random_sample((1000, 1))
    >>> y = X[:, 0] > 0.3
    >>> model = QueryByCommittee(ThresholdVersionSpace(), random_state=0).fit(X, y)
    >>> model.n_queries_, model.score(X, y)
    (6, 0.992)
    """

    def __init__(
        self, committee=None, *, n_members=None, strategy=None, epsilon=0.05,
        batch_size=1, max_queries=None, initial=None, final_estimator="auto",
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.committee = committee
        self.n_members = n_members
        self.strategy = strategy
        self.epsilon = epsilon
        self.batch_size = batch_size
        self.max_queries = max_queries
        self.initial = initial
        self.final_estimator = final_estimator
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y=None, oracle=None, classes=None, sample_weight=None):
        """Query the labels of a few samples, and learn from them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The pool.
        y : array-like of shape (n_samples,), default=None
            Without an oracle: all labels. The set of classes is read, and the labels
            of the queried samples. With an oracle: the labels known in advance, with
            None, NaN or NA where a label is wanted; None if no label is known.
        oracle : callable, default=None
            ``oracle(samples, indices)`` returns the labels of some samples of X, and
            None or NaN for labels that it does not know. These samples are not queried
            again. The samples have the type of X.
        classes : array-like of shape (n_classes,), default=None
            All labels that an oracle can return. None: those that occur.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the labels in training. Where their mean is below 1, they are
            divided by it. They do not affect the choice of samples, except that samples
            of weight 0 are not queried.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            For invalid parameters and data, for invalid labels from the oracle, if all
            labels are of one class, and if no hypothesis of a version space agrees
            with all labels.
        RuntimeError
            If the oracle fails. Labels that it returned before this or any other error
            are kept in ``query_indices_`` and ``query_labels_``.
        """
        with self._training(oracle):
            samples, progress = X, Progress(self, "query", None, X, y)
            classes = None if classes is None else distinct_labels(classes, "classes")
            X, y, has_label = self._read(X, y, reset=True)
            check_source(y, has_label, oracle)
            weights = self._read_weights(sample_weight, X.shape[0], scaled=True)
            has_weight = weights > 0
            if oracle is None:
                ask, candidates = ArrayOracle(y), has_weight
                if classes is None:
                    classes, codes = encode_classes(y)
                    totals = np.bincount(codes, weights, minlength=len(classes))
                    warn_of_absent(classes, totals)
            else:
                ask = CallableOracle(oracle, samples, classes)
                candidates = has_weight & ~has_label
            state = self._state = self._new_state(classes)
            if sample_weight is not None:
                state.committee.check_weights(weights)
            given_index = np.flatnonzero(has_label & has_weight)
            if oracle is not None and len(given_index):
                state.add(
                    X[given_index], y[given_index], weights[given_index], queried=False
                )
            task = X, weights, candidates, ask
            task += (partial(self._report, progress),)
            state.query_pool(*task, self.initial, self.batch_size)
        progress.finish()
        return self

    @with_callbacks
    def fit_stream(self, chunks, oracle=None, classes=None) -> "QueryByCommittee":
        """Learn from a stream in chunks; only labelled samples are kept.

        Parameters
        ----------
        chunks : iterable of X or of (X, y)
            Parts of the stream, of any size: X for an oracle, or X with all its labels.
            They are read until the learning ends.
        oracle : callable, default=None
            ``oracle(samples, indices)`` returns the labels of samples of a chunk.
            Indices count from the beginning of the stream.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. None: those that occur; every sample is queried
            until there are two.

        Returns
        -------
        self : object
            The fitted classifier. It does not depend on how the stream is split.

        Raises
        ------
        ValueError
            As for ``fit``, for parameters that compare samples, and for a stream
            without samples.
        RuntimeError
            If the oracle fails. Labels that it returned before an error are kept.
        """
        with self._training(oracle):
            self._check_stream_params()
            if classes is not None:
                classes = distinct_labels(classes, "classes")
            report = partial(self._report, Progress(self, "query"))
            state, offset = None, 0
            for chunk in chunks:
                samples, y = (chunk, None) if oracle is not None else chunk
                X, y, has_label = self._read(samples, y, reset=state is None)
                check_source(y, has_label, oracle)
                if state is None:
                    state = self._state = self._new_state(classes)
                    self._check_initial_labels(state)
                ask = ArrayOracle(y, offset)
                if oracle is not None:
                    ask = CallableOracle(oracle, samples, classes, offset)
                state.query_stream(X, ask, report, offset)
                offset += X.shape[0]
                if state.termination:
                    break
            if state is None:
                raise ValueError("chunks is empty: pass at least one chunk.")
        return self

    def query(self, X_pool, batch_size=None, *, return_utilities=False):
        """Choose the samples whose labels are most informative.

        Continues from the last ``fit`` or ``teach``, if there was one.

        Parameters
        ----------
        X_pool : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples without a label. Samples that were skipped are not chosen again,
            nor are their duplicates.
        batch_size : int or None, default=None
            Number of samples to choose. None: the parameter ``batch_size``.
        return_utilities : bool, default=False
            Return the score of each sample, too.

        Returns
        -------
        indices : ndarray of shape (min(batch_size, n_samples),), dtype int
            Indices of samples of ``X_pool``. They are random until labels of two
            classes, and at least ``initial`` labels, are known. Fewer if
            ``max_queries`` is reached, or if all other samples were skipped.
        utilities : ndarray of shape (n_samples,), dtype float64
            Only with ``return_utilities``: the score of each sample by ``strategy``,
            higher is better; the batch is chosen among the best. 0 while samples are
            chosen at random, NaN for samples that are no candidates.
        """
        n = self.batch_size if batch_size is None else batch_size
        check_integer(n, "batch_size", 1)
        with restore_on_error(self):
            state, X = self._resume(X_pool)
            self._check_initial_labels(state)
            indices, utilities = state.query(X, n)
            self._set_fitted_attributes()
        return (indices, utilities) if return_utilities else indices

    def query_stream(self, x) -> bool:
        """Read one sample of a stream, and decide if its label is queried.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            The sample. If its label is queried, pass both to ``teach``.

        Returns
        -------
        is_queried : bool
            True until the committee can predict, then where two members disagree.
            False once the confidence bound or ``max_queries`` is reached.
        """
        with restore_on_error(self):
            self._check_stream_params()
            state, X = self._resume([x] if np.ndim(x) == 1 else x)
            self._check_initial_labels(state)
            if X.shape[0] != 1:
                raise ValueError(f"x must be one sample; got {X.shape[0]}.")
            is_queried = state.query_one(X)
            self._set_fitted_attributes()
        return is_queried

    def teach(self, X, y, sample_weight=None) -> "QueryByCommittee":
        """Learn the labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, queried or not.
        y : array-like of shape (n_samples,)
            Their labels; None or NaN if a label is not known. Such a sample is skipped:
            it is not queried again. New classes may occur at any time.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the labels in training, used as they are.

        Returns
        -------
        self : object
            The classifier. It predicts once labels of two classes are known.

        Raises
        ------
        ValueError
            For invalid parameters and data, and if no hypothesis of a version space
            agrees with all labels; these are kept.
        """
        with restore_on_error(self):
            state, X, y, has_label = self._resume(X, y)
            weights = self._read_weights(sample_weight, X.shape[0])
            if sample_weight is not None:
                state.committee.check_weights(weights)
            indices = state.indices_of(X)
            if not has_label.all():
                state.skip(X[~has_label], indices[~has_label].tolist())
            used = np.flatnonzero(has_label & (weights > 0))
            if len(used):
                state.add(X[used], y[used], weights[used], indices[used].tolist())
            self._set_fitted_attributes(fit_final=True)
        return self

    def correct(self, X, y) -> "QueryByCommittee":
        """Replace the labels of samples, or take them back.

        The committee is trained again from the beginning, with all labels at once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples whose labels are known, by ``teach`` or ``fit``. All equal samples
            are corrected.
        y : array-like of shape (n_samples,)
            Their new labels. None or NaN: the label is taken back, and the sample may
            be queried again.

        Returns
        -------
        self : object
            The classifier.

        Raises
        ------
        ValueError
            For invalid data, for samples without a label, and if no hypothesis of a
            version space agrees with all labels. Then nothing changes.
        """
        with restore_on_error(self):
            state, X, y, has_label = self._resume(X, y)
            committee = self._new_state().committee
            self._state = state.with_corrections(X, y, has_label, committee)
            self._set_fitted_attributes(fit_final=True)
        return self

    def __sklearn_is_fitted__(self):
        """Test if there is a committee: labels of two classes are known."""
        return hasattr(self, "classes_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        readers, sparse, nan = self._bases(), True, True
        if is_version_space(self.committee):
            tags.classifier_tags.multi_class = nan = False
            sparse = hasattr(self.committee, "__sklearn_tags__")
            readers += [self.committee] if sparse else []
        for reader in readers:
            inner = get_tags(reader).input_tags
            sparse, nan = sparse and inner.sparse, nan and inner.allow_nan
        tags.input_tags.sparse, tags.input_tags.allow_nan = sparse, nan
        return tags

    def _bases(self, *, final=True):
        """List the classifiers, without repetition: members and final estimator."""
        committee, bases = self.committee, []
        if isinstance(committee, list | tuple):
            bases = list(committee)
        elif committee is None:
            bases = [DecisionTreeClassifier(max_features="sqrt")]
        elif not is_version_space(committee):
            bases = [committee]
        if final and self._given_final() is not None:
            bases.append(self.final_estimator)
        return bases

    def _validation_options(self):
        """Options of validate_data that suit all members and the final estimator."""
        accepted, dtype = self.__sklearn_tags__().input_tags, "numeric"
        for base in self._bases(final=False)[:1]:
            inner = get_tags(base).input_tags
            dtype = None if inner.string or inner.allow_nan else "numeric"
        return {
            "for_others": True,
            "accept_sparse": "csr" if accepted.sparse else False,
            "dtype": dtype,
            "ensure_all_finite": "allow-nan" if accepted.allow_nan else True,
        }

    def _check_params(self):
        if self.strategy is not None and not callable(self.strategy):
            check_choice(self.strategy, "strategy", tuple(STRATEGIES))
        if np.ndim(self.epsilon) and np.shape(self.epsilon) != (2,):
            raise ValueError(
                "epsilon must be a number, a pair of numbers, epsilon and delta, or "
                f"None; got {self.epsilon!r}."
            )
        for name, value in zip(("epsilon", "delta"), self._error_limits(), strict=True):
            if value is not None:
                check_real(value, name, 0.0, strict=True, below=1)
        check_integer(self.batch_size, "batch_size", 1)
        for name in ("max_queries", "n_members"):
            if getattr(self, name) is not None:
                check_integer(getattr(self, name), name, 1)
        if np.ndim(self.initial):
            if np.asarray(self.initial).dtype.kind not in "iu":
                raise ValueError(
                    "initial must be a number of samples, or indices of samples; got "
                    f"{self.initial!r}."
                )
        elif self.initial is not None:
            check_integer(self.initial, "initial", 0)
        check_bases(self._bases(), self._given_final())

    def _error_limits(self):
        """Split ``epsilon`` into epsilon, or None, and delta."""
        return self.epsilon if np.ndim(self.epsilon) else (self.epsilon, DELTA)

    def _check_stream_params(self):
        """Reject parameters that compare samples: a stream is read one by one."""
        if self.strategy not in (None, "disagreement"):
            raise ValueError(
                "A stream is queried where two members disagree: strategy must be "
                f"'disagreement' or None; {self.strategy!r} compares samples."
            )
        if self.batch_size > 1:
            raise ValueError(
                "A stream is queried for one label at a time: batch_size must be 1; "
                f"got {self.batch_size}."
            )

    def _check_initial_labels(self, state):
        if np.ndim(self.initial) and state.n_labels < state.n_initial:
            raise ValueError(
                f"initial={self.initial!r} contains indices of the pool passed to fit: "
                "call fit first, teach their labels, or set initial to a number."
            )

    def _read(self, X, y=None, *, reset):
        """Validate samples and labels.

        Returns
        -------
        X : ndarray or sparse array of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            Arbitrary where no label is known.
        has_label : ndarray of shape (n_samples,), bool
        """
        options = self._validation_options() | {"reset": reset}
        labels, missing = (None, None) if y is None else find_missing(y)
        if y is None or missing.any():
            X = validate_data_strict(self, X, **options)
        else:
            # Labels of one type: scikit-learn refuses integers in an array of objects.
            y = labels if labels.ndim == np.asarray(y).ndim else y
            X, labels = validate_data_strict(self, X, y, **options)
        if y is None:
            return X, None, np.zeros(X.shape[0], dtype=bool)
        if len(labels) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} samples, but y has {len(labels)}.")
        if not missing.all():
            check_classes(labels[~missing])
        return X, labels, ~missing

    def _read_weights(self, sample_weight, n_samples, *, scaled=False):
        """Validate the weights of the samples."""
        if sample_weight is None:
            return np.ones(n_samples)
        if self._given_final() is not None:
            check_weighable(self.final_estimator)
        return checked_weights(sample_weight, n_samples, scaled=scaled)

    def _new_state(self, classes=None):
        """Create the committee and the state before any label."""
        self._fitted_params = flat_params(self, STATE_PARAMS)
        rng = check_random_state(self.random_state)
        # Strategies and streams draw from sources of their own, so that neither changes
        # the members.
        members, ties, coins = (np.random.RandomState(draw_seed(rng)) for _ in "123")
        seed = draw_seed(rng)
        if is_version_space(self.committee):
            committee = VersionSpaceCommittee(
                self.committee, self.n_features_in_, draw_seed(members)
            )
        else:
            bases, is_bootstrap = self._bases(final=False), False
            if self.committee is None:
                bases = bases * (self.n_members or N_TREES)
            elif not isinstance(self.committee, list | tuple):
                bases = bases * (self.n_members or N_CLONES)
                is_bootstrap = len(bases) > 1
            committee = EnsembleCommittee(bases, is_bootstrap, members, self.n_jobs)
        n_initial = committee.n_initial
        if self.initial is not None:
            n_initial = len(self.initial) if np.ndim(self.initial) else self.initial
        score = self.strategy
        if not callable(score):
            score = STRATEGIES[score or committee.default_strategy]
        limits = *self._error_limits(), int(n_initial), self.max_queries or np.inf
        return QueryState(
            committee, score, *limits, ties, coins, seed, classes, classes
        )

    def _resume(self, X, y=None):
        """Validate data, and continue with the state or create it."""
        self._check_params()
        is_first = not hasattr(self, "_state")
        if not is_first:
            check_same_params(self, STATE_PARAMS)
        data = self._read(X, y, reset=is_first)
        if is_first:
            self._state = self._new_state()
        self._state.max_queries = self.max_queries or np.inf
        return self._state, *(data[:1] if y is None else data)

    @contextmanager
    def _training(self, oracle):
        """Train from the beginning, and set the fitted attributes at the end.

        On an error, labels from an oracle are kept; otherwise the old state is
        restored.
        """
        self._check_params()
        before = dict(vars(self))
        try:
            for name in before:
                if name.endswith("_") or name == "_state":
                    delattr(self, name)
            yield
            state = self._state
            state.termination = state.termination or "stream_exhausted"
            if not state.is_ready:
                problem = "No label is known"
                if state.n_labels:
                    label = state.y.tolist()[0]
                    problem = f"All {state.n_labels} labels are of one class, {label!r}"
                raise ValueError(
                    f"{problem}; two are needed. Allow for more labels, or choose the "
                    "`initial` samples."
                )
            self._set_fitted_attributes(fit_final=True)
        except BaseException:
            state = vars(self).get("_state")
            if oracle is not None and state is not None and state.n_queries:
                self._set_fitted_attributes()
            else:
                restore(self, before)
            raise

    def _set_fitted_attributes(self, *, fit_final=False):
        state = self._state
        n_given = state.n_labels - state.n_queries
        self.n_queries_, self.n_seen_ = state.n_queries, state.n_seen
        self.termination_condition_ = state.termination
        self.query_indices_ = np.array(state.query_indices, dtype=np.intp)
        self.skipped_indices_ = np.array(state.skipped_indices, dtype=np.intp)
        labels = state.y if state.n_labels else np.zeros(0)
        self.query_labels_ = labels[n_given:]
        self.information_gains_ = np.array(state.gains[n_given:])
        self.label_entropy_ = np.array(state.entropies)
        if not state.is_ready:
            for name in ("classes_", "committee_", "estimator_"):
                vars(self).pop(name, None)  # a label may have been taken back
            return
        self.classes_, self.committee_ = state.classes, state.committee.fitted
        self.estimator_ = None if fit_final else vars(self).get("estimator_")
        model = self._new_final(state.X) if fit_final else None
        if model is not None:
            weights = {}
            set_seed(model, state.final_seed)
            if (state.weights != 1).any():
                weights["sample_weight"] = state.weights
            with readable_errors("X"):
                self.estimator_ = model.fit(state.X, state.y, **weights)

    def _report(self, progress):
        """Report a batch of labels; return whether a callback stops the fit."""
        state = self._state
        text = f"{state.n_queries} labels, {state.n_seen} samples seen"
        if state.entropies:
            text += f", label entropy {state.entropies[-1]:.4f}"
        fitted = None
        if state.is_ready:
            fitted = partial(type(self)._set_fitted_attributes, fit_final=True)
        return progress.step(lambda: text, fitted)
