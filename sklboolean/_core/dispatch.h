/* The processor: which version of a compiled loop runs.
 *
 * A loop is written in plain C and, where that is too slow, for AVX2 and for AVX-512 as
 * well. All versions give the same bits. The caller calls `name`, which is defined by
 * SKLB_CALL and runs `name_plain`, `name_avx2` or `name_avx512`.
 *
 * Code for one processor or one family of compilers stands behind SKLB_X86 or
 * SKLB_GNU. Any C11 compiler builds the plain versions. With SKLB_PLAIN_C defined (for
 * tests) every compiler builds the plain versions only. */
#ifndef SKLB_DISPATCH_H
#define SKLB_DISPATCH_H

#if (defined(__GNUC__) || defined(__clang__)) && !defined(_MSC_VER) && !defined(SKLB_PLAIN_C)
#define SKLB_GNU 1
#else
#define SKLB_GNU 0
#endif

#if SKLB_GNU && defined(__x86_64__)
#define SKLB_X86 1
#include <immintrin.h>
#else
#define SKLB_X86 0
#endif

/* For functions that a vector function calls: on some processors a call into code without
 * vector instructions costs more than the work itself. */
#if SKLB_GNU
#define SKLB_INLINE static inline __attribute__((always_inline))
#else
#define SKLB_INLINE static inline
#endif

enum sklb_levels { SKLB_PLAIN = 0, SKLB_AVX2 = 1, SKLB_AVX512 = 2 };

/* The level in use. `_cpu.pyx` holds one variable for the whole package. Each extension
 * module points `sklb_cpu_level` to it at import. */
static const int sklb_plain_level = SKLB_PLAIN;
static const int *sklb_cpu_level = &sklb_plain_level;

#define SKLB_NO_TARGET

#if SKLB_X86

/* Targets name all instructions of a level, so that a function may call any other. */
#define SKLB_TARGET_AVX2 __attribute__((target("avx2,fma,popcnt")))
#define SKLB_TARGET_AVX512                                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,fma,popcnt")))

#define SKLB_CALL(name, ...)                                                                \
    (*sklb_cpu_level == SKLB_AVX512 ? name##_avx512(__VA_ARGS__)                                \
     : *sklb_cpu_level == SKLB_AVX2 ? name##_avx2(__VA_ARGS__)                                  \
                                : name##_plain(__VA_ARGS__))

/* Define a loop for each level: DEFINE(SUFFIX, TARGET). */
#define SKLB_ON_EACH_LEVEL(DEFINE)                                                          \
    DEFINE(plain, SKLB_NO_TARGET)                                                           \
    DEFINE(avx2, SKLB_TARGET_AVX2)                                                          \
    DEFINE(avx512, SKLB_TARGET_AVX512)

/* The highest level that this processor runs. */
static int sklb_highest_level(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("popcnt"))
        return SKLB_PLAIN;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq"))
        return SKLB_AVX512;
    return SKLB_AVX2;
}

#else

#define SKLB_CALL(name, ...) name##_plain(__VA_ARGS__)
#define SKLB_ON_EACH_LEVEL(DEFINE) DEFINE(plain, SKLB_NO_TARGET)

static int sklb_highest_level(void) { return SKLB_PLAIN; }

#endif

#endif
