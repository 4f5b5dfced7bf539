# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Counts between packed rows, and what is summed from them.

Rows are `BitRows`: words plus, for sparse data, the remaining features as CSR. Columns
are `BitColumns`: panels of 32 plus postings (for each remaining feature, the columns that
have it). Outputs are allocated by the caller. Every function releases the GIL.
"""
from libc.stdint cimport (
    INT32_MAX,
    UINT16_MAX,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
    uintptr_t,
)
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sklboolean._core._checks cimport damaged, require

from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

cdef extern from "words.h" nogil:
    void sklb_count_ones(const uint64_t *words, int64_t n_samples, int64_t n_words,
                         int32_t *ones)
    int64_t sklb_most_ones(const uint64_t *words, int64_t n_samples, int64_t n_words)
    bint sklb_has_bits_beyond(const uint64_t *words, int64_t n_samples, int64_t n_words,
                              int64_t n_bits)

cdef extern from "tiles.h" nogil:
    const int SKLB_TILE_PANEL
    enum:
        ROWS "SKLB_TILE_ROWS"
    int SKLB_TABLE, SKLB_POWER, SKLB_CUBIC, SKLB_SHARE
    ctypedef struct sklb_formula:
        int form
        int32_t offset
        int32_t sign
        const double *table
    void sklb_count_strip(const uint64_t *rows, int n_samples, int64_t n_words,
                          const uint64_t *panels, int64_t n_panels, int use_xor,
                          int32_t *counts, int64_t stride)
    void sklb_map_counts(const sklb_formula *g, const int32_t *counts, int64_t n, double *out)
    void sklb_map_counts_float(const sklb_formula *g, const int32_t *counts, int64_t n,
                               float *out)
    void sklb_add_counts(const sklb_formula *g, const int32_t *counts, int64_t stride,
                         int n_samples, const double *coefficients, int64_t n, double *acc)
    void sklb_share(const int32_t *counts, int64_t n, int32_t own, const int32_t *sizes,
                    double *out)
    void sklb_share_float(const int32_t *counts, int64_t n, int32_t own,
                          const int32_t *sizes, float *out)
    void sklb_normalize(const sklb_formula *g, const int32_t *counts, int64_t n,
                        double own_root, const double *roots, double *out)
    void sklb_normalize_float(const sklb_formula *g, const int32_t *counts, int64_t n,
                              double own_root, const double *roots, float *out)
    const int SKLB_SMALL_COUNTS
    const int SKLB_FEW_COLUMNS
    bint sklb_sum_small(const sklb_formula *g, int most, bint use_xor, const uint64_t *rows,
                        int64_t n_samples, int64_t n_words, const uint64_t *panels,
                        int64_t n_panels, const double *coefficients, double *sums)
    void sklb_sum_column(const sklb_formula *g, bint use_xor, const uint64_t *rows,
                         int64_t n_samples, int64_t n_words, const uint64_t *column,
                         const double *coefficients, int64_t n_scores, double *sums,
                         int64_t stride)

cdef extern from "slices.h" nogil:
    const int SKLB_SLICE_WORDS
    const int SKLB_SLICE_PANELS
    const int SKLB_SLICE_COLUMNS
    const int SKLB_DIGITS
    const int SKLB_ADDED
    void sklb_fill_slices(const uint64_t *panels, int64_t n_panels, int64_t n_words,
                          uint64_t *slices)
    int64_t sklb_list_features(const uint64_t *words, int64_t n_words, uint32_t *features)
    void sklb_count_slices(const uint64_t *slices, const uint32_t *features, int64_t n,
                           int32_t *counts)
    bint sklb_prefers_slices(int64_t n_samples, double n_ones, int64_t n_words,
                             int64_t n_columns)

cdef extern from "one_hot_levels.h" nogil:
    const int SKLB_LEVEL_COUNTS
    bint sklb_sum_levels(const uint16_t *values, const uint8_t *rows, int64_t n_samples,
                         int64_t n_groups, const uint8_t *panels, int64_t n_panels,
                         const double *coefficients, double *sums)

sklb_cpu_level = &cpu_level

PANEL = SKLB_TILE_PANEL
# Up to so many columns are compared one by one.
FEW_COLUMNS = SKLB_FEW_COLUMNS
# A table of so many values is looked up in registers.
SMALL_COUNTS = SKLB_SMALL_COUNTS
FORMS = {"table": SKLB_TABLE, "power": SKLB_POWER, "cubic": SKLB_CUBIC, "share": SKLB_SHARE}



def count_ones(const uint64_t[:, ::1] words, int32_t[::1] ones):
    """Write into ``ones[i]`` the number of bits set in row i."""
    require(words.shape[0] == ones.shape[0], "words and ones have different lengths")
    with nogil:
        sklb_count_ones(&words[0, 0], words.shape[0], words.shape[1], &ones[0])


cdef class CountMap:
    """The function of a count whose values are wanted.

    Parameters
    ----------
    form : {"table", "power", "cubic", "share"}
    values : ndarray, float64
        "table": the value of each count. "power": one constant, which is added to
        2**count. "cubic": the four coefficients of a polynomial. "share": none are used;
        the value is the count over the features true in either sample, in `map_pairs`.
    n_features : int or None
        None counts the features that are true in both. A number counts the features
        on which both agree, of so many.
    """

    cdef sklb_formula g
    cdef bint use_xor
    cdef int64_t most  # the largest count that has a value
    cdef const double[::1] values
    # The values of a table of few small integers, for sums over levels.
    cdef bint has_integers
    cdef uint16_t integers[32]

    def __cinit__(self, form, const double[::1] values, n_features=None):
        cdef int64_t n = 0 if n_features is None else n_features
        self.values = values
        self.use_xor = n_features is not None
        self.g.form, self.g.table = FORMS[form], &values[0]
        self.g.offset, self.g.sign = <int32_t> n, -1 if self.use_xor else 1
        require(0 <= n < INT32_MAX, "there are too many features to count")
        self.most = n if self.use_xor else INT32_MAX
        if self.g.form == SKLB_TABLE:
            require(n < values.shape[0], "a count has no value")
            self.most = n if self.use_xor else values.shape[0] - 1
        elif self.g.form != SKLB_SHARE:
            require(values.shape[0] >= (1 if self.g.form == SKLB_POWER else 4),
                    "the coefficients of a polynomial are missing")
        self.has_integers = (self.g.form == SKLB_TABLE and not self.use_xor
                             and self.most < SKLB_LEVEL_COUNTS)
        for n in range(self.most + 1 if self.has_integers else 0):
            self.has_integers &= 0 <= values[n] <= UINT16_MAX
            self.integers[n] = <uint16_t> values[n] if self.has_integers else 0
            self.has_integers &= values[n] == self.integers[n]


# Panels that are taken together at most.
cdef Py_ssize_t MOST_PANELS = 64


cdef class Pairs:
    """Rows and columns, checked and ready for counting."""

    cdef object arrays  # they live as long as the pointers
    cdef Py_ssize_t n_samples, n_words, n_columns, n_panels
    cdef const uint64_t *words
    cdef const uint64_t *panels
    cdef const int32_t *row_ones
    cdef const int32_t *column_ones
    # Features outside the words: of each row, and for each feature its columns.
    cdef bint split
    cdef Py_ssize_t n_rest, n_indices, n_postings
    cdef const int64_t *indptr
    cdef const int32_t *indices
    cdef const int64_t *postings_indptr
    cdef const int32_t *postings
    # Counts of up to ROWS rows with `step` panels; `chunk` panels stay in the
    # second-level cache, and are read again for every few rows.
    cdef Py_ssize_t step, stride, chunk
    cdef int32_t *counts
    cdef Slices slices

    def __cinit__(self, rows, columns):
        cdef:
            const uint64_t[:, ::1] words
            const uint64_t[:, :, ::1] panels
            const int64_t[::1] indptr, postings_indptr
            const int32_t[::1] indices, postings, row_ones, column_ones
        self.arrays = rows.arrays(), columns.arrays()
        words, indptr, indices, row_ones = self.arrays[0]
        panels, postings_indptr, postings, column_ones = self.arrays[1]
        self.n_samples, self.n_words = words.shape[0], words.shape[1]
        self.n_panels, self.n_columns = panels.shape[0], column_ones.shape[0]
        self.n_rest, self.n_indices = postings_indptr.shape[0] - 1, indices.shape[0]
        self.n_postings, self.split = postings.shape[0], self.n_rest > 0
        require(row_ones.shape[0] == self.n_samples, "words and ones have different lengths")
        require(panels.shape[2] == SKLB_TILE_PANEL and self.n_panels
                == (self.n_columns + SKLB_TILE_PANEL - 1) // SKLB_TILE_PANEL,
                "columns and ones have different lengths")
        if panels.shape[1] != self.n_words:
            damaged(f"rows of {self.n_words} words meet columns of {panels.shape[1]}")
        require(indptr.shape[0] == (self.n_samples + 1 if self.split else 1)
                and self.n_rest >= 0, "the sparse features of rows and columns differ")
        self.words, self.row_ones = &words[0, 0], &row_ones[0]
        self.panels, self.column_ones = &panels[0, 0, 0], &column_ones[0]
        self.indptr, self.indices = &indptr[0], &indices[0]
        self.postings_indptr, self.postings = &postings_indptr[0], &postings[0]
        # Eight panels of counts stay in the first-level cache. With postings a strip is
        # the whole width.
        self.step = self.n_panels if self.split else min(<Py_ssize_t> 8, self.n_panels)
        self.stride = self.step * SKLB_TILE_PANEL
        self.chunk = (256 * 1024) // (max(<Py_ssize_t> 1, self.n_words) * SKLB_TILE_PANEL * 8)
        self.chunk = min(max(self.chunk - self.chunk % 8, 8), MOST_PANELS)
        self.chunk = self.n_panels if self.split else min(self.chunk, self.n_panels)
        self.slices = Slices(self)
        self.counts = <int32_t *> malloc(
            max(<Py_ssize_t> 1, ROWS * self.stride) * sizeof(int32_t))
        if self.counts == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.counts)

    cdef int require_counts(self, CountMap g) except -1:
        """Require that each count has a value."""
        cdef bint by_rows
        # With postings, `count` keeps the counts within what has a value.
        if self.split or g.most >= 64 * self.n_words:
            return 0
        if g.use_xor:
            require(not sklb_has_bits_beyond(self.words, self.n_samples, self.n_words, g.most)
                    and not self.panels_beyond(g.most), "bits are set beyond the last feature")
            return 0
        # With AND, one side of few ones is enough: look at the one with fewer samples.
        for by_rows in (self.n_samples < self.n_columns, self.n_samples >= self.n_columns):
            if (sklb_most_ones(self.words, self.n_samples, self.n_words) if by_rows
                    else self.most_ones_of_columns()) <= g.most:
                return 0
        return damaged("a sample has too many true features")

    cdef int64_t most_ones_of_columns(self) except -1:
        cdef:
            int32_t most = 0
            Py_ssize_t p, j
            uint64_t *full = <uint64_t *> malloc(max(<Py_ssize_t> 1, self.n_words) * 8)
        if full == NULL:
            raise MemoryError
        with nogil:
            # AND with a row of ones counts the ones of the columns.
            memset(full, 255, self.n_words * 8)
            for p from 0 <= p < self.n_panels by self.step:
                sklb_count_strip(full, 1, self.n_words,
                                 self.panels + p * self.n_words * SKLB_TILE_PANEL,
                                 min(self.step, self.n_panels - p), 0, self.counts, self.stride)
                for j in range(min(self.stride, self.n_columns - p * SKLB_TILE_PANEL)):
                    most = max(most, self.counts[j])
        free(full)
        return most

    cdef bint panels_beyond(self, int64_t n_bits) noexcept nogil:
        # Word w of a panel stands for 32 columns.
        cdef Py_ssize_t p
        cdef int64_t first = n_bits // 64
        cdef uint64_t beyond = 0
        cdef const uint64_t *panel
        for p in range(self.n_panels):
            panel = self.panels + (p * self.n_words + first) * SKLB_TILE_PANEL
            beyond |= bits_in(panel, SKLB_TILE_PANEL) >> (n_bits & 63)
            beyond |= bits_in(panel + SKLB_TILE_PANEL,
                              (self.n_words - first - 1) * SKLB_TILE_PANEL)
        return beyond != 0

    cdef bint count(self, Py_ssize_t first, int n_samples, Py_ssize_t panel, bint use_xor,
                    int64_t most) noexcept nogil:
        """Count rows first, ... with the panels from ``panel`` on; tell whether all is well.

        With postings and slices, XOR comes from the counts of AND:
        |x ^ z| = |x| + |z| - 2 |x & z|.
        """
        cdef:
            Py_ssize_t r, j, begin = panel * SKLB_TILE_PANEL
            int64_t n_panels = min(self.step, self.n_panels - panel)
            int32_t *row
        if self.slices.are_used:
            self.slices.count(self, first, n_samples, panel)
            for r in range(n_samples if use_xor else 0):
                self.turn_into_xor(self.row_ones[first + r], most, begin,
                                   self.counts + r * self.stride)
            return True
        sklb_count_strip(self.words + first * self.n_words, n_samples, self.n_words,
                         self.panels + panel * self.n_words * SKLB_TILE_PANEL, n_panels,
                         use_xor and not self.split, self.counts, self.stride)
        if not self.split:
            return True
        for r in range(n_samples):
            row = self.counts + r * self.stride
            if not self.add_rest(first + r, row):
                return False
            # Counts of damaged postings stay within what has a value.
            if use_xor:
                self.turn_into_xor(self.row_ones[first + r], most, 0, row)
            elif most < INT32_MAX:
                for j in range(self.n_columns):
                    row[j] = min(row[j], <int32_t> most)
        return True

    cdef bint add_rest(self, Py_ssize_t i, int32_t *row) noexcept nogil:
        """Count the features outside the words; tell whether their indices exist."""
        cdef:
            Py_ssize_t k, p, first = self.indptr[i], last = self.indptr[i + 1]
            uint64_t n_rest = self.n_rest, n_postings = self.n_postings
            uint32_t n_columns = <uint32_t> self.n_columns
            const int32_t *postings = self.postings
        if first < 0 or last > self.n_indices:
            return False
        for k in range(first, last):
            if <uint64_t> self.indices[k] >= n_rest:
                return False
            first = self.postings_indptr[self.indices[k]]
            last = self.postings_indptr[self.indices[k] + 1]
            if first < 0 or <uint64_t> last > n_postings:
                return False
            for p in range(first, last):
                if <uint32_t> postings[p] >= n_columns:
                    return False
                row[postings[p]] += 1
        return True

    cdef void turn_into_xor(self, int32_t ones, int64_t most, Py_ssize_t begin,
                            int32_t *row) noexcept nogil:
        cdef Py_ssize_t j
        cdef int64_t count
        cdef const int32_t *column_ones = self.column_ones + begin
        for j in range(min(self.stride, self.n_columns - begin)):
            count = <int64_t> ones + column_ones[j] - 2 * <int64_t> row[j]
            row[j] = <int32_t> min(max(count, 0), most)


cdef class Slices:
    """A chunk of columns feature by feature, where rows have few of many features."""

    cdef void *room
    cdef uint64_t *slices  # of a chunk of panels
    cdef Py_ssize_t size, first_panel
    cdef bint are_used
    # The true features of the rows that were counted last
    cdef uint32_t *features
    cdef int64_t n_listed[ROWS]
    cdef Py_ssize_t width, first_listed

    def __cinit__(self, Pairs pairs):
        cdef:
            double n_ones = 0
            Py_ssize_t i, n_strips
        for i in range(pairs.n_samples):
            n_ones += pairs.row_ones[i]
        self.width = 64 * pairs.n_words + SKLB_ADDED
        self.are_used = (not pairs.split and self.width < 1 << SKLB_DIGITS
                         and sklb_prefers_slices(pairs.n_samples, n_ones, pairs.n_words,
                                                 pairs.n_columns))
        if not self.are_used:
            return
        self.size = (64 * pairs.n_words + 1) * SKLB_SLICE_WORDS
        n_strips = (pairs.chunk + SKLB_SLICE_PANELS - 1) // SKLB_SLICE_PANELS
        pairs.stride, self.first_listed = SKLB_SLICE_COLUMNS, -1
        self.room = malloc(32 + n_strips * self.size * 8 + ROWS * self.width * 4)
        if self.room == NULL:
            raise MemoryError
        # What is read at once begins where a register does, which is faster.
        self.slices = <uint64_t *> ((<uintptr_t> self.room + 31) & ~<uintptr_t> 31)
        self.features = <uint32_t *> (self.slices + n_strips * self.size)

    def __dealloc__(self):
        free(self.room)

    cdef void take(self, Pairs pairs, Py_ssize_t panel) noexcept nogil:
        """Make the slices of the chunk that begins with a panel, if slices are used."""
        cdef Py_ssize_t p, n_panels
        self.first_panel = panel
        if not self.are_used:
            return
        for p from panel <= p < min(panel + pairs.chunk, pairs.n_panels) by SKLB_SLICE_PANELS:
            n_panels = min(<Py_ssize_t> SKLB_SLICE_PANELS, pairs.n_panels - p)
            sklb_fill_slices(pairs.panels + p * pairs.n_words * SKLB_TILE_PANEL, n_panels,
                             pairs.n_words, self.of_panel(p))

    cdef inline uint64_t *of_panel(self, Py_ssize_t panel) noexcept nogil:
        return self.slices + (panel - self.first_panel) // SKLB_SLICE_PANELS * self.size

    cdef void count(self, Pairs pairs, Py_ssize_t first, int n_samples,
                    Py_ssize_t panel) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(n_samples if first != self.first_listed else 0):
            self.n_listed[r] = sklb_list_features(
                pairs.words + (first + r) * pairs.n_words, pairs.n_words,
                self.features + r * self.width)
        self.first_listed = first
        for r in range(n_samples):
            sklb_count_slices(self.of_panel(panel), self.features + r * self.width,
                              self.n_listed[r], pairs.counts + r * pairs.stride)


cdef class Levels:
    """Rows and columns by their level in each group of features, if both have levels."""

    cdef object arrays  # they live as long as the pointers
    cdef const uint8_t *rows
    cdef const uint8_t *panels
    cdef const uint8_t *fits
    cdef Py_ssize_t n_groups

    def __cinit__(self, rows, columns, Pairs pairs, bint wanted):
        cdef:
            const uint8_t[:, ::1] row_levels
            const uint8_t[:, :, ::1] panels
            const uint8_t[::1] fits
        self.arrays = columns.levels_with(rows) if wanted else None
        self.n_groups = 0
        if self.arrays is None:
            return
        row_levels, panels, fits = self.arrays
        self.n_groups = row_levels.shape[1]
        require(row_levels.shape[0] == pairs.n_samples and panels.shape[0] == pairs.n_panels
                and panels.shape[1] == self.n_groups and panels.shape[2] == SKLB_TILE_PANEL
                and fits.shape[0] == pairs.n_panels, "the levels do not fit the samples")
        if self.n_groups and pairs.n_panels:
            self.rows, self.panels = &row_levels[0, 0], &panels[0, 0, 0]
            self.fits = &fits[0]

    cdef bint sum_strip(self, Pairs pairs, Py_ssize_t panel, CountMap g,
                        const double *coefficients, double *sums) noexcept nogil:
        """Add up for the panels of a strip; tell whether that was possible."""
        cdef Py_ssize_t p, n_panels = min(pairs.step, pairs.n_panels - panel)
        if self.n_groups == 0:
            return False
        for p in range(panel, panel + n_panels):
            if not self.fits[p]:
                return False
        return sklb_sum_levels(
            g.integers, self.rows, pairs.n_samples, self.n_groups,
            self.panels + panel * self.n_groups * SKLB_TILE_PANEL, n_panels, coefficients,
            sums)


cdef uint64_t bits_in(const uint64_t *words, int64_t n) noexcept nogil:
    cdef uint64_t bits = 0
    cdef int64_t i
    for i in range(n):
        bits |= words[i]
    return bits


cdef str BAD_INDICES = "the sparse features of rows and columns do not fit"


def count_pairs(rows, columns, bint use_xor, int32_t[:, ::1] out):
    """Write into ``out[i, j]`` the popcount of row i AND (or XOR) column j."""
    cdef:
        Pairs pairs = Pairs(rows, columns)
        Py_ssize_t c, i, r, p, width
        int n_samples
        bint fits = True
    require(out.shape[0] == pairs.n_samples and out.shape[1] == pairs.n_columns,
            "the counts do not fit the data")
    with nogil:
        for c from 0 <= c < pairs.n_panels by pairs.chunk:
            pairs.slices.take(pairs, c)
            for i from 0 <= i < pairs.n_samples by ROWS:
                n_samples = <int> min(<Py_ssize_t> ROWS, pairs.n_samples - i)
                for p from c <= p < min(c + pairs.chunk, pairs.n_panels) by pairs.step:
                    fits &= pairs.count(i, n_samples, p, use_xor, INT32_MAX)
                    width = min(pairs.stride, pairs.n_columns - p * SKLB_TILE_PANEL)
                    for r in range(n_samples):
                        memcpy(&out[i + r, p * SKLB_TILE_PANEL],
                               pairs.counts + r * pairs.stride, width * sizeof(int32_t))
    require(fits, BAD_INDICES)


ctypedef fused real:
    float
    double


def map_pairs(rows, columns, CountMap g, Py_ssize_t diagonal, real[:, ::1] out, roots=None):
    """Write into ``out[i, j]`` the value of the count of row i with column j.

    Strips of columns before column i + ``diagonal`` are left out; 0 or more serves a
    symmetric matrix (see `mirror`), -n_samples leaves out nothing. ``roots`` holds 1 over
    the roots of the values of rows with themselves, and the same of columns: then values
    are multiplied by both.
    """
    cdef:
        Pairs pairs = Pairs(rows, columns)
        Py_ssize_t i, r, p, c, first, width
        int n_samples
        bint fits = True, normalize = roots is not None
        bint share = g.g.form == SKLB_SHARE
        const int32_t *counts
        real *values
        const double[::1] row_roots, column_roots
    require(out.shape[0] == pairs.n_samples and out.shape[1] == pairs.n_columns,
            "the kernel matrix does not fit the data")
    pairs.require_counts(g)
    if normalize:
        row_roots, column_roots = roots
        require(row_roots.shape[0] == pairs.n_samples
                and column_roots.shape[0] == pairs.n_columns,
                "the roots do not fit the samples")
    with nogil:
        for c from 0 <= c < pairs.n_panels by pairs.chunk:
            pairs.slices.take(pairs, c)
            for i from 0 <= i < pairs.n_samples by ROWS:
                n_samples = <int> min(<Py_ssize_t> ROWS, pairs.n_samples - i)
                for p from c <= p < min(c + pairs.chunk, pairs.n_panels) by pairs.step:
                    first = p * SKLB_TILE_PANEL
                    if first + pairs.stride <= i + diagonal:
                        continue
                    fits &= pairs.count(i, n_samples, p, g.use_xor, g.most)
                    width = min(pairs.stride, pairs.n_columns - first)
                    for r in range(n_samples if fits else 0):
                        counts = pairs.counts + r * pairs.stride
                        values = &out[i + r, first]
                        if normalize:
                            (sklb_normalize_float if real is float else sklb_normalize)(
                                &g.g, counts, width, row_roots[i + r],
                                &column_roots[first], values)
                        elif share:
                            (sklb_share_float if real is float else sklb_share)(
                                counts, width, pairs.row_ones[i + r],
                                pairs.column_ones + first, values)
                        elif real is float:
                            sklb_map_counts_float(&g.g, counts, width, values)
                        else:
                            sklb_map_counts(&g.g, counts, width, values)
    require(fits, BAD_INDICES)


def mirror(real[:, ::1] out, Py_ssize_t first, Py_ssize_t last):
    """Copy what is above the diagonal of a square matrix to rows first, ... below it.

    ``first`` is a multiple of 8.
    """
    cdef Py_ssize_t i, j, a, b
    require(0 <= first and last <= out.shape[0] and out.shape[0] == out.shape[1],
            "the kernel matrix is not square")
    with nogil:
        # Squares of a cache line: eight lines are read and eight are written.
        for a from first <= a < last by 8:
            for b from 0 <= b <= a by 8:
                for i in range(a, min(a + 8, last)):
                    for j in range(b, min(b + 8, i)):
                        out[i, j] = out[j, i]


cdef bint add_strip(Pairs pairs, Levels levels, CountMap g,
                    const double[:, ::1] coefficients, Py_ssize_t panel, bint few, bint small,
                    double *sums, Py_ssize_t stride) noexcept nogil:
    """Add up a strip in a way that is faster than counting first, where there is one."""
    cdef Py_ssize_t j, k, n_columns = pairs.n_columns - panel * SKLB_TILE_PANEL
    cdef bint done = False
    for j in range(n_columns if few else 0):
        sklb_sum_column(
            &g.g, g.use_xor, pairs.words, pairs.n_samples, pairs.n_words,
            pairs.panels + j, &coefficients[0, 0], coefficients.shape[0], sums + j, stride)
    if few or not small:
        return few
    for k in range(coefficients.shape[0]):
        done = levels.sum_strip(pairs, panel, g, &coefficients[k, 0], sums + k * stride)
        done = done or sklb_sum_small(
            &g.g, <int> g.most, g.use_xor, pairs.words, pairs.n_samples, pairs.n_words,
            pairs.panels + panel * pairs.n_words * SKLB_TILE_PANEL,
            min(pairs.step, pairs.n_panels - panel), &coefficients[k, 0], sums + k * stride)
        if not done:
            return False
    return True


def add_scores(rows, const double[:, ::1] coefficients, columns, CountMap g, double divisor,
               double[:, ::1] scores):
    """Add to ``scores[k, j]`` the sum over rows i of coefficients[k, i] g(s_ij) / divisor.

    The sum over all rows is formed first and divided once, so that an integer sum
    with a common denominator stays exact.
    """
    cdef:
        Pairs pairs = Pairs(rows, columns)
        Py_ssize_t c, i, p, k, j, last, width, n_scores = coefficients.shape[0]
        Py_ssize_t chunk = pairs.chunk if pairs.slices.are_used else pairs.step
        Py_ssize_t stride = max(chunk * SKLB_TILE_PANEL, pairs.stride)
        int n_samples
        bint fits = True, small, few
        bint done[64]
        double *sums
        double *own
        Levels levels
    require(g.g.form != SKLB_SHARE and coefficients.shape[1] == pairs.n_samples,
            "there is not one coefficient for each support sample")
    require(scores.shape[0] == n_scores and scores.shape[1] == pairs.n_columns,
            "the scores do not fit the data")
    pairs.require_counts(g)
    small = g.g.form == SKLB_TABLE and g.most < SKLB_SMALL_COUNTS and not pairs.split
    small = small and pairs.n_samples > 0
    sums = <double *> malloc(max(<Py_ssize_t> 1, n_scores * stride) * sizeof(double))
    if sums == NULL:
        raise MemoryError
    few = pairs.n_columns <= SKLB_FEW_COLUMNS and pairs.n_samples > 0 and not pairs.split
    levels = Levels(rows, columns, pairs, g.has_integers and small and not few)
    with nogil:
        for c from 0 <= c < pairs.n_panels by chunk:
            last = min(c + chunk, pairs.n_panels)
            memset(sums, 0, n_scores * stride * sizeof(double))
            for p from c <= p < last by pairs.step:
                own = sums + (p - c) * SKLB_TILE_PANEL
                done[(p - c) // pairs.step] = add_strip(
                    pairs, levels, g, coefficients, p, few, small, own, stride)
            pairs.slices.take(pairs, c)
            for i from 0 <= i < pairs.n_samples by ROWS:
                n_samples = <int> min(<Py_ssize_t> ROWS, pairs.n_samples - i)
                for p from c <= p < last by pairs.step:
                    if done[(p - c) // pairs.step]:
                        continue
                    fits &= pairs.count(i, n_samples, p, g.use_xor, g.most)
                    width = min(pairs.stride, pairs.n_columns - p * SKLB_TILE_PANEL)
                    own = sums + (p - c) * SKLB_TILE_PANEL
                    for k in range(n_scores if fits else 0):
                        sklb_add_counts(&g.g, pairs.counts, pairs.stride, n_samples,
                                        &coefficients[k, i], width, own + k * stride)
            width = min(stride, pairs.n_columns - c * SKLB_TILE_PANEL)
            for k in range(n_scores):
                for j in range(width):
                    scores[k, c * SKLB_TILE_PANEL + j] += sums[k * stride + j] / divisor
    free(sums)
    require(fits, BAD_INDICES)
