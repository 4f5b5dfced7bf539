"""Kill a process that writes checkpoints, start it again, and compare the model.

``python tests/robustness/faults/killed.py 20`` kills twenty times and prints at which
chunks. The recipe is that of docs/user_guide/persistence.md.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np

from sklboolean import AveragedPerceptron

N_CHUNKS, N_ROWS, N_FEATURES = 150, 400, 200
CLASSES = [0, 1]


def chunk(number):
    """A part of the stream: the same whenever it is asked for."""
    rng = np.random.default_rng([7, number])
    X = (rng.random((N_ROWS, N_FEATURES)) < 0.1).astype(np.uint8)
    return X, (X[:, :20].sum(axis=1) + rng.normal(size=N_ROWS) > 2).astype(int)


def save(state, path):
    """Replace a file at once: a reader finds the old state or the new one, whole."""
    part = f"{path}.part"
    with open(part, "wb") as file:
        joblib.dump(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def learn(path, n_chunks):
    """Go on from the checkpoint, if there is one, to the end of the stream."""
    state = {"model": AveragedPerceptron(), "n_read": 0}
    if os.path.exists(path):
        state = joblib.load(path)
    for number in range(state["n_read"], n_chunks):
        state["model"].partial_fit(*chunk(number), classes=CLASSES)
        state["n_read"] = number + 1
        save(state, path)
    return state["model"]


def position(path):
    return joblib.load(path)["n_read"] if os.path.exists(path) else 0


def learn_until_killed(path, n_chunks):
    learn(path, n_chunks)
    signal.pause()


def learn_with_kills(path, n_kills, n_chunks, seed=0):
    """Kill the learning process at random moments; return where it stood each time.

    Half of the moments come at once, before the process has read its checkpoint or
    written one; the others when it has come some chunks further.
    """
    rng, stood = np.random.default_rng(seed), []
    context = multiprocessing.get_context("fork")  # imports are not paid again
    further = max(1, n_chunks // (n_kills + 1))
    for kill in range(n_kills):
        goal = position(path) + int(rng.integers(1, further + 1)) * (kill % 2)
        end = min(n_chunks, goal + further)
        process = context.Process(target=learn_until_killed, args=(path, end))
        process.start()
        while position(path) < goal and process.is_alive():
            time.sleep(0.001)
        time.sleep(rng.random() * 0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        stood.append((position(path), process.exitcode))
    return stood


def differences(first, second):
    """Names of what two models hold and do not agree on."""
    first, second = vars(first), vars(second)
    names = first.keys() | second.keys()
    return [n for n in names if joblib.hash(first.get(n)) != joblib.hash(second.get(n))]


def main(n_kills):
    with tempfile.TemporaryDirectory() as folder:
        whole = learn(str(Path(folder) / "whole"), N_CHUNKS)
        path = str(Path(folder) / "killed")
        stood = learn_with_kills(path, n_kills, N_CHUNKS)
        odd = differences(learn(path, N_CHUNKS), whole)
    killed = sum(code == -signal.SIGKILL for _, code in stood)
    print(f"killed {killed} times, at chunks {[n for n, _ in stood]} of {N_CHUNKS}")
    print("the same model" if not odd else f"NOT the same: {odd}")
    return bool(odd) or killed < n_kills


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
