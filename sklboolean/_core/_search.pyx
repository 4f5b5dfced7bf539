# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Branch and bound over conjunctions: the search of branch_and_bound.h as an object.

Callers lay out columns and validate; see `conjunction_search.py`.
"""
from time import monotonic

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
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
        const uint8_t *signs_of
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
    samples : SignedSamples
        What is searched.
    task : SearchTask
        What is looked for.
    part : SearchPart
        Which conjunctions are grown.
    """

    cdef sklb_search search
    cdef object arrays
    cdef readonly bint is_complete

    def __cinit__(self, samples, task, part):
        memset(&self.search, 0, sizeof(sklb_search))
        # The search points into the arrays of these objects.
        self.arrays = samples, samples.layout, task
        self._read_layout(samples.layout)
        self._read_samples(samples)
        self._read_task(task)
        require(part.n_branches >= 1, "a search has no branches")
        self.search.width = part.width
        self.search.branch, self.search.n_branches = part.branch, part.n_branches
        if not sklb_search_open(&self.search, task.n_wanted):
            raise MemoryError
        self.search.best.floor = max(task.floor, 0.0)

    cdef _read_layout(self, layout):
        """Point to the rows of each literal, and to the words of their samples."""
        cdef:
            const uint64_t[:, ::1] columns = layout.columns, words = layout.words
            const int32_t[::1] groups = layout.groups
            const uint8_t[::1] signs_of = layout.literal_signs
            const uint64_t[::1] tokens = layout.tokens
            const int64_t[::1] order = layout.order
            int64_t n_features = layout.n_features
        require(groups.shape[0] == columns.shape[0] and tokens.shape[0] == columns.shape[0]
                and signs_of.shape[0] == columns.shape[0]
                and columns.shape[0] in (n_features, 2 * n_features)
                and 64 * words.shape[1] >= n_features
                and order.shape[0] == 64 * columns.shape[1]
                and sklb_all_below_64(&order[0], order.shape[0], words.shape[0]),
                "the columns of the search do not fit each other")
        self.search.columns, self.search.words = &columns[0, 0], &words[0, 0]
        self.search.n_literals, self.search.n_words = columns.shape[0], columns.shape[1]
        self.search.groups, self.search.tokens = &groups[0], &tokens[0]
        self.search.signs_of = &signs_of[0]
        self.search.order, self.search.n_row_words = &order[0], words.shape[1]
        self.search.n_features, self.search.delivery = n_features, layout.delivery

    cdef _read_samples(self, samples):
        """Point to the magnitudes of the rows, also as digits and sums of each sign."""
        cdef:
            const uint64_t[::1] used = samples.used
            const int64_t[::1] magnitudes = samples.magnitudes, tables
            const uint64_t[:, ::1] digits
            int64_t first = 0
            int k
        for k in range(2):
            digits, tables = samples.sides[k]
            require(tables.size == 0 or tables.size >= 2048 * digits.shape[1],
                    "the tables are too short")
            self.search.sides[k].first = first
            self.search.sides[k].n_words = digits.shape[1]
            self.search.sides[k].n_digits = <int> digits.shape[0]
            self.search.sides[k].digits = &digits[0, 0] if digits.size else NULL
            self.search.sides[k].tables = &tables[0] if tables.size else NULL
            first += digits.shape[1]
        require(first == self.search.n_words and used.shape[0] == first
                and magnitudes.shape[0] == 64 * first, "the rows of the search do not fit")
        self.search.rows, self.search.magnitudes = &used[0], &magnitudes[0]

    cdef _read_task(self, task):
        """Point to the factors of each length, and copy what else is wanted."""
        cdef const double[::1] factors = task.factors, reach = task.reach
        require(factors.shape[0] >= 2 and reach.shape[0] == factors.shape[0]
                and task.n_wanted >= 1, "the task of a search does not fit")
        self.search.factors, self.search.reach = &factors[0], &reach[0]
        self.search.shortest, self.search.longest = task.shortest, <int> factors.shape[0] - 1
        self.search.signs, self.search.growing = SIGNS[task.sign], task.growing
        self.search.block = task.block

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
