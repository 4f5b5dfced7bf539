"""ConjunctionFeatures: conjunctions of Boolean features as columns."""

from math import ceil
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.conjunction_search import MAX_LISTED, encode_groups
from sklboolean._core.damage import require, require_below
from sklboolean._core.deprecation import Gone, old_parameters
from sklboolean._core.formulas import check_input_names
from sklboolean._core.memory import check_free
from sklboolean._core.packed_partitions import PartitionsMixin
from sklboolean._core.parameters import check_choice, check_integer, check_real
from sklboolean._core.validation import validate_boolean, warn_user
from sklboolean._core.versioned import VersionedEstimator
from sklboolean.preprocessing._enumeration import (
    OUTPUT,
    SIZE_HINT,
    AllConjunctions,
    FrequentConjunctions,
    Literals,
)

MANY_COLUMNS = 100_000  # more than most estimators can use


@old_parameters(
    dtype=Gone("float64", "Convert the output: transform(X).astype('bool')."),
    max_features=Gone(
        None, "Set min_support, and select the columns of the largest supports_."
    ),
)
class ConjunctionFeatures(PartitionsMixin, TransformerMixin, VersionedEstimator):
    """Create a column for each conjunction of Boolean features.

    Any estimator on top then learns over conjunctions: a linear model weighs them, and
    a disjunction of them is a k-DNF. The columns are all conjunctions of a few
    literals, or those that hold in enough samples of the training data.

    Parameters
    ----------
    max_literals : int or None, default=2
        Maximum number of literals in a conjunction. None: no limit.
    min_literals : int, default=1
        Minimum number of literals in a conjunction.
    monotone : bool, default=True
        Whether conjunctions consist of true features only. False: negated features too.
        Half of all literals then hold in every sample, so the output is dense unless
        ``min_support`` selects.
    min_support : int, float or None, default=None
        Keep conjunctions that hold in at least so many training samples: an integer is
        a number of samples, a float a fraction. None: keep all.
    feature_groups : array-like of shape (n_features,) or None, default=None
        A label for each feature; features of one label never occur together in a
        conjunction. For one-hot columns: the attribute. None: the levels of one column
        of `BooleanEncoder`, found by their names, share a label.
    binarize : float or None, default=0.0
        Threshold for binarizing: values above it are true. None: X must hold zeros and
        ones.
    sparse_output : bool, default=True
        Return a CSR array. False: an ndarray, or the container of ``set_output``.

    Attributes
    ----------
    n_output_features_ : int
        Number of columns.
    supports_ : ndarray of shape (`n_output_features_`,) or None
        Number of training samples in which each conjunction holds; None when all
        conjunctions are kept, because they are not counted then.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.preprocessing.PolynomialFeatures : The same columns for
        ``interaction_only=True, include_bias=False``, made by multiplication.
    KernelPerceptron : Learns over all conjunctions without creating them.

    Notes
    -----
    Columns are ordered by length, then by their literals: features in order, those of
    one group together, each followed by its negation. The property ``literals_`` holds
    the literals of each column as a sparse array.

    Frequent conjunctions are found level by level: a conjunction can be frequent only
    if all its parts are (Agrawal and Srikant, section 2.1). Supports are counted by AND
    and popcount over packed columns.

    A disjunction over these columns is a k-DNF: ``ConjunctionClassifier(target=
    "disjunction", monotone=True)`` learns it by elimination, `Winnow` with few mistakes
    when few of very many conjunctions matter. With ``monotone=False``,
    ``ConjunctionClassifier(target="conjunction")`` learns k-CNFs, as a clause is the
    negation of a conjunction.

    References
    ----------
    Agrawal, Srikant. "Fast Algorithms for Mining Association Rules". VLDB 1994,
    section 2.1.

    Valiant. "A Theory of the Learnable". Communications of the ACM 27(11), 1984.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklboolean import ConjunctionClassifier, ConjunctionFeatures
    >>> X = [[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]]
    >>> features = ConjunctionFeatures(monotone=False, min_support=2).fit(X)
    >>> features.get_feature_names_out(["a", "b", "c"])[-3:]
    array(['not a and c', 'b and not c', 'not b and c'], dtype=object)

    Elimination over conjunctions learns a 2-DNF:

    >>> y = [True, False, False, True, False, False]  # a and b, or c without a and b
    >>> two_dnf = make_pipeline(
    ...     ConjunctionFeatures(min_literals=2, monotone=False),
    ...     ConjunctionClassifier(target="disjunction", monotone=True),
    ... )
    >>> two_dnf.fit(X, y).predict(X)
    array([ True, False, False,  True, False, False])
    """

    def __init__(
        self, *, max_literals=2, min_literals=1, monotone=True, min_support=None,
        feature_groups=None, binarize=0.0, sparse_output=True,
    ):  # fmt: skip
        self.max_literals = max_literals
        self.min_literals = min_literals
        self.monotone = monotone
        self.min_support = min_support
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.sparse_output = sparse_output

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # always float64
        return tags

    def fit(self, X, y=None) -> "ConjunctionFeatures":
        """Select the conjunctions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.
        y : None, default=None
            Not used.

        Returns
        -------
        self : ConjunctionFeatures
            The fitted transformer.

        Raises
        ------
        ValueError
            For invalid parameters and data, when no conjunction is frequent, and for
            more conjunctions than can be numbered or listed. An earlier fit is kept.

        Warns
        -----
        UserWarning
            When all conjunctions of the literals are more than 100 000 columns.
        """
        with restore_on_error(self):
            self._check_params()
            samples = validate_boolean(self, X)
            self._conjunctions = self._select(samples)
            self.supports_ = getattr(self._conjunctions, "supports", None)
            self.n_output_features_ = self._conjunctions.n_columns
            are_all = isinstance(self._conjunctions, AllConjunctions)
            if are_all and self.n_output_features_ > MANY_COLUMNS:
                warn_user(
                    f"max_literals={self.max_literals} gives "
                    f"{self.n_output_features_:.3g} columns for "
                    f"{self.n_features_in_} features. {SIZE_HINT}"
                )
        return self

    def _check_params(self):
        check_integer(self.min_literals, "min_literals", 1)
        if self.max_literals is not None:
            check_integer(self.max_literals, "max_literals", 1)
            if self.max_literals < self.min_literals:
                raise ValueError(
                    f"max_literals={self.max_literals} is below "
                    f"min_literals={self.min_literals}. Raise max_literals, or lower "
                    "min_literals."
                )
        check_choice(self.monotone, "monotone", (False, True))
        check_choice(self.sparse_output, "sparse_output", (False, True))

    def _select(self, samples):
        n_samples, n_features = samples.shape[0], self.n_features_in_
        groups = encode_groups(
            self.feature_groups, n_features, getattr(self, "feature_names_in_", None)
        )
        literals = Literals.build(n_features, self.monotone, groups)
        shortest, longest = self.min_literals, self.max_literals
        longest = literals.n_groups if longest is None else longest
        if min(longest, literals.n_groups) < shortest:
            raise ValueError(
                f"There is no conjunction of min_literals={shortest} or more literals "
                f"of n_features = {n_features}, which are in {literals.n_groups} "
                "groups. Each group gives one literal at most: lower min_literals."
            )
        if self.min_support is None:
            return AllConjunctions.build(literals, shortest, longest)
        return FrequentConjunctions.find(
            samples, literals, min_support_count(self.min_support, n_samples),
            min_literals=shortest, max_literals=longest,
        )  # fmt: skip

    def transform(self, X):
        """Mark the conjunctions that hold in each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Boolean features.

        Returns
        -------
        columns : csr_array or ndarray of shape (n_samples, `n_output_features_`)
            1.0 where a conjunction holds, 0.0 elsewhere.

        Raises
        ------
        ValueError
            For an output that takes more memory than is free.
        """
        check_is_fitted(self)
        samples = validate_boolean(self, X, reset=False)
        if not self.sparse_output:
            n_columns = self.n_output_features_
            n_bytes = samples.shape[0] * n_columns * OUTPUT.itemsize
            what = f"The dense output of {n_columns:.3g} columns"
            check_free(n_bytes, what, f"{SIZE_HINT} Or keep sparse_output=True.")
        literals = self._conjunctions.literals
        require(len(literals) == len(literals.negated) > 0, "its literals are lost")
        require_below(literals.features, self.n_features_in_, "its literals")
        columns = self._conjunctions.transform(samples)
        return columns if self.sparse_output else columns.toarray()

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Write each column as text: "a and not b".

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            Feature names. None: the column names of X, else x0, x1, ...

        Returns
        -------
        names : ndarray of shape (`n_output_features_`,)
            Names, dtype object.

        Raises
        ------
        ValueError
            For a wrong number of names, for names that differ from those of X, and for
            more columns than can be listed.
        """
        check_is_fitted(self)
        names = check_input_names(self, input_features)
        # Adding arrays of text joins a literal to all conjunctions of a length at once.
        literals = np.array(self._conjunctions.literals.names(names), dtype=object)
        texts = []
        for listed in self._listed():
            text = literals[listed[:, 0]]
            for i in range(1, listed.shape[1]):
                text = text + " and " + literals[listed[:, i]]
            texts.append(text)
        return np.concatenate(texts)

    def _listed(self):
        if self.n_output_features_ > MAX_LISTED:
            raise ValueError(
                f"{self.n_output_features_:.3g} columns are too many to be listed one "
                f"by one. {SIZE_HINT}"
            )
        return self._conjunctions.by_length()

    @property
    def literals_(self):
        """Literals of each column.

        A csr_array of shape (`n_output_features_`, `n_features_in_`), dtype int8: 1
        where the feature must be true, -1 where it must be false.
        """
        check_is_fitted(self)
        literals = self._conjunctions.literals
        # A row for each conjunction, all of one length at a time.
        signs = np.where(literals.negated, -1, 1).astype(np.int8)
        blocks = []
        for listed in self._listed():
            indptr = np.arange(0, listed.size + 1, listed.shape[1])
            triple = signs[listed].ravel(), literals.features[listed].ravel(), indptr
            shape = len(listed), self.n_features_in_
            blocks.append(sparse.csr_array(triple, shape=shape))
        table = sparse.csr_array(sparse.vstack(blocks, format="csr"))
        table.sort_indices()
        return table


def min_support_count(min_support, n_samples):
    """Convert a number or a fraction of samples to the least count that reaches it."""
    if isinstance(min_support, Integral):
        return check_integer(min_support, "min_support", 1)
    check_real(min_support, "min_support", 0.0, strict=True)
    if min_support > 1:
        raise ValueError(
            f"min_support={min_support} is neither a fraction (a float above 0, at "
            "most 1) nor a number of samples (an integer)."
        )
    # The least count with count / n_samples >= min_support: 0.1 * 30 rounds above 3.
    count = ceil(min_support * n_samples)
    return max(1, count - ((count - 1) / n_samples >= min_support))
