"""Store a small model of each kind with its predictions: once for each release.

``python tests/robustness/pickles/make.py`` writes a folder named after the installed
version. With ``--overwrite`` it replaces one, as long as the version is not released.
Folders of earlier releases stay as they are.
"""

import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

import joblib

sys.path.insert(0, str(Path(__file__).parents[2]))
from _instances import MODELS, answers, data, fitted

from sklboolean import __version__

HERE = Path(__file__).parent
WRITERS = ("joblib", "numpy", "scikit-learn", "scipy")


def main():
    folder = HERE / __version__
    if "--overwrite" in sys.argv and folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    versions = {name: version(name) for name in WRITERS}
    (folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
    X, _ = data(20, seed=3)
    for name in MODELS:
        model = fitted(name, n_samples=40)
        stored = {"model": model, "X": X, "answers": answers(model, X)}
        joblib.dump(stored, folder / f"{name}.joblib", compress=("xz", 9))


if __name__ == "__main__":
    main()
