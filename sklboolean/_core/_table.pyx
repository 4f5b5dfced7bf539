# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tables of the sums of all short conjunctions: conjunction_table.h as an object.

Callers lay out columns and validate; see `conjunction_table.py`.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sklboolean._core._checks cimport require, sklb_all_below_64
from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

from sklboolean._core._search import SIGNS

cdef extern from "conjunction_table.h" nogil:
    int SKLB_LONGEST_IN_TABLE
    ctypedef struct sklb_table_rows:
        int64_t n_places, n_samples
        const int64_t *choose[5]
        const int64_t *starts
        const uint16_t *places
    ctypedef struct sklb_nesting:
        const int64_t **choose
        int64_t n_places
        const int32_t *chains
        const double *shorter
        double *sums
    void sklb_nest_sums(sklb_nesting *nesting, int length)
    ctypedef struct sklb_completion:
        const int64_t **choose
        int64_t place, n_others
        const int64_t *others
    void sklb_complete_sums(const sklb_completion *completion, int length,
                            const double *shorter, double *sums)
    ctypedef struct sklb_block_pass:
        const sklb_table_rows *rows
        int length, n_blocks
        const double *values
        double *sums
    ctypedef struct sklb_found:
        double score, sum
        int length
        int32_t *literals
    ctypedef struct sklb_best:
        sklb_found *list
        int64_t size
        double floor
    ctypedef struct sklb_seen:
        void *slots
    int sklb_seen_open(sklb_seen *seen, uint64_t most_slots)
    ctypedef struct sklb_scan:
        const sklb_table_rows *rows
        const double **sums
        const int32_t **counts
        const int32_t *features
        const int32_t *groups
        const int32_t *literals
        const uint8_t *inverted
        const uint8_t *signs_of
        int64_t n_words
        const uint64_t *columns
        const uint64_t *used
        uint64_t *cover
        const double *factors
        int shortest, longest, signs, monotone, diverse, is_listing, is_cut
        sklb_seen seen
        sklb_best best
    int64_t sklb_list_places(const uint64_t *row, int64_t n_words, uint16_t *places)
    ctypedef struct sklb_cover_row:
        int32_t row, n_below
    void sklb_scatter(const sklb_table_rows *rows, int length, int64_t first, int64_t end,
                      const double *values, double *sums)
    int SKLB_ABREAST
    ctypedef struct sklb_abreast:
        const sklb_table_rows *rows
        int length, width
        int64_t place, n
        const sklb_cover_row *sorted
        const double *values
        double *sums
    void sklb_sort_places(const sklb_table_rows *rows, int64_t first, int64_t end,
                          const double *values, int width, sklb_cover_row *sorted,
                          int64_t *ends)
    void sklb_scatter_place(const sklb_abreast *abreast, int64_t n_values, double *sums,
                            int64_t size)
    int sklb_blocks_open(sklb_block_pass *blocks)
    void sklb_blocks_close(sklb_block_pass *blocks)
    void sklb_pass_blocks(sklb_block_pass *blocks, int depth, int64_t first, int64_t last)
    ctypedef struct sklb_count_pass:
        const sklb_table_rows *rows
        const uint64_t *columns
        int64_t n_words
        double value
        uint64_t *covers
    void sklb_count_below(const sklb_count_pass *counted, int length, int64_t end,
                          const uint64_t *cover, double *sums)
    int sklb_best_open(sklb_best *best, int64_t wanted, int longest)
    void sklb_best_close(sklb_best *best)
    ctypedef struct sklb_suffix:
        int length
        int64_t places[4]
    void sklb_scan_last(sklb_scan *scan, int length, int64_t last)
    void sklb_extend(sklb_scan *scan, const sklb_suffix *suffix, int signs, double total,
                     const double *sums)

cdef extern from "many_targets.h" nogil:
    int SKLB_TARGETS
    ctypedef struct sklb_many:
        sklb_scan *scan
        const double *targets
        const double *factors
        double *sums[5]
        sklb_cover_row *covers[4]
        int64_t *ends[4]
        double *largest
    void sklb_search_targets(const sklb_many *many)

sklb_cpu_level = &cpu_level

LONGEST = SKLB_LONGEST_IN_TABLE
# Targets that are searched at once, and those whose sums are added up at once.
TARGETS = SKLB_TARGETS
ABREAST = SKLB_ABREAST
# Samples between two looks at the keyboard.
cdef int64_t SAMPLES_AT_A_TIME = 2**14, ADDITIONS_AT_A_TIME = 2**27


cdef class TableRows:
    """The rows of a table: the places of the ones of each row, ascending.

    Parameters
    ----------
    words : ndarray of shape (n_samples, n_words), uint64
        The true places of each sample, packed.
    choose : ndarray of shape (LONGEST + 1, n_places + 1), int64
        Binomial coefficients.
    starts : ndarray of shape (n_samples + 1,), int64
        Written here: where each row begins.
    places : ndarray of shape (n_ones + 64 * n_words,), uint16
        Written here: the places of all rows, and room for one row more.
    """

    cdef sklb_table_rows rows
    cdef object arrays

    def __cinit__(self, const uint64_t[:, ::1] words, const int64_t[:, ::1] choose,
                  int64_t[::1] starts, uint16_t[::1] places):
        cdef int64_t i, n = 0, n_words = words.shape[1]
        cdef int64_t n_ones = places.shape[0] - 64 * n_words
        require(64 * n_words <= 65536 and starts.shape[0] == words.shape[0] + 1
                and n_ones >= 0, "the samples of a table do not fit")
        starts[0] = 0
        with nogil:
            for i in range(words.shape[0]):
                if n > n_ones:
                    break
                n += sklb_list_places(&words[i, 0], n_words, &places[n])
                starts[i + 1] = n
        require(n == n_ones, "the ones of a table were counted wrongly")
        self.arrays = choose, starts, places
        self.rows.n_samples, self.rows.n_places = words.shape[0], choose.shape[1] - 1
        for i in range(LONGEST + 1):
            self.rows.choose[i] = &choose[i, 0]
        self.rows.starts, self.rows.places = &starts[0], &places[0]

    def scatter(self, int length, const double[::1] values, double[::1] sums,
                int64_t first, int64_t last):
        """Add the values of some samples to the sums of their conjunctions of a length."""
        cdef int64_t begin, n = self.rows.n_samples
        require(values.shape[0] == n and 0 <= first and last <= n,
                "values and rows do not fit")
        # As many samples at a time as have so many conjunctions, for interrupts.
        cdef int64_t n_ones = self.rows.starts[n] // max(n, 1)
        cdef int64_t step = ADDITIONS_AT_A_TIME // max(self.rows.choose[length][n_ones], 1)
        step = max(1, min(step, SAMPLES_AT_A_TIME))
        for begin in range(first, last, step):
            with nogil:
                sklb_scatter(&self.rows, length, begin, min(begin + step, last),
                             &values[0], &sums[0])
            PyErr_CheckSignals()

    def scatter_by_place(self, int length, const double[:, ::1] values,
                         double[:, ::1] sums, int64_t part, int64_t n_parts):
        """Do the same for all samples, for a length of 2 or more, by largest places.

        Parts differ in their largest places, and so in the sums that they write to.

        Parameters
        ----------
        values : ndarray of shape (n_samples, 1) or (n_samples, ABREAST), float64
        sums : ndarray of shape (n_values, n_sums), float64
            Of the first columns of ``values``.
        """
        cdef sklb_abreast abreast
        cdef int64_t begin, end, place, most = 0, n = self.rows.n_samples
        cdef int64_t n_places = self.rows.n_places
        cdef int64_t *ends
        cdef sklb_cover_row *ordered
        require(1 < length <= LONGEST and values.shape[0] == n and n_parts > 0
                and (values.shape[1] == 1 or values.shape[1] == ABREAST)
                and 0 < sums.shape[0] <= values.shape[1]
                and sums.shape[1] >= self.rows.choose[length][n_places] and 0 <= part,
                "values and sums do not fit")
        abreast.rows, abreast.length, abreast.width = &self.rows, length, <int> values.shape[1]
        abreast.values = &values[0, 0] if n else NULL
        for begin in range(0, n, SAMPLES_AT_A_TIME):
            end = min(begin + SAMPLES_AT_A_TIME, n)
            most = max(most, self.rows.starts[end] - self.rows.starts[begin])
        ordered = <sklb_cover_row *> malloc((most + 1) * sizeof(sklb_cover_row))
        ends = <int64_t *> malloc((n_places + 1) * sizeof(int64_t))
        abreast.sums = <double *> malloc(
            abreast.width * (self.rows.choose[length - 1][n_places] + 1) * sizeof(double))
        try:
            if ordered == NULL or ends == NULL or abreast.sums == NULL:
                raise MemoryError
            for begin in range(0, n, SAMPLES_AT_A_TIME):
                end = min(begin + SAMPLES_AT_A_TIME, n)
                sklb_sort_places(&self.rows, begin, end, abreast.values, abreast.width,
                                 ordered, ends)
                for place in range(part, n_places, n_parts):
                    abreast.place = place
                    abreast.sorted = ordered + (ends[place - 1] if place else 0)
                    abreast.n = ends[place] - (ends[place - 1] if place else 0)
                    with nogil:
                        sklb_scatter_place(&abreast, sums.shape[0], &sums[0, 0],
                                           sums.shape[1])
                    PyErr_CheckSignals()
        finally:
            free(ordered)
            free(ends)
            free(abreast.sums)

    def nest(self, int length, const int32_t[::1] chains, const double[::1] shorter,
             double[::1] sums):
        """Add up sums by the last true place of each chain, in place.

        Parameters
        ----------
        chains : ndarray of shape (n_chained,), int32
            Ascending: the number of the chain of each of the first places. Each place
            is within the place before of its chain.
        shorter, sums : ndarrays, float64
            Of the conjunctions with a literal less, added up; those to add up.
        """
        cdef sklb_nesting nesting
        cdef int64_t n = chains.shape[0]
        require(0 < n <= self.rows.n_places and 0 < length <= LONGEST
                and shorter.shape[0] >= self.rows.choose[length - 1][n]
                and sums.shape[0] >= self.rows.choose[length][n], "the sums to add up do not fit")
        nesting.choose, nesting.n_places, nesting.chains = self.rows.choose, n, &chains[0]
        nesting.shorter, nesting.sums = &shorter[0], &sums[0]
        with nogil:
            sklb_nest_sums(&nesting, length)
        PyErr_CheckSignals()

    def complete(self, int length, int64_t place, const int64_t[::1] others,
                 const double[::1] shorter, double[::1] sums):
        """Write the sums of the conjunctions of a length with a place as their largest.

        Parameters
        ----------
        others : ndarray of shape (n_others,), int64
            Smaller places. In a row exactly one is true: of them and ``place``.
        shorter, sums : ndarrays, float64
            Of the conjunctions with a literal less; of those of this length with smaller
            places, and those to write.
        """
        cdef sklb_completion completion
        require(0 <= place < self.rows.n_places and 0 < length <= LONGEST
                and sklb_all_below_64(&others[0], others.shape[0], place)
                and shorter.shape[0] >= self.rows.choose[length - 1][place]
                and sums.shape[0] >= self.rows.choose[length][place + 1],
                "the sums to complete do not fit")
        completion.choose = self.rows.choose
        completion.place, completion.n_others = place, others.shape[0]
        completion.others = &others[0]
        with nogil:
            sklb_complete_sums(&completion, length, &shorter[0], &sums[0])
        PyErr_CheckSignals()

    def sum_blocks(self, int length, const double[::1] values, double[::1] sums,
                   int64_t part, int64_t n_parts):
        """Do the same for all samples, by blocks of places.

        Parts differ in their largest places, and so in the sums that they write to.
        """
        cdef sklb_block_pass blocks
        require(values.shape[0] == self.rows.n_samples, "values and rows do not fit")
        memset(&blocks, 0, sizeof(blocks))
        blocks.rows, blocks.length = &self.rows, length
        blocks.values, blocks.sums = &values[0], &sums[0]
        cdef int64_t block
        try:
            if not sklb_blocks_open(&blocks):
                raise MemoryError
            for block in range(part, blocks.n_blocks, n_parts):
                with nogil:
                    sklb_pass_blocks(&blocks, 0, block, block)
                PyErr_CheckSignals()
        finally:
            sklb_blocks_close(&blocks)

    def count(self, int length, const uint64_t[:, ::1] columns, double value,
              double[::1] sums):
        """Do the same for rows of one value: ``columns`` holds those of each place, as bits.

        They need not be among the rows listed here.
        """
        cdef sklb_count_pass counted
        cdef int64_t n_words = columns.shape[1]
        require(columns.shape[0] == self.rows.n_places, "columns and places do not fit")
        counted.covers = <uint64_t *> malloc((LONGEST + 1) * n_words * sizeof(uint64_t))
        if counted.covers == NULL:
            raise MemoryError
        counted.rows, counted.columns = &self.rows, &columns[0, 0]
        counted.n_words, counted.value = n_words, value
        memset(counted.covers, 255, n_words * sizeof(uint64_t))
        with nogil:
            sklb_count_below(&counted, length, self.rows.n_places, counted.covers, &sums[0])
        free(counted.covers)

    def scan(self, layout, used, sums, counts, task, floors=None, extended=None,
             targets=None):
        """Return the literals and the sums of the best conjunctions, best first.

        With ``floors`` all whose score is above the floor of their length, of each cover
        one, in no order; None where they are more than the task wants. With ``extended``
        only the conjunctions of the largest length that add a literal to one of these.
        With ``targets`` the scores are sums of a target times a factor of their size.

        Parameters
        ----------
        layout : object
            With ``features``, ``groups``, ``inverted``, ``literals`` and
            ``literal_signs`` by place, and ``columns`` by feature.
        used : ndarray of shape (n_column_words,), uint64
            Rows that count for covers.
        sums, counts : lists of ndarrays, float64 and int32
            By length, from 0 on; counts may be None.
        task : SearchTask
        floors : ndarray of shape (max_literals + 1,), float64, or None
        extended : tuple of ndarrays, or None
            The places of conjunctions, int64 of shape (n_extended, max_literals - 1);
            whether each place is true, as bits, int64 of shape (n_extended,); their
            sums, float64, and those with each place, of shape (n_extended, n_places).
        targets : tuple of ndarrays, or None
            Whole numbers, float64 of shape (n_samples, TARGETS), of which the first
            column decides what is returned; the factor of each size, float64 of shape
            (n_samples + 1,); the largest score of each target, float64 of shape
            (TARGETS,), to write to. ``sums`` are written, too, TARGETS numbers for each
            conjunction, of the largest length only n_places times as many.
        """
        cdef sklb_scan scan
        cdef const double[::1] factors = task.factors
        cdef const double *sum_pointers[5]
        cdef const int32_t *count_pointers[5]
        cdef const double[::1] sums_of
        cdef const int32_t[::1] counts_of, features = layout.features, groups = layout.groups
        cdef const int32_t[:, ::1] literals = layout.literals
        cdef const uint8_t[::1] inverted = layout.inverted
        cdef const uint8_t[:, ::1] signs_of = layout.literal_signs
        cdef const uint64_t[:, ::1] columns = layout.columns
        cdef const uint64_t[::1] used_words = used
        cdef int64_t last, k, n = self.rows.n_places
        cdef int length, j
        memset(&scan, 0, sizeof(scan))
        scan.longest = <int> factors.shape[0] - 1
        require(scan.longest <= LONGEST and features.shape[0] == n and groups.shape[0] == n
                and inverted.shape[0] == n and columns.shape[0] == n
                and literals.shape[0] == n and literals.shape[1] == 2
                and signs_of.shape[0] == n and signs_of.shape[1] == 2
                and columns.shape[1] == used_words.shape[0], "the layout does not fit")
        for length in range(scan.longest + 1):
            sums_of = sums[length]
            sum_pointers[length] = &sums_of[0] if sums_of.shape[0] else NULL
            if counts is not None:
                counts_of = counts[length]
                count_pointers[length] = &counts_of[0] if counts_of.shape[0] else NULL
        scan.rows, scan.sums = &self.rows, sum_pointers
        scan.counts = NULL if counts is None else count_pointers
        scan.features, scan.groups, scan.inverted = &features[0], &groups[0], &inverted[0]
        scan.literals, scan.signs_of = &literals[0, 0], &signs_of[0, 0]
        scan.n_words = columns.shape[1]
        scan.columns, scan.used = &columns[0, 0], &used_words[0]
        scan.cover = <uint64_t *> malloc((scan.n_words + 1) * sizeof(uint64_t))
        scan.factors, scan.shortest, scan.signs = &factors[0], task.shortest, SIGNS[task.sign]
        scan.monotone, scan.diverse = task.monotone, task.diverse
        try:
            if not sklb_best_open(&scan.best, task.n_wanted, scan.longest) or scan.cover == NULL:
                raise MemoryError
            scan.best.floor = max(task.floor, 0.0)
            if floors is not None:
                scan.is_listing = 1
                if not sklb_seen_open(&scan.seen, <uint64_t> 1 << 40):
                    raise MemoryError
            if extended is not None:
                places_of, signs, totals, sums_of_places = extended
                self._extend(&scan, places_of, signs, totals, sums_of_places)
            if targets is not None:
                self._search_targets(&scan, sums, targets[0], targets[1], targets[2])
            for length in range(scan.shortest, scan.longest + 1):
                if factors[length] == 0 or extended is not None or targets is not None:
                    continue
                if floors is not None:
                    scan.best.floor = floors[length]
                for last in range(1 if length == 1 else n):
                    with nogil:
                        sklb_scan_last(&scan, length, last)
                    PyErr_CheckSignals()
            if scan.is_cut:
                return None
            return [([scan.best.list[k].literals[j] for j in range(scan.best.list[k].length)],
                     scan.best.list[k].sum) for k in range(scan.best.size)]
        finally:
            sklb_best_close(&scan.best)
            free(scan.seen.slots)
            free(scan.cover)

    cdef _extend(self, sklb_scan *scan, const int64_t[:, ::1] places,
                 const int64_t[::1] signs, const double[::1] totals,
                 const double[:, ::1] sums):
        """Look at all conjunctions that have one literal more than one of these."""
        cdef sklb_suffix suffix
        cdef int64_t k
        cdef int j
        require(places.shape[1] == scan.longest - 1 and places.shape[1] < LONGEST
                and signs.shape[0] == places.shape[0] == totals.shape[0] == sums.shape[0]
                and sums.shape[1] == self.rows.n_places, "conjunctions do not fit")
        memset(&suffix, 0, sizeof(suffix))
        suffix.length = <int> places.shape[1]
        for k in range(places.shape[0]):
            for j in range(suffix.length):
                require(0 <= places[k, j] < self.rows.n_places, "a place does not exist")
                suffix.places[j] = places[k, j]
            with nogil:
                sklb_extend(scan, &suffix, <int> signs[k], totals[k], &sums[k, 0])
            PyErr_CheckSignals()

    cdef _search_targets(self, sklb_scan *scan, sums, const double[:, ::1] targets,
                         const double[::1] factors, double[::1] largest):
        """Score all conjunctions for several targets."""
        cdef sklb_many many
        cdef double[::1] sums_of
        cdef int64_t n = self.rows.n_samples, n_places = self.rows.n_places
        cdef int64_t n_ones = self.rows.starts[n]
        cdef int length
        cdef sklb_cover_row *covers
        cdef int64_t *ends
        require(targets.shape[0] == n < 2**31 and targets.shape[1] == TARGETS
                and factors.shape[0] == n + 1 and largest.shape[0] == TARGETS
                and scan.counts != NULL, "targets and rows do not fit")
        for length in range(scan.longest + 1):
            sums_of = sums[length]
            require(sums_of.shape[0] == TARGETS * (
                n_places if length == scan.longest
                else self.rows.choose[length][n_places]), "sums and places do not fit")
            many.sums[length] = &sums_of[0]
        many.scan, many.targets, many.factors = scan, &targets[0, 0], &factors[0]
        many.largest = &largest[0]
        covers = <sklb_cover_row *> malloc(
            (n + 1 + (scan.longest - 1) * n_ones) * sizeof(sklb_cover_row))
        ends = <int64_t *> malloc(scan.longest * n_places * sizeof(int64_t))
        try:
            if covers == NULL or ends == NULL:
                raise MemoryError
            for length in range(scan.longest):
                many.covers[length] = covers + (n + (length - 1) * n_ones if length else 0)
                many.ends[length] = ends + length * n_places
            with nogil:
                sklb_search_targets(&many)
            PyErr_CheckSignals()
        finally:
            free(covers)
            free(ends)
