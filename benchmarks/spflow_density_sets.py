"""Sum-product networks of SPFlow on the sets of ``bench_density_sets.py``.

SPFlow 0.0.41 needs older packages than sklboolean: use an environment of its own.

    pip install --no-deps spflow==0.0.41
    pip install "numpy<1.24" "scipy<1.12" "scikit-learn<1.4" "networkx<3" sympy tqdm \\
        statsmodels py-cpuinfo lark-parser matplotlib pydot
    python benchmarks/spflow_density_sets.py --data FOLDER

The structure is learned by its independence test of pairs (RDC) and by clusters; of
two settings the network with the best validation likelihood counts.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

from _workloads import load_density_sets
from spn.algorithms.Inference import log_likelihood
from spn.algorithms.LearningWrappers import learn_parametric
from spn.structure.Base import Context
from spn.structure.leaves.parametric.Parametric import Categorical

GRID = [(200, 0.3), (200, 0.1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", help="one set")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set | samples of a leaf | threshold | validation | test | CPU s |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, parts in load_density_sets(Path(options.data)):
        if options.only not in (None, name):
            continue
        train, validation, test = (part.astype(float) for part in parts)
        rows = []
        for smallest, threshold in GRID:
            types = [Categorical] * train.shape[1]
            context = Context(parametric_types=types).add_domains(train)
            start = time.process_time()
            network = learn_parametric(
                train, context, cols="rdc", min_instances_slice=smallest,
                threshold=threshold, cpus=1,
            )  # fmt: skip
            seconds = time.process_time() - start
            scores = (
                float(log_likelihood(network, part).mean())
                for part in (validation, test)
            )
            rows.append((*scores, smallest, threshold, seconds))
        validation, test, smallest, threshold, seconds = max(rows)
        numbers = f"{validation:.2f} | {test:.2f} | {seconds:.1f}"
        print(f"| {name} | {smallest} | {threshold} | {numbers} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
