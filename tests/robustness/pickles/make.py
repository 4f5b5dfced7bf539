"""Store a small model of each kind, with what it says: once for each release.

``python tests/pickles/make.py`` writes a folder named after the installed version.
Folders of earlier releases stay as they are.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import joblib

sys.path.insert(0, str(Path(__file__).parents[1]))
import zoo

from sklboolean import __version__

HERE = Path(__file__).parent
WRITERS = ("joblib", "numpy", "scikit-learn", "scipy")


def main():
    folder = HERE / __version__
    folder.mkdir()
    versions = {name: version(name) for name in WRITERS}
    (folder / "versions.json").write_text(json.dumps(versions, indent=1) + "\n")
    X, _ = zoo.rows(20, seed=3)
    for name in zoo.MODELS:
        model = zoo.fitted(name)
        stored = {"model": model, "X": X, "answers": zoo.answers(model, X)}
        joblib.dump(stored, folder / f"{name}.joblib", compress=("xz", 9))


if __name__ == "__main__":
    main()
