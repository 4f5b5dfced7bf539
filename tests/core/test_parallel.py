import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import cpu_count, parallel_config
from sklearn import config_context, get_config

from sklboolean._core.parallel import (
    beside,
    count_threads,
    each_slice,
    in_threads,
    interruptible,
    kept_threads,
)


def slices_of(n, n_jobs=None, **options):
    """The slices that the function was called with, in order."""
    slices, lock = [], threading.Lock()

    def note(first, last):
        with lock:
            slices.append((first, last))

    each_slice(note, n, n_jobs, **options)
    return sorted(slices)


@given(st.integers(0, 200), st.integers(1, 12), st.sampled_from([1, 2, 5, 32, 64, 500]))
def test_slices_cover_the_range_once_and_begin_at_multiples(n, n_jobs, multiple):
    slices = slices_of(n, n_jobs, multiple=multiple)
    assert [i for first, last in slices for i in range(first, last)] == list(range(n))
    assert all(first < last for first, last in slices)
    assert all(first % multiple == 0 for first, _ in slices)
    assert len(slices) == min(n_jobs, -(-n // multiple))


@given(st.integers(1, 200), st.integers(1, 12))
def test_slices_are_of_nearly_equal_size(n, n_jobs):
    sizes = [last - first for first, last in slices_of(n, n_jobs)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_is_one_call_in_the_calling_thread(n_jobs):
    calls = []
    each_slice(lambda *part: calls.append((threading.get_ident(), part)), 10, n_jobs)
    assert calls == [(threading.get_ident(), (0, 10))]


@pytest.mark.parametrize("n_jobs", [None, 1, 4])
def test_an_empty_range_calls_nothing(n_jobs):
    assert slices_of(0, n_jobs) == []


def test_minus_1_means_every_processor():
    assert len(slices_of(10_000, -1)) == cpu_count()


def test_none_follows_the_context_of_joblib():
    with parallel_config(backend="threading", n_jobs=3):
        assert len(slices_of(10)) == 3
        assert len(slices_of(10, 2)) == 2


def test_slices_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=60)
    each_slice(lambda first, last: meeting.wait(), 2, 2)
    assert not meeting.broken


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("where", [0, 3, 9])
def test_an_exception_in_a_slice_reaches_the_caller(n_jobs, where):
    def fail(first, last):
        if first <= where < last:
            raise LookupError("row 3")

    with pytest.raises(LookupError, match="row 3"):
        each_slice(fail, 10, n_jobs)


@given(
    st.integers(1, 200), st.integers(1, 5), st.sampled_from([1, 8]), st.integers(0, 99)
)
def test_steps_cover_the_range_once_and_begin_at_multiples(n, n_jobs, multiple, step):
    slices = slices_of(n, n_jobs, multiple=multiple, step=step)
    assert [i for first, last in slices for i in range(first, last)] == list(range(n))
    assert all(first % multiple == 0 for first, _ in slices)
    assert all(0 < last - first <= max(step, multiple) for first, last in slices)


def test_an_exception_ends_the_other_threads_after_their_step():
    second, failed = threading.Event(), threading.Event()
    done = []

    def work(first, last):
        if first == 0:
            assert second.wait(60)
            failed.set()
            raise KeyboardInterrupt
        second.set()
        assert failed.wait(60)
        done.append(first)

    with pytest.raises(KeyboardInterrupt):
        each_slice(work, 2_000_000, 2, step=1)
    assert len(done) < 1_000_000


def test_zero_jobs_are_an_error_naming_n_jobs():
    with pytest.raises(ValueError, match=r"n_jobs must be None or .*; got 0"):
        each_slice(lambda first, last: None, 10, 0)


@pytest.mark.parametrize("n_jobs", [1, 2, 7])
def test_slices_write_their_parts_of_one_result(n_jobs):
    out = np.zeros(100)

    def write(first, last):
        out[first:last] += np.arange(first, last)

    each_slice(write, 100, n_jobs, multiple=8)
    assert np.array_equal(out, np.arange(100))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_arguments(n_jobs):
    taken = []

    def arguments():
        for k in range(20):
            taken.append(k)
            yield k, 2

    results = in_threads(pow, arguments(), n_jobs)
    assert next(results) == 0
    assert len(taken) <= 2 * n_jobs  # the others are made when it is their turn
    assert list(results) == [k**2 for k in range(1, 20)]


def test_tasks_run_at_the_same_time_with_the_settings_of_the_caller():
    meeting = threading.Barrier(2, timeout=60)

    def task():
        meeting.wait()
        return get_config()["assume_finite"], threading.get_ident(), count_threads(2)

    with config_context(assume_finite=True):
        first, second = in_threads(task, [(), ()], 2)
    assert first[1] != second[1]
    # A task starts no threads: it would wait for its own.
    assert first[::2] == second[::2] == (True, 1)
    assert count_threads(2) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_a_task_reaches_the_caller(n_jobs):
    def fail(k):
        if k == 3:
            raise TimeoutError("task 3")
        return k

    results = in_threads(fail, zip(range(100)), n_jobs)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TimeoutError, match="task 3"):
        next(results)
    assert list(results) == []


def test_slices_that_no_thread_has_begun_are_done_by_the_caller():
    busy, done = threading.Event(), []
    pool = kept_threads(os.getpid(), 2)
    others = [pool.submit(busy.wait, 60) for _ in range(2)]
    each_slice(lambda *part: done.append(part), 10, 2)
    busy.set()
    assert all(other.result() for other in others)
    assert done == [(0, 5), (5, 10)]


@pytest.mark.parametrize("is_daemon", [False, True])
def test_python_waits_at_exit_for_what_ctrl_c_left_running(is_daemon):
    # Threads inherit this from the thread that starts them, unless told otherwise.
    found = []

    def call():
        found.append(interruptible(lambda: threading.current_thread().daemon))

    thread = threading.Thread(target=call, daemon=is_daemon)
    thread.start()
    thread.join()
    assert found == [False]


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_a_call_beside_runs_once(n_jobs):
    calls = []
    result = beside(lambda: calls.append(threading.get_ident()) or 7, n_jobs)
    assert result() == 7
    assert len(calls) == 1


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_no_more_threads_than_jobs_work_at_once(n_jobs):
    lock, running, most = threading.Lock(), set(), []

    def work(first, last):
        with lock:
            running.add(threading.get_ident())
            most.append(len(running))
        time.sleep(0.02)
        with lock:
            running.discard(threading.get_ident())

    def slices():
        each_slice(work, 2 * n_jobs, n_jobs, step=1)

    result = beside(slices, n_jobs)
    slices()
    result()
    assert len(most) == 4 * n_jobs
    assert 1 < max(most) <= n_jobs


AFTER_THE_MAIN_THREAD = """
import threading
from sklboolean._core.parallel import beside, each_slice, in_threads

def work():
    results = in_threads(pow, [(2, k) for k in range(9)], 2)
    first = [next(results)]
    threading.main_thread().join()
    done = []
    each_slice(lambda *part: done.append(part), 10, 2)
    print(first + list(results), sorted(done), beside(lambda: 7, 2)())

threading.Thread(target=work).start()
"""
FORKED = """
import os, threading
from sklboolean._core.parallel import each_slice

each_slice(lambda first, last: None, 10, 2)
pid = os.fork()
if pid == 0:
    meeting = threading.Barrier(2, timeout=30)
    each_slice(lambda first, last: meeting.wait(), 2, 2)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def output_of(script):
    command = [sys.executable, "-P", "-W", "ignore", "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.stderr == ""
    return result.stdout.strip()


def test_threads_of_the_user_work_on_when_python_ends():
    # Python ends the kept threads before it waits for other ones.
    expected = f"{[2**k for k in range(9)]} [(0, 5), (5, 10)] 7"
    assert output_of(AFTER_THE_MAIN_THREAD) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_starts_its_own_threads():
    assert output_of(FORKED) == "7"
