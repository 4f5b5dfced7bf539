"""Sum-product networks of SPFlow on the sets of ``bench_density_sets.py``.

Two methods, of two versions of SPFlow, each in an environment of its own:

    pip install --no-deps spflow==0.0.41
    pip install "numpy<1.24" "scipy<1.12" "scikit-learn<1.4" "networkx<3" sympy tqdm \\
        statsmodels py-cpuinfo lark-parser matplotlib pydot
    python benchmarks/spflow_density_sets.py --data FOLDER --method learn_spn

    pip install spflow==1.1.0 torch==2.13.0
    python benchmarks/spflow_density_sets.py --data FOLDER --method rat_spn

LearnSPN learns the structure by independence tests of pairs (RDC) and by clusters. A
RAT-SPN (Peharz and others, UAI 2019) has a random structure, whose weights gradients
learn: Adam takes batches of 256 samples until the validation likelihood has not grown
for three epochs, or until the limit of CPU time. Of two settings the network with the
best validation likelihood counts. One core, one seed; nothing else is tuned.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from _workloads import load_density_sets

LEAVES = [(200, 0.3), (200, 0.1)]  # samples of a leaf, threshold
NETWORKS = [(5, 5), (10, 10)]  # nodes for a region, random structures
BATCH_SIZE, PATIENCE, LEARNING_RATE = 256, 3, 0.02


def learn_spn(train, validation, setting, limit):
    """Learn a network by tests and clusters; return a function of its score."""
    from spn.algorithms.Inference import log_likelihood
    from spn.algorithms.LearningWrappers import learn_parametric
    from spn.structure.Base import Context
    from spn.structure.leaves.parametric.Parametric import Categorical

    (smallest, threshold), train = setting, train.astype(float)
    types = [Categorical] * train.shape[1]
    context = Context(parametric_types=types).add_domains(train)
    network = learn_parametric(
        train, context, cols="rdc", min_instances_slice=smallest, threshold=threshold,
        cpus=1,
    )  # fmt: skip
    return lambda part: float(log_likelihood(network, part.astype(float)).mean())


def rat_spn(train, validation, setting, limit):
    """Train a random network by gradients; return a function of its score."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    np.random.seed(0)  # sizes of the parts of a region
    network = random_network(train.shape[1], *setting)
    optimizer = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    samples = torch.tensor(train).float()

    def score(part):
        parts = torch.tensor(part).float().split(2048)
        with torch.no_grad():
            logs = [network.log_likelihood(each).flatten() for each in parts]
        return float(torch.cat(logs).mean())

    best, state, since, start = -float("inf"), None, 0, time.process_time()
    while since < PATIENCE and time.process_time() - start < limit:
        since += 1
        for batch in samples[torch.randperm(len(samples))].split(BATCH_SIZE):
            optimizer.zero_grad()
            (-network.log_likelihood(batch).mean()).backward()
            optimizer.step()
        reached = score(validation)
        if reached > best + 1e-3:
            best, since = reached, 0
            state = {key: value.clone() for key, value in network.state_dict().items()}
    network.load_state_dict(state)
    return score


def random_network(n_features, n_nodes, n_structures):
    """Build a network with a random structure and random parameters."""
    from spflow.meta.data.scope import Scope
    from spflow.modules.leaves.bernoulli import Bernoulli
    from spflow.zoo.rat.rat_spn import RatSPN

    leaves = Bernoulli(
        Scope(list(range(n_features))), out_channels=n_nodes,
        num_repetitions=n_structures,
    )  # fmt: skip
    return RatSPN(
        [leaves], n_root_nodes=1, n_region_nodes=n_nodes, outer_product=True,
        depth=3 if n_features > 32 else 2, num_repetitions=n_structures,
    )  # fmt: skip


METHODS = {"learn_spn": (learn_spn, LEAVES), "rat_spn": (rat_spn, NETWORKS)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", help="one set")
    parser.add_argument("--method", choices=METHODS, default="learn_spn")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="CPU seconds of a random network"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    learn, settings = METHODS[options.method]
    print("| set | setting | validation | test | CPU s |")
    print("| --- | --- | --: | --: | --: |")
    for name, (train, validation, test) in load_density_sets(Path(options.data)):
        if options.only not in (None, name):
            continue
        rows = []
        for setting in settings:
            start = time.process_time()
            score = learn(train, validation, setting, options.limit)
            seconds = time.process_time() - start
            rows.append((score(validation), score(test), setting, seconds))
        validation, test, setting, seconds = max(rows)
        numbers = f"{validation:.2f} | {test:.2f} | {seconds:.1f}"
        print(f"| {name} | {setting} | {numbers} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
