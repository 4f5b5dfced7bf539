"""Row blocks on threads: the compiled loops release the GIL."""

# Slices are written in place by threads. Which thread does what never matters: a slice
# begins at a multiple, and no sum crosses slices. So results are the same for any
# number of threads.
# Threads are kept for the next call, since many pieces take less time than to start
# one. A piece that has not begun when the caller is done with its own is done by the
# caller. What runs on a kept thread starts no others, so none waits for another. The
# caller counts as one thread where it works itself.

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import lru_cache
from itertools import chain, islice, pairwise
from threading import Thread, local

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from sklboolean._core.parameters import check_n_jobs

INTERVAL = 0.1  # seconds between two looks for an interrupt
current_thread = local()


@lru_cache
def kept_threads(process_id, n_threads):
    """Start threads once; a forked process has none of those of its parent."""

    def mark():
        current_thread.is_kept = True

    return ThreadPoolExecutor(n_threads, initializer=mark)


def begin(n_threads, function, *arguments):
    """Begin a call on a kept thread; return its future.

    When Python ends, a thread of the user may still run, but these start nothing more.
    Then the call is done here.
    """
    try:
        return kept_threads(os.getpid(), n_threads).submit(function, *arguments)
    except RuntimeError as error:
        if "shutdown" not in str(error):
            raise
    future = Future()
    future.set_result(function(*arguments))
    return future


def count_threads(n_jobs=None):
    """Count the threads of this process to use.

    Parameters
    ----------
    n_jobs : int or None
        None is 1 unless joblib's context says otherwise. The result is 1 inside a
        backend of processes or of a cluster, whose workers are not threads, and on
        threads of `in_threads` and `each_slice`.
    """
    if getattr(current_thread, "is_kept", False):
        return 1
    with parallel_config(require="sharedmem"):
        return effective_n_jobs(n_jobs)


def in_threads(function, arguments, n_jobs=None):
    """Yield ``function(*each)`` for each of the arguments, in their order.

    The calls share the memory of this process, also where joblib's context names a
    backend of processes or of a cluster: no samples are sent.

    Parameters
    ----------
    function : callable
    arguments : iterable of tuples
    n_jobs : int or None
        As in `count_threads`.
    """
    check_n_jobs(n_jobs)
    n_threads, remaining = count_threads(n_jobs), iter(arguments)
    first = list(islice(remaining, 2))
    remaining = chain(first, remaining)
    if n_threads == 1 or len(first) == 1:  # which may use the threads
        yield from (function(*each) for each in remaining)
        return
    config = get_config()

    def run(each):
        with config_context(**config):
            return function(*each)

    begun = deque()
    try:
        while True:
            # Some wait for a thread, so that none waits for a task.
            for each in islice(remaining, 2 * n_threads - len(begun)):
                begun.append(begin(n_threads, copy_context().run, run, each))
            if not begun:
                return
            yield result_of(begun.popleft())
    finally:
        for future in begun:
            future.cancel()


def beside(function, n_jobs=None):
    """Begin a call on another thread, where there is one.

    Returns
    -------
    result : callable
        Waits for the result, or calls the function where that has not begun.
    """
    n_threads = 1 if n_jobs == 1 else count_threads(n_jobs)
    if n_threads == 1:
        return function
    future = begin(n_threads - 1, function)  # the caller works on
    return lambda: function() if future.cancel() else result_of(future)


def result_of(future):
    """Wait for a result. While one waits longer, an interrupt may go unseen."""
    while not wait([future], INTERVAL).done:
        pass
    return future.result()


def interruptible(function, *arguments, **options):
    """Call a function that runs without Python, and stop waiting for it on Ctrl-C.

    It runs to its end on a thread of its own. Python waits for that thread at exit: a
    solver that still runs then would abort the process.
    """
    future = Future()

    def run():
        try:
            future.set_result(function(*arguments, **options))
        except BaseException as error:
            future.set_exception(error)

    Thread(target=run, daemon=False).start()
    return result_of(future)


def in_jobs(function, arguments, n_jobs=None, *, require=None):
    """Yield the same as `in_threads` from tasks of joblib's backend.

    ``require="sharedmem"`` keeps them in this process.
    """
    if require == "sharedmem":
        return in_threads(function, arguments, n_jobs)
    # In turn, where the backend can.
    backend, _ = get_active_backend()
    return_as = "generator" if backend.supports_return_generator else "list"
    run = Parallel(n_jobs=n_jobs, return_as=return_as)
    return run(delayed(function)(*each) for each in arguments)


def each_slice(function, n, n_jobs=None, *, multiple=1, small=False, step=None):
    """Call ``function(first, last)`` for slices that cover ``range(n)``.

    Parameters
    ----------
    function : callable
        Writes its part of the result in place.
    n : int
    n_jobs : int or None
        Slices, one for each thread, as in `count_threads`.
    multiple : int
        Slices begin at multiples of it.
    small : bool
        The work is done before a second thread has started: use one.
    step : int or None
        A call covers so many at most, rounded to ``multiple``: an interrupt is seen
        between two calls, by every thread.
    """
    check_n_jobs(n_jobs)
    step = n if step is None else multiple * max(1, step // multiple)
    stopped = []  # an Event takes longer to make than a small call

    def run(first, last):
        for begin in range(first, last, step):
            if stopped:
                return
            function(begin, min(begin + step, last))

    # Asking the context takes longer than some small work does.
    n_slices = 1 if small or n_jobs == 1 else -(-n // multiple)
    n_threads = count_threads(n_jobs) if n_slices > 1 else 1
    n_slices = min(n_slices, n_threads)
    if n_slices <= 1:
        if n:
            run(0, n)
        return
    # The caller's own thread takes the first slice, and those that no other has begun.
    units = -(-n // multiple)
    edges = [min(n, multiple * (units * i // n_slices)) for i in range(n_slices + 1)]
    n_others = n_threads - 1
    others = [(begin(n_others, run, *slice_), slice_) for slice_ in pairwise(edges[1:])]
    try:
        run(0, edges[1])
        for future, slice_ in others:
            if future.cancel():
                run(*slice_)
            else:
                result_of(future)
    except BaseException:
        stopped.append(True)
        wait([future for future, _ in others if not future.cancel()])
        raise
