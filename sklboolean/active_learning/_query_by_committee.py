"""Query by committee: labels are asked for where hypotheses differ."""

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from sklboolean._core.validation import distinct_labels, encode_classes
from sklboolean.active_learning._answers import (
    AnswerBook,
    Oracle,
    read_labelled,
    read_weights,
)
from sklboolean.active_learning._asking import ask_pool, ask_stream, asking_options
from sklboolean.active_learning._interactive import InteractiveMixin
from sklboolean.active_learning._parameters import check_stream_start, check_streaming
from sklboolean.active_learning._prediction import CommitteePredictionMixin
from sklboolean.active_learning._publishing import answers_kept, finish, report
from sklboolean.active_learning._session import Session


class QueryByCommittee(
    InteractiveMixin,
    CommitteePredictionMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """A classifier that asks for labels, where the members of a committee differ.

    Labels come from an answer book (``fit(X, y)``, of which only the rows asked for
    are read), from an oracle (``fit(X, oracle=...)``), or one after the other
    (``query`` and ``teach``).

    Parameters
    ----------
    estimator : classifier or None, default=None
        What the members are clones of, unless ``committee`` lists them. None:
        `DecisionTreeClassifier`.
    committee : {"bootstrap", "subsample", "seed", "gibbs"}, list of classifiers, or \
version space, default="bootstrap"
        How members differ: each has a bootstrap sample of the labelled rows that grows
        with them, or a random half, or only a ``random_state`` of its own. "gibbs":
        members are drawn from the version space, all hypotheses that agree with the
        labels: those of ``hypotheses``, or halfspaces. Two classes only. A version
        space that is given has all parameters of its own: those for "gibbs" are not
        for it.
    n_members : int, default=5
        Number of clones. A version space is asked as a whole.
    strategy : {"disagreement", "vote_entropy", "kl", "label_entropy", "most_split", \
"margin"} or None, default=None
        What makes a row worth asking for. "disagreement": two random members differ.
        The others score all rows: entropy of the votes, mean divergence from the
        consensus, entropy of the mean probability, chance that two members differ,
        small lead of the first class; members without probabilities are sure of their
        votes. None: "most_split". Streams know "disagreement" only.
    mode : {"pool", "stream"}, default="pool"
        Whether ``fit`` chooses among all rows, or reads them once, in order.
    epsilon : float or None, default=0.05
        Error to be reached. A stream ends when more than
        ``t_n = ln(pi^2 (n + 1)^2 / (3 delta)) / epsilon`` rows in succession were
        rejected after n labels; a pool when that is expected of it. None: not before
        ``max_queries`` or the last row.
    delta : float, default=0.05
        Probability of failure allowed.
    hypotheses : str, list of callables or None, default=None
        For "gibbs", a finite class: "conjunctions", "disjunctions", "k-disjunctions"
        of features above 0, "thresholds" on one feature in [0, 1]; or functions of a
        table that return a label, or a bool, for each row. None: halfspaces.
    max_literals : int or None, default=None
        Longest formulas of a named class.
    monotone : bool, default=False
        Whether formulas of a named class have no negations.
    kernel : str, callable or None, default=None
        For halfspaces: a name in `sklboolean.kernels.BOOLEAN_KERNELS`, a kernel object
        or a function ``kernel(A, B)``; `sklboolean.active_learning.GramKernel`
        for a matrix. None: the linear kernel.
    fit_intercept : bool, default=True
        Whether halfspaces of the features have a constant.
    gibbs : {"auto", "ep", "liness", "hit_and_run"}, default="auto"
        How halfspaces are drawn: expectation propagation or chains.
    eta : float, default=0.0
        For "gibbs": share of labels that are wrong.
    n_steps : int, default=100
        Steps of chains between labels: of "liness" and "hit_and_run".
    n_chains : int, default=64
        Number of such chains.
    batch_size : int, default=1
        Labels of a pool to ask for at a time: good rows that are far from one another.
    max_queries : int or None, default=None
        Most labels to ask for.
    initial : int, array-like of int or None, default=None
        Labels asked for first: how many random rows, or which rows of the pool that
        ``fit`` gets. None: 10, or none for "gibbs"; then more until two classes are
        known.
    unlabeled : object, default=None
        What stands for a missing label in ``y``: None, NaN, a word or a number.
    final_estimator : classifier or None, default=None
        Predicts, fitted to all labelled rows. None: the committee predicts.
    prediction : {"majority", "gibbs"}, default="majority"
        Without a ``final_estimator``: by the committee's mean, or by one member that is
        drawn when labels come.
    rebag : bool, default=False
        Draw the samples and seeds of classifiers anew for every label.
    random_state : int, RandomState instance or None, default=None
        For samples, seeds, chains, coins and ties.
    n_jobs : int or None, default=None
        Classifiers fitted at the same time; the result is the same.
    verbose : int, default=0
        1 prints a line for every batch of labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    committee_ : list of classifiers, or version space
        The members.
    estimator_ : classifier or None
        The fitted ``final_estimator``.
    query_indices_ : ndarray of shape (`n_queries_`,), int
        Rows asked for, in order: of X, or positions in the stream.
    query_labels_ : ndarray of shape (`n_queries_`,)
        The answers.
    n_queries_ : int
        Labels asked for, those of the initial rows included.
    n_seen_ : int
        Rows of the pool, or rows read from the stream.
    stop_reason_ : str
        "agreement" (a pool is as good as known), "t_n" (a stream is), "max_queries",
        "pool" (no row is left), "stream" (it ended), or "" (it may go on).
    information_gains_ : ndarray of shape (`n_queries_`,), float64
        Minus the binary logarithm of the probability that the committee gave to each
        label that came. For classifiers it is estimated from votes; NaN before they
        are fitted.
    label_entropy_ : ndarray of shape (n_choices,), float64
        Mean entropy of the labels of the pool before each choice, in bits: it bounds
        the error of the best prediction
        (`sklboolean.active_learning.bayes_error_bounds`).
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Column names, when X has them.

    See Also
    --------
    sklboolean.active_learning : Measures of disagreement, and version spaces.

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
    >>> X = np.random.RandomState(0).random_sample((1000, 1))
    >>> y = X[:, 0] > 0.3
    >>> learner = QueryByCommittee(
    ...     committee="gibbs", hypotheses="thresholds", random_state=0
    ... ).fit(X, y)
    >>> learner.n_queries_, learner.score(X, y)
    (6, 0.992)
    """

    def __init__(
        self, estimator=None, *, committee="bootstrap", n_members=5, strategy=None,
        mode="pool", epsilon=0.05, delta=0.05, hypotheses=None, max_literals=None,
        monotone=False, kernel=None, fit_intercept=True, gibbs="auto", eta=0.0,
        n_steps=100, n_chains=64, batch_size=1, max_queries=None, initial=None,
        unlabeled=None, final_estimator=None, prediction="majority", rebag=False,
        random_state=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        self.estimator = estimator
        self.committee = committee
        self.n_members = n_members
        self.strategy = strategy
        self.mode = mode
        self.epsilon = epsilon
        self.delta = delta
        self.hypotheses = hypotheses
        self.max_literals = max_literals
        self.monotone = monotone
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.gibbs = gibbs
        self.eta = eta
        self.n_steps = n_steps
        self.n_chains = n_chains
        self.batch_size = batch_size
        self.max_queries = max_queries
        self.initial = initial
        self.unlabeled = unlabeled
        self.final_estimator = final_estimator
        self.prediction = prediction
        self.rebag = rebag
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y=None, oracle=None, classes=None, sample_weight=None):
        """Learn from the labels of a few rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The pool; the stream, in order, with ``mode="stream"``.
        y : array-like of shape (n_samples,), default=None
            Without an oracle, the answer book: which classes there are is read from
            it, and the labels of the rows asked for. With an oracle, the labels known
            before and the mark ``unlabeled`` elsewhere; None: none are known.
        oracle : callable, default=None
            ``oracle(rows, indices)`` returns the labels of some rows of X, which it is
            given as they were in X.
        classes : array-like of shape (n_classes,), default=None
            All labels that an oracle may give. None: those that turn up.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            What each label counts; not in the choice of rows. Rows without weight are
            not asked for.

        Returns
        -------
        self : object
            The fitted learner.

        Raises
        ------
        ValueError
            For bad parameters and data, for answers that are no labels, when all
            labels are of one class, and when no hypothesis of a version space agrees
            with all of them.
        RuntimeError
            When the oracle fails. Its answers before that, or before any other error,
            are kept, in ``query_indices_`` and ``query_labels_``.
        """
        with answers_kept(self, oracle):
            table, classes = (
                X,
                None if classes is None else distinct_labels(classes, "classes"),
            )
            X, y, has_label = read_labelled(self, X, y, oracle, classes)
            weights = read_weights(self, sample_weight, X.shape[0])
            counts = weights > 0
            given = np.flatnonzero(has_label & counts)
            if classes is None and oracle is None:
                classes, _codes = encode_classes(y[given])
            session = self._session = Session(self, self.n_features_in_, classes)
            if oracle is None:
                source, candidates = AnswerBook(y), has_label & counts
            else:
                source = Oracle(oracle, table, classes, self.unlabeled)
                candidates = ~has_label & counts
                if len(given):
                    session.add(X[given], y[given], weights[given])
                    session.n_given = len(given)
            options = asking_options(self, candidates)
            shown = partial(report, self)
            ask = ask_pool if self.mode == "pool" else ask_stream
            ask(session, X, weights, candidates, source, options, shown)
            finish(self)
        return self

    def fit_stream(self, chunks, oracle=None, classes=None):
        """Learn from a stream of tables, of which only labelled rows are kept.

        Parameters
        ----------
        chunks : iterable of X or of (X, y)
            Parts of the stream, of any size: tables for an oracle, or with their
            answer books. Read until there is a reason to stop.
        oracle : callable, default=None
            ``oracle(rows, indices)`` returns the labels of rows of a chunk; indices
            count from the beginning of the stream.
        classes : array-like of shape (n_classes,), default=None
            All labels that can occur. None: those that turn up; then rows are asked
            for until there are two.

        Returns
        -------
        self : object
            The fitted learner. How the stream is cut makes no difference.

        Raises
        ------
        ValueError
            As for ``fit`` with ``mode="stream"``, and for a stream without rows.
        RuntimeError
            When the oracle fails. Its answers before any error are kept.
        """
        with answers_kept(self, oracle):
            check_streaming(self)
            check_stream_start(self)
            if classes is not None:
                classes = distinct_labels(classes, "classes")
            session, offset, shown = None, 0, partial(report, self)
            for chunk in chunks:
                table, y = (chunk, None) if oracle is not None else chunk
                X, y, has_label = read_labelled(
                    self, table, y, oracle, classes, reset=session is None
                )
                if session is None:
                    session = self._session = Session(
                        self, self.n_features_in_, classes
                    )
                source = AnswerBook(y, offset)
                if oracle is not None:
                    source = Oracle(oracle, table, classes, self.unlabeled, offset)
                candidates = np.full(X.shape[0], True) if oracle else has_label
                ask_stream(
                    session, X, np.ones(X.shape[0]), candidates, source,
                    asking_options(self, candidates, offset), shown,
                )  # fmt: skip
                offset += X.shape[0]
                if session.stop_reason:
                    break
            if session is None:
                raise ValueError("chunks is empty: give at least one table.")
            finish(self)
        return self
