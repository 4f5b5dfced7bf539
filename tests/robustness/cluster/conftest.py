"""A cluster of two worker processes, what crosses its wires, and what kills them."""

import os
import signal
from contextlib import contextmanager

import pytest


@contextmanager
def two_workers():
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    options = {
        # Dask drops second copies of data that it was told to spread, and with the one
        # worker that is left with them they are gone.
        "distributed.scheduler.active-memory-manager.start": False,
        # The cluster stays until the last test. Dask measures itself meanwhile, which
        # takes a tenth of a core.
        "distributed.worker.profile.enabled": False,
        "distributed.worker.memory.monitor-interval": "10s",
        "distributed.admin.tick.interval": "2s",
        "distributed.admin.system-monitor.interval": "10s",
    }
    with (
        dask.config.set(options),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            scheduler_port=0, dashboard_address=":0", silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture(scope="session")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def mortals():
    """A cluster of its own, for a test that kills a worker.

    On a busy machine Dask may not start another process in the place of the killed one.
    """
    with two_workers() as client:
        yield client


@pytest.fixture
def finished(client):
    """The names of the tasks that workers have finished, as a list that grows."""
    from distributed.diagnostics.plugin import SchedulerPlugin

    keys = []

    class Notes(SchedulerPlugin):
        def transition(self, key, start, finish, *args, **kwargs):
            if (start, finish) == ("processing", "memory"):
                keys.append(key)

    notes = Notes()
    client.cluster.scheduler.add_plugin(notes, name="notes")
    yield keys
    client.cluster.scheduler.remove_plugin("notes")


@pytest.fixture
def bytes_moved(client, monkeypatch):
    """Return a function that says how many bytes have been sent since the last call.

    Client and scheduler live in this process, which counts all that it writes; what
    workers send to one another they count themselves.
    """
    from distributed.comm import tcp

    write, written = tcp.TCP.write, []

    async def count(comm, *args, **kwargs):
        written.append(await write(comm, *args, **kwargs))
        return written[-1]

    monkeypatch.setattr(tcp.TCP, "write", count)
    before = 0

    def sent_by_worker(dask_worker):
        return dask_worker.transfer_outgoing_bytes_total

    def moved():
        nonlocal before
        between = client.run(
            lambda dask_worker: dask_worker.transfer_outgoing_bytes_total
        )
        total = sum(written) + sum(between.values())
        since, before = total - before, total
        return since

    moved()
    return moved


@pytest.fixture
def die(tmp_path):
    """Return a function that kills the first worker process to call it."""
    marker, own_process = str(tmp_path / "killed"), os.getpid()

    # A function of a function is sent to workers as it is, not by its module's name.
    def die():
        if os.getpid() == own_process:
            return
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(os.getpid(), signal.SIGKILL)

    yield die
    assert os.path.exists(marker), "Nobody was killed."
