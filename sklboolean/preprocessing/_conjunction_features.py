"""ConjunctionFeatures: conjunctions of features as columns."""

from math import ceil
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklboolean._core.base import restore_on_error
from sklboolean._core.conjunction_search import MOST_LISTED
from sklboolean._core.formulas import feature_names_of
from sklboolean._core.validation import (
    check_choice,
    check_integer,
    check_real,
    validate_boolean,
)
from sklboolean.preprocessing._columns import check_bytes, way_out
from sklboolean.preprocessing._every_conjunction import EveryConjunction
from sklboolean.preprocessing._level_wise import frequent_conjunctions
from sklboolean.preprocessing._literal_rows import Literals, group_labels


def rows_needed(min_support, n_samples):
    """Return how many rows a share (or a number) of rows is."""
    if isinstance(min_support, Integral):
        return check_integer(min_support, "min_support", 1)
    check_real(min_support, "min_support", 0.0, strict=True)
    if min_support > 1:
        raise ValueError(
            f"min_support={min_support} is neither a share (a float above 0, at most "
            "1) nor a number of rows (an integer)."
        )
    # The least count with count / n_samples >= min_support: 0.1 * 30 rounds above 3.
    count = ceil(min_support * n_samples)
    return max(1, count - ((count - 1) / n_samples >= min_support))


class ConjunctionFeatures(TransformerMixin, BaseEstimator):
    """Make conjunctions of Boolean features into columns.

    Any learner on top then learns over conjunctions: a linear one weighs them, a
    disjunction of them is a k-DNF. All conjunctions of a few literals are made, or
    those that hold in enough rows of the training data.

    Parameters
    ----------
    max_literals : int or None, default=2
        Longest conjunctions. None: any length.
    min_literals : int, default=1
        Shortest conjunctions.
    negations : bool, default=False
        Negations of features take part. Half of all literals then hold in every row:
        the output is dense by nature, unless ``min_support`` chooses.
    min_support : int, float or None, default=None
        Keep conjunctions that hold in so many training rows: an integer is their
        number, a float their share. None: keep all.
    max_features : int or None, default=None
        Keep the conjunctions that hold in most training rows; of equals the first
        columns. What holds in no row is left out.
    feature_groups : list of n_features labels, default=None
        Features of one label never meet in a conjunction: the columns of one
        attribute, one-hot.
    binarize : float or None, default=0.0
        A value above it is true. None demands zeros and ones.
    sparse_output : bool, default=True
        Return a CSR array. False: an ndarray, or what ``set_output`` asks for.
    dtype : str or dtype, default="float64"
        Of the output. "bool" takes the least memory; "float64" is what scikit-learn's
        estimators take without a copy.

    Attributes
    ----------
    n_output_features_ : int
        Number of columns.
    supports_ : ndarray of shape (`n_output_features_`,)
        Training rows in which each conjunction holds; None where all conjunctions
        are kept, as nobody needs to count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklearn.preprocessing.PolynomialFeatures : The same columns for
        ``interaction_only=True, include_bias=False``, made by multiplication.
    KernelPerceptron : Learns over all conjunctions without making them.

    Notes
    -----
    Columns are ordered by length, then by their literals: features in order, those of
    one group together, each followed by its negation. The property ``literals_`` tells
    what each column is made of, as a table.

    Frequent conjunctions are found level by level: a conjunction can be frequent only
    if all its parts are (Agrawal and Srikant, section 2.1). Supports are counted by AND
    and popcount over packed columns.

    A disjunction over these columns is a k-DNF: ``ConjunctionClassifier(target=
    "disjunction", monotone=True)`` learns it by elimination, `Winnow` with few mistakes
    when few of very many conjunctions matter. With ``negations=True``,
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
    >>> features = ConjunctionFeatures(negations=True, min_support=2).fit(X)
    >>> features.get_feature_names_out(["a", "b", "c"])[-4:]
    array(['~a & b', '~a & c', 'b & ~c', '~b & c'], dtype=object)

    Elimination over conjunctions learns a 2-DNF:

    >>> y = [True, False, False, True, False, False]  # a and b, or c without a and b
    >>> two_dnf = make_pipeline(
    ...     ConjunctionFeatures(min_literals=2, negations=True),
    ...     ConjunctionClassifier(target="disjunction", monotone=True),
    ... )
    >>> two_dnf.fit(X, y).predict(X)
    array([ True, False, False,  True, False, False])
    """

    def __init__(
        self, *, max_literals=2, min_literals=1, negations=False, min_support=None,
        max_features=None, feature_groups=None, binarize=0.0, sparse_output=True,
        dtype="float64",
    ):  # fmt: skip
        self.max_literals = max_literals
        self.min_literals = min_literals
        self.negations = negations
        self.min_support = min_support
        self.max_features = max_features
        self.feature_groups = feature_groups
        self.binarize = binarize
        self.sparse_output = sparse_output
        self.dtype = dtype

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # the parameter decides
        return tags

    def fit(self, X, y=None):
        """Choose the conjunctions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : None, default=None
            Not used.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            For bad parameters and data, when no conjunction is frequent, and for more
            conjunctions than can be numbered or listed. What was fitted before is kept.
        """
        with restore_on_error(self):
            self._check_parameters()
            self._fit(validate_boolean(self, X))
        return self

    def _fit(self, table):
        labels = group_labels(self.feature_groups, self.n_features_in_)
        literals = Literals.build(self.n_features_in_, self.negations, labels)
        shortest, longest = self.min_literals, self.max_literals
        if longest is None:
            longest = literals.n_groups
        if min(longest, literals.n_groups) < shortest:
            raise ValueError(
                f"There is no conjunction of min_literals={shortest} or more of "
                f"n_features = {self.n_features_in_} features that may meet: lower "
                "min_literals."
            )
        supports = None
        if self.min_support is None and self.max_features is None:
            conjunctions = EveryConjunction.build(literals, shortest, longest)
        else:
            share = 1 if self.min_support is None else self.min_support
            conjunctions, supports = frequent_conjunctions(
                table,
                literals,
                rows_needed(share, table.shape[0]),
                shortest=shortest,
                longest=longest,
                most=self.max_features,
            )
        self.supports_ = supports
        self.n_output_features_ = conjunctions.n_columns
        self._conjunctions = conjunctions

    def _check_parameters(self):
        check_integer(self.min_literals, "min_literals", 1)
        if self.max_literals is not None:
            check_integer(self.max_literals, "max_literals", 1)
            if self.max_literals < self.min_literals:
                raise ValueError(
                    f"max_literals={self.max_literals} is below "
                    f"min_literals={self.min_literals}."
                )
        if self.max_features is not None:
            check_integer(self.max_features, "max_features", 1)
        check_choice(self.negations, "negations", (False, True))
        check_choice(self.sparse_output, "sparse_output", (False, True))
        self._output_dtype()

    def _output_dtype(self):
        try:
            dtype = np.dtype(self.dtype)
        except TypeError as error:
            raise ValueError(f"dtype={self.dtype!r} is no data type.") from error
        if dtype.kind not in "biuf":
            raise ValueError(
                f"dtype must be a bool, integer or real type; got {self.dtype!r}."
            )
        return dtype

    def transform(self, X):
        """Tell which conjunctions hold in each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        columns : csr_array or ndarray of shape (n_samples, `n_output_features_`)
            1 where a conjunction holds, 0 elsewhere.

        Raises
        ------
        ValueError
            For an output of more than 16 GiB.
        """
        check_is_fitted(self)
        table, dtype = validate_boolean(self, X, reset=False), self._output_dtype()
        if not self.sparse_output:
            n_bytes = table.shape[0] * self.n_output_features_ * dtype.itemsize
            check_bytes(n_bytes, self.n_output_features_, "Or keep sparse_output=True.")
        columns = self._conjunctions.transform(table, dtype)
        return columns if self.sparse_output else columns.toarray()

    def get_feature_names_out(self, input_features=None):
        """Return the columns as text: "a & ~b".

        Parameters
        ----------
        input_features : array-like of shape (`n_features_in_`,), default=None
            Names of the features. None: those of X, else x0, x1, ...

        Returns
        -------
        names : ndarray of shape (`n_output_features_`,)
            Of str, dtype object.

        Raises
        ------
        ValueError
            For another number of names, or other names than those of X; and for more
            columns than can be listed.
        """
        check_is_fitted(self)
        names = self._check_names(input_features)
        literals = np.array(self._conjunctions.literals.names(names), dtype=object)
        texts = []
        for listed in self._listed():
            text = literals[listed[:, 0]]
            for i in range(1, listed.shape[1]):
                text = text + " & " + literals[listed[:, i]]
            texts.append(text)
        return np.concatenate(texts)

    def _check_names(self, input_features):
        names = feature_names_of(self)
        if input_features is None:
            return names
        given = np.asarray(input_features, dtype=object).tolist()
        if len(given) != self.n_features_in_:
            raise ValueError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(given)}."
            )
        if hasattr(self, "feature_names_in_") and given != names:
            raise ValueError("input_features is not equal to feature_names_in_.")
        return given

    def _listed(self):
        if self.n_output_features_ > MOST_LISTED:
            raise ValueError(
                f"{self.n_output_features_:.3g} columns are too many to be listed one "
                f"by one. {way_out()}"
            )
        return self._conjunctions.by_length()

    @property
    def literals_(self):
        """What each column is made of, one in a row.

        A csr_array of shape (`n_output_features_`, `n_features_in_`), dtype int8: 1
        where the feature must be true, -1 where it must be false.
        """
        check_is_fitted(self)
        literals = self._conjunctions.literals
        signs = np.where(literals.negated, -1, 1).astype(np.int8)
        parts = []
        for listed in self._listed():
            indptr = np.arange(0, listed.size + 1, listed.shape[1])
            triple = signs[listed].ravel(), literals.features[listed].ravel(), indptr
            shape = len(listed), self.n_features_in_
            parts.append(sparse.csr_array(triple, shape=shape))
        table = sparse.csr_array(sparse.vstack(parts, format="csr"))
        table.sort_indices()
        return table
