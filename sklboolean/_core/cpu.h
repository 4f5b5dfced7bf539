/* Which instructions this processor has, asked once at import.
 *
 * Every compiled loop of the package exists in up to four versions that give the
 * same bits; `sklb_cpu_detect` names the fastest one that this processor runs. What is
 * written for one processor or one family of compilers stands behind SKLB_X86, SKLB_ARM
 * or SKLB_GNU: any C11 compiler builds the plain versions, and with SKLB_PLAIN_C defined
 * (for tests) every compiler builds them only. */
#ifndef SKLB_CPU_H
#define SKLB_CPU_H

#if (defined(__GNUC__) || defined(__clang__)) && !defined(_MSC_VER) && !defined(SKLB_PLAIN_C)
#define SKLB_GNU 1
#else
#define SKLB_GNU 0
#endif

/* What a vector function calls: a call into code without vector instructions costs more
 * than a row of additions on some processors. */
#if SKLB_GNU
#define SKLB_INLINE static inline __attribute__((always_inline))
#else
#define SKLB_INLINE static inline
#endif

/* Numbers of one processor family; the other has its own. */
enum sklb_cpu_path { SKLB_PLAIN = 0, SKLB_POPCNT = 1, SKLB_AVX2 = 2, SKLB_AVX512 = 3 };
enum sklb_arm_path { SKLB_NEON = 1 };

#if SKLB_GNU && defined(__x86_64__)
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
#endif

#if SKLB_GNU && defined(__aarch64__)
#define SKLB_ARM 1
#include <arm_neon.h>
static int sklb_cpu_detect(void) { return SKLB_NEON; } /* every 64-bit ARM has it */
#else
#define SKLB_ARM 0
#endif

#if !SKLB_X86 && !SKLB_ARM
static int sklb_cpu_detect(void) { return SKLB_PLAIN; }
#endif

#endif
