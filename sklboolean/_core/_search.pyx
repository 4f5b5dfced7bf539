# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Branch and bound over conjunctions: the search of branch_and_bound.h as an object.

Callers lay out columns and validate; see `search.py`.
"""
from time import monotonic

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from sklboolean._core._checks cimport require, require_below, sklb_all_below_64
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "branch_and_bound.h" nogil:
    ctypedef struct sklb_side:
        int64_t first, n_words
        int n_digits
        const uint64_t *digits
        const int64_t *tables
    ctypedef struct sklb_found:
        double score, sum
        int length
        int32_t *literals
    ctypedef struct sklb_best:
        sklb_found *list
        int64_t size
        double floor
    ctypedef struct sklb_search:
        const uint64_t *columns
        const uint64_t *rows
        const int32_t *groups
        const uint64_t *tokens
        int64_t n_literals, n_words
        sklb_side sides[2]
        const uint64_t *words
        const int64_t *order
        const int64_t *magnitudes
        int64_t n_features, n_row_words
        double delivery
        const double *factors
        const double *reach
        int shortest, longest, signs, growing
        int64_t width, block, branch, n_branches
        sklb_best best
        int is_cut
        double work
    int SKLB_POSITIVE, SKLB_NEGATIVE, SKLB_BOTH
    void sklb_fill_tables(const int64_t *magnitudes, int64_t n_tables, int64_t *tables)
    int sklb_search_open(sklb_search *search, int64_t n_wanted)
    void sklb_search_close(sklb_search *search)
    int sklb_search_advance(sklb_search *search, int64_t n_looked_at)
    double sklb_open_bound(const sklb_search *search)
    void sklb_seed(sklb_search *search, const int32_t *literals, int length)

sklb_cpu_level = &cpu_level

SIGNS = {
    "positive": SKLB_POSITIVE,
    "negative": SKLB_NEGATIVE,
    "both": SKLB_BOTH,
}


def fill_tables(const int64_t[::1] magnitudes, int64_t[::1] tables):
    """Tabulate the sums of all subsets of each eight magnitudes."""
    require(tables.shape[0] >= 256 * (magnitudes.shape[0] // 8), "the tables are too short")
    sklb_fill_tables(&magnitudes[0], magnitudes.shape[0] // 8, &tables[0])


cdef class CoverSearch:
    """One search: `seed` it, `run` it, read `found`.

    Parameters
    ----------
    columns : ndarray of shape (n_literals, n_words), uint64
        The rows where each literal is true; those of positive coefficients first, from
        a new word on those of negative ones.
    rows : ndarray of shape (n_words,), uint64
        All rows.
    groups : ndarray of shape (n_literals,), int32
        Literals of one group never meet.
    tokens : ndarray of shape (n_literals,), uint64
        A random name of the group, 0 where two of its literals are never true together.
    sides : two pairs of ndarrays
        Of each sign the binary digits of the magnitudes, uint64 of shape
        (n_digits, n_side_words), and their `fill_tables`, or an empty array.
    words : ndarray of shape (n_samples, n_row_words), uint64
        The samples. Literals of feature j are j and, where there are twice as many as
        features, n_features + j for its negation.
    order, magnitudes : ndarrays of shape (64 * n_words,), int64
        Of each row the sample, and its magnitude.
    n_features : int
    delivery : float
        Nanoseconds that a row takes to add its magnitude to the sums of its features.
    factors, reach : ndarrays of shape (max_literals + 1,), float64
        Weight by length, and the largest weight from a length on.
    n_wanted, shortest : int
    sign : {"positive", "negative", "both"}
    width : int
        Conjunctions kept at each length; 0 keeps all, and makes the search exact.
    growing : bool
        Whether a longer conjunction may weigh more than a shorter one.
    block : int
        Conjunctions of one length held at a time.
    floor : float
        Scores up to it are not wanted.
    branch, n_branches : int
        Grows only from the first literals ``branch``, ``branch + n_branches``, ... of
        those that may be grown.
    """

    cdef sklb_search search
    cdef object arrays
    cdef readonly bint is_complete

    def __cinit__(self, const uint64_t[:, ::1] columns, const uint64_t[::1] rows,
                  const int32_t[::1] groups, const uint64_t[::1] tokens, sides,
                  const uint64_t[:, ::1] words, const int64_t[::1] order,
                  const int64_t[::1] magnitudes, int64_t n_features, double delivery,
                  const double[::1] factors, const double[::1] reach, *,
                  int64_t n_wanted, int shortest, sign, int64_t width, bint growing,
                  int64_t block, double floor, int64_t branch, int64_t n_branches):
        cdef const uint64_t[:, ::1] digits
        cdef const int64_t[::1] tables
        cdef int64_t first = 0
        cdef int k
        memset(&self.search, 0, sizeof(sklb_search))
        # The arrays live as long as the search that points into them.
        self.arrays = columns, rows, groups, tokens, sides, words, order, magnitudes, factors, reach
        self.search.columns, self.search.rows = &columns[0, 0], &rows[0]
        self.search.groups, self.search.tokens = &groups[0], &tokens[0]
        self.search.n_literals, self.search.n_words = columns.shape[0], columns.shape[1]
        for k in range(2):
            digits, tables = sides[k]
            require(tables.size == 0 or tables.size >= 2048 * digits.shape[1],
                    "the tables are too short")
            self.search.sides[k].first = first
            self.search.sides[k].n_words = digits.shape[1]
            self.search.sides[k].n_digits = <int> digits.shape[0]
            self.search.sides[k].digits = &digits[0, 0] if digits.size else NULL
            self.search.sides[k].tables = &tables[0] if tables.size else NULL
            first += digits.shape[1]
        require(first == columns.shape[1] and rows.shape[0] == first
                and groups.shape[0] == columns.shape[0] and tokens.shape[0] == columns.shape[0]
                and factors.shape[0] >= 2 and reach.shape[0] == factors.shape[0]
                and shortest >= 0 and n_wanted >= 1 and n_branches >= 1,
                "the columns of the search do not fit each other")
        require(order.shape[0] == 64 * first and magnitudes.shape[0] == 64 * first
                and 64 * words.shape[1] >= n_features
                and columns.shape[0] in (n_features, 2 * n_features)
                and sklb_all_below_64(&order[0], order.shape[0], words.shape[0]), "the rows of the search do not fit")
        self.search.words, self.search.n_row_words = &words[0, 0], words.shape[1]
        self.search.order, self.search.magnitudes = &order[0], &magnitudes[0]
        self.search.n_features, self.search.delivery = n_features, delivery
        self.search.factors, self.search.reach = &factors[0], &reach[0]
        self.search.shortest, self.search.longest = shortest, <int> factors.shape[0] - 1
        self.search.signs, self.search.growing = SIGNS[sign], growing
        self.search.width, self.search.block = width, block
        self.search.branch, self.search.n_branches = branch, n_branches
        if not sklb_search_open(&self.search, n_wanted):
            raise MemoryError
        self.search.best.floor = max(floor, 0.0)

    def __dealloc__(self):
        sklb_search_close(&self.search)

    def seed(self, const int32_t[::1] literals):
        """Offer a conjunction known from elsewhere, literals ascending."""
        require(literals.shape[0] <= self.search.longest, "a conjunction is too long")
        require_below(literals, self.search.n_literals, "a conjunction")
        sklb_seed(&self.search, &literals[0], <int> literals.shape[0])

    def run(self, deadline, int64_t n_looked_at, stopped, double max_work):
        """Search on, to the end, the deadline on ``monotonic()``, or some work.

        The clock, the keyboard, the work and the list ``stopped``, which another thread
        may fill, are asked after every ``n_looked_at`` conjunctions.
        """
        cdef int state = 0
        while state == 0:
            with nogil:
                state = sklb_search_advance(&self.search, n_looked_at)
            PyErr_CheckSignals()
            if stopped or (deadline is not None and monotonic() >= deadline):
                break
            if self.search.work >= max_work:
                break
        if state < 0:
            raise MemoryError
        self.is_complete = state == 1 and not self.search.is_cut

    def found(self):
        """Return the literals and the sum of the best conjunctions, best first."""
        cdef sklb_found *list = self.search.best.list
        cdef int64_t k
        cdef int j
        return [([list[k].literals[j] for j in range(list[k].length)], list[k].sum)
                for k in range(self.search.best.size)]

    @property
    def open_bound(self):
        """The largest score that a conjunction not looked at can have."""
        return sklb_open_bound(&self.search)

    @property
    def work(self):
        """Nanoseconds of a core, computed from the sizes of what was done."""
        return self.search.work
