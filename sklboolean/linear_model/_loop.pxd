"""What the loop takes from rows.h, and the names of its modes."""
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from "rows.h" nogil:
    double sklb_sum_active(const double *, const int32_t *, int64_t)
    double sklb_dot_active(const double *, const int32_t *, const double *, int64_t)
    void sklb_score_many(const double *, const int32_t *, const double *, int64_t, int64_t,
                         double *)
    double sklb_sum_bits(const double *, const uint64_t *, int64_t)
    void sklb_add_bits(double *, double *, const uint64_t *, int64_t, double, double)
    void sklb_add_active(double *, double *, const int32_t *, int64_t, int64_t, double, double)
    const int SKLB_PLUS, SKLB_MINUS, SKLB_SUM, SKLB_SINCE, SKLB_PARTS
    void sklb_multiply_one(double *, double *, int, int, double, double, double)
    void sklb_multiply_active(double *, double *, int, int, const int32_t *, int64_t, int64_t,
                              double, double, double)
    void sklb_shuffle(int64_t *, int64_t, uint64_t)
    void sklb_shuffle_blocks(const int64_t *, int64_t, int64_t, uint64_t, int64_t *, int64_t *)
    ctypedef struct sklb_steps:
        const int64_t *indptr
        const int32_t *indices
        const int32_t *codes
        float *weights
        double *noted
        double *bias
        double *bias_lags
        double *scores
        int64_t n_hypotheses, n_mistakes, n_updates
        double margin_positive, margin_negative, clock
        int fit_intercept
    void sklb_run_steps(sklb_steps *, const int64_t *, int64_t)
    void sklb_add_noted(const double *, int64_t, const int64_t *, const int32_t *, int64_t,
                        double *)
    void sklb_prefetch_row(const int32_t *, int64_t)
    int sklb_lowest_bit(uint64_t)
    void SKLB_PREFETCH(const void *)

cdef enum:
    ADDITIVE = 0
    BALANCED = 1      # weights plus - minus; both move, in opposite directions
    POSITIVE = 2      # weights plus
    COMPLEMENT = 3    # weights plus of features, minus of their negations

cdef enum:
    CONSTANT = 0
    INVERSE_SQRT = 1
    ADAGRAD = 2
    AGGRESSIVE = 3

cdef enum:
    LAST = 0
    MEAN = 1
    LONGEST = 2
