/* Pieces of work that threads claim.
 *
 * The caller claims pieces, too, and waits only for those that others have begun: it needs
 * no helper. Between two calls helpers look for the next one for some microseconds before
 * they sleep, so that small pieces are shared as well. Compilers that are not SKLB_GNU get
 * a team of one.
 *
 * Invariant: `n_open` is above 0 only while `run` and `work` are those of its pieces, since
 * a call returns when each of its pieces is done. */
#ifndef SKLB_TEAM_H
#define SKLB_TEAM_H

#include <stdint.h>

#include "dispatch.h"

#if SKLB_GNU && !defined(_WIN32)
#define SKLB_HAS_TEAMS 1
#include <sched.h>
#include <time.h>
#define SKLB_READ(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define SKLB_WRITE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)
#define SKLB_COUNT(x) __atomic_add_fetch(&(x), 1, __ATOMIC_ACQ_REL)
#else
#define SKLB_HAS_TEAMS 0
#define SKLB_READ(x) (x)
#define SKLB_WRITE(x, value) ((x) = (value))
#define SKLB_COUNT(x) (++(x))
#endif
/* A thread that waits looks so many times, then lets others run, and then sleeps. */
#define SKLB_LOOKS 1000
#define SKLB_YIELDS 500
#define SKLB_NANOSECONDS 50000

typedef void (*sklb_piece)(void *work, int64_t piece, int64_t thread);

typedef struct {
    sklb_piece run;
    void *work;
    int64_t n_open; /* pieces that no thread has begun, the first ones */
    int64_t n_done; /* pieces of this call */
    int64_t is_over;
} sklb_team;

static int64_t sklb_claim(sklb_team *team) {
    int64_t n_open = SKLB_READ(team->n_open);
#if SKLB_HAS_TEAMS
    while (n_open > 0 && !__atomic_compare_exchange_n(&team->n_open, &n_open, n_open - 1, 0,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        continue;
#else
    team->n_open--;
#endif
    return n_open - 1;
}

static void sklb_do_pieces(sklb_team *team, int64_t thread) {
    for (int64_t piece; (piece = sklb_claim(team)) >= 0;) {
        team->run(team->work, piece, thread);
        SKLB_COUNT(team->n_done);
    }
}

/* Wait a little, the longer the more often it was in vain. */
static void sklb_wait(int64_t n_looks) {
#if SKLB_HAS_TEAMS
    const struct timespec nap = {0, SKLB_NANOSECONDS};
    if (n_looks > SKLB_LOOKS + SKLB_YIELDS)
        nanosleep(&nap, 0);
    else if (n_looks > SKLB_LOOKS)
        sched_yield();
#endif
#if SKLB_X86
    _mm_pause();
#endif
    (void)n_looks;
}

/* Call run(work, piece, thread) for each piece; the caller is thread 0. */
static void sklb_run_pieces(sklb_team *team, sklb_piece run, void *work, int64_t n_pieces) {
    int64_t n_looks = 0;
    team->run = run;
    team->work = work;
    SKLB_WRITE(team->n_done, 0);
    SKLB_WRITE(team->n_open, n_pieces);
    sklb_do_pieces(team, 0);
    while (SKLB_READ(team->n_done) < n_pieces) sklb_wait(n_looks++);
}

/* Do pieces of all calls until the work is over, as thread 1 or a later one. */
static void sklb_help(sklb_team *team, int64_t thread) {
#if SKLB_HAS_TEAMS
    int64_t n_looks = 0;
    while (!SKLB_READ(team->is_over)) {
        if (SKLB_READ(team->n_open) > 0) n_looks = 0;
        sklb_do_pieces(team, thread);
        sklb_wait(n_looks++);
    }
#else
    (void)team, (void)thread;
#endif
}

static void sklb_end(sklb_team *team) { SKLB_WRITE(team->is_over, 1); }

#endif
