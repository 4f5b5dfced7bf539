/* Which instructions this processor has, asked once at import.
 *
 * Every compiled loop of the package exists in up to four versions that give the
 * same bits; `sklb_cpu_detect` names the fastest one that this processor runs. */
#ifndef SKLB_CPU_H
#define SKLB_CPU_H

/* What a vector function calls: a call into code without vector instructions costs more
 * than a row of additions on some processors. */
#if defined(__GNUC__) || defined(__clang__)
#define SKLB_INLINE static inline __attribute__((always_inline))
#else
#define SKLB_INLINE static inline
#define restrict __restrict
#endif

enum sklb_cpu_path { SKLB_PLAIN = 0, SKLB_POPCNT = 1, SKLB_AVX2 = 2, SKLB_AVX512 = 3 };

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define SKLB_X86 1
#include <immintrin.h>

static int sklb_cpu_detect(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        return SKLB_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SKLB_AVX2;
    if (__builtin_cpu_supports("popcnt")) return SKLB_POPCNT;
    return SKLB_PLAIN;
}
#else
#define SKLB_X86 0
static int sklb_cpu_detect(void) { return SKLB_PLAIN; }
#endif

#endif
