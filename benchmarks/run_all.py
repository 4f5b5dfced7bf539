"""Run every benchmark script; write what they print as JSON and as one Markdown page.

    python benchmarks/run_all.py [--quick] [--data DIR] [--only NAME ...]
        [--use NAME=PYTHON ...] [--jobs N] [--minutes N] [--output DIR]

Each script is a process of its own. Those whose subject is speed, and those that use
all cores themselves, run one after another, so that none disturbs another; ``--jobs 2``
runs two of the others at the same time, those first that took longest in the last full
run. A peer that is not installed is left out by name; ``--use`` runs a script with
another interpreter, whose environment has peers that need other versions. A script of
``ARGUMENTS`` runs once with each list of arguments there.

A run that was interrupted, or that ``--minutes`` ended, continues where it stopped:
scripts whose results in ``--output`` are of the same code, arguments and interpreter
are not run again. ``--quick`` runs small sizes in a few minutes: it shows that all
runs, and its ratios mean little.

``update_pages.py`` writes the results of a full run into the pages that quote them.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from hashlib import sha256
from itertools import chain
from multiprocessing.pool import ThreadPool
from pathlib import Path

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parent / "sklboolean"
ALONE = {
    "bench_boolean_svc", "bench_boosting", "bench_counterfactuals",
    "bench_gradient_boosting", "bench_kernel_perceptron", "bench_kernels",
    "bench_linear_model", "bench_nearest", "bench_preprocessing", "bench_rules",
    "bench_shapley", "bench_subgroups", "bench_waiting",
    "bench_dask",  # two worker processes
}  # fmt: skip
# The published tables: those on which no shape of the ensembles was chosen, without
# EBM, which takes as long as all others together, and EBM on seven of them.
REPORT = ["--half", "report", "--noise", "0"]
ARGUMENTS = {
    "bench_tables": [
        [*REPORT, "--seeds", "2", "1", "1", "1", "--without", "EBM"],
        [*REPORT, "--seeds", "1", "--sizes", "1000", "--targets", "classes", "--only",
         "BooleanEnsembleClassifier", "CatBoost", "EBM", "--tables", "attrition",
         "credit_g", "hmda", "oj", "titanic", "bank", "shoppers"],
    ],
}  # fmt: skip
HEAD = (
    "# One full run of the benchmarks",
    "",
    "Written by `run_all.py`; `benchmarks/README.md` tells how the numbers are made, "
    "and what they say.",
)
TABLE = re.compile(r"^### (?P<title>.+)\n\n(?P<lines>(?:\|.*\n?)+)", re.MULTILINE)


def scripts(only=()):
    """Return the paths of the scripts, those of the papers last."""
    found = [
        *sorted(FOLDER.glob("bench_*.py")),
        FOLDER / "mistake_curves.py",
        *sorted((FOLDER / "papers").glob("[!_]*.py")),
    ]
    return [path for path in found if not only or path.stem in only]


def cells(line):
    """Return the texts between the bars of a Markdown line."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """Return the Markdown tables that a script printed, with their titles."""
    found = []
    for match in TABLE.finditer(text):
        names, _rule, *rows = map(cells, match["lines"].splitlines())
        found.append({"title": match["title"], "columns": names, "rows": rows})
    return found


def digest(path, *more):
    """Return a short hash of a script and of all the code that it may call."""
    code = sha256()
    for file in [
        path,
        *sorted(FOLDER.glob("_*.py")),
        *sorted(PACKAGE.rglob("*.py*")),
        *sorted(PACKAGE.rglob("*.h")),
    ]:
        if file.suffix != ".pyc":
            code.update(file.read_bytes())
    return sha256(json.dumps([code.hexdigest(), *more]).encode()).hexdigest()[:12]


def summary(path, output, code):
    """Return the tables of what a script printed, and the machine they are of."""
    return {
        "script": str(path.relative_to(FOLDER)),
        "code": code,
        "machine": output.partition("\n\n")[0].splitlines(),
        "left_out": list(
            dict.fromkeys(re.findall(r"^Peer left out: (.*)", output, re.MULTILINE))
        ),
        "tables": tables(output),
    }


def run(path, python, runs, code, folder):
    """Run one script with each list of arguments; keep and return what it prints."""
    start = time.perf_counter()
    keep = []
    if "--keep" in path.read_text("utf-8"):  # a long one, which can itself continue
        keep = ["--keep", str(folder / "parts" / f"{path.stem}-{code}")]
    done = [
        subprocess.run(
            [python, str(path), *arguments, *keep], capture_output=True, text=True
        )
        for arguments in runs
    ]
    printed = "\n".join(one.stdout for one in done)
    (folder / f"{path.stem}.txt").write_text(printed)
    (folder / f"{path.stem}.err").write_text("\n".join(one.stderr for one in done))
    return {
        **summary(path, printed, code),
        "exit_status": max((one.returncode for one in done), key=abs),
        "wall_seconds": round(time.perf_counter() - start, 1),
    }


def as_markdown(results, folder):
    """Return one page: a line on each script, then what each printed."""
    lines = [*HEAD, "", "| script | seconds | exit status | tables |"]
    lines.append("| ------ | ------: | ----------: | -----: |")
    for result in results:
        script, seconds = result["script"], result["wall_seconds"]
        status, n_tables = result["exit_status"], len(result["tables"])
        lines.append(f"| `{script}` | {seconds} | {status} | {n_tables} |")
    for result in results:
        name = Path(result["script"]).stem
        output = (folder / f"{name}.txt").read_text()
        head, _, body = output.partition("\n\n")
        lines += ["", f"## `{result['script']}`", "", "```text", head, "```", "", body]
        if result["exit_status"]:
            errors = (folder / f"{name}.err").read_text().rstrip()
            lines += ["```text", errors, "```"]
    return "\n".join(lines) + "\n"


def write(results, output):
    """Write results.json and results.md, in the order of the scripts."""
    order = {str(path.relative_to(FOLDER)): i for i, path in enumerate(scripts())}
    results = sorted(
        (result for result in results.values() if result["script"] in order),
        key=lambda result: order[result["script"]],
    )
    lines = ",\n".join(json.dumps(result) for result in results)
    (output / "results.json").write_text(f"[\n{lines}\n]\n")
    page = as_markdown(results, output / "output")
    (output / "results.md").write_text(page)


def read(path):
    """Return the results of a run by script."""
    if not path.exists():
        return {}
    return {result["script"]: result for result in json.loads(path.read_text())}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="minutes, small sizes")
    parser.add_argument("--data", help="folder of real tables, see README.md")
    parser.add_argument("--only", nargs="+", default=(), help="names without .py")
    parser.add_argument(
        "--use", nargs="+", default=(), metavar="NAME=PYTHON",
        help="interpreter for a script, the one that runs this file for all others",
    )  # fmt: skip
    parser.add_argument(
        "--jobs", type=int, default=1,
        help="scripts at the same time, of those that need not run alone",
    )  # fmt: skip
    parser.add_argument(
        "--minutes", type=float, default=float("inf"),
        help="begin no script after this time; run again to continue",
    )  # fmt: skip
    parser.add_argument("--output", default="benchmark-results", help="folder to write")
    options = parser.parse_args(arguments)
    chosen = scripts(options.only)
    interpreters = dict(pair.split("=", 1) for pair in options.use)
    unknown = {*options.only, *interpreters} - {path.stem for path in scripts()}
    if unknown:
        parser.error(f"no such script: {', '.join(sorted(unknown))}")
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if options.data:
        os.environ["SKLBOOLEAN_DATA"] = options.data
    output = Path(options.output)
    (output / "output").mkdir(parents=True, exist_ok=True)
    results = read(output / "results.json")
    begin = time.perf_counter()

    def measure(path):
        """Run a script; return its path and result, or None if it was too late."""
        python = interpreters.get(path.stem, sys.executable)
        runs = [["--quick"]] if options.quick else ARGUMENTS.get(path.stem, [[]])
        code = digest(path, options.data, python, runs)
        earlier = results.get(str(path.relative_to(FOLDER)), {"code": None})
        if earlier["code"] == code and earlier["exit_status"] == 0:
            return path, earlier
        if time.perf_counter() - begin > 60 * options.minutes:
            return path, None
        print(f"{path.stem} ...", flush=True)
        return path, run(path, python, runs, code, output / "output")

    last = read(FOLDER / "results.json")
    seconds = {script: one["wall_seconds"] for script, one in last.items()}
    others = sorted(
        (path for path in chosen if path.stem not in ALONE),
        key=lambda path: -seconds.get(str(path.relative_to(FOLDER)), 0),
    )
    alone = [path for path in chosen if path.stem in ALONE]
    failed, waiting = [], []
    with ThreadPool(options.jobs) as pool:
        for path, result in chain(
            pool.imap_unordered(measure, others), map(measure, alone)
        ):
            if result is None:
                waiting.append(path.stem)
                continue
            print(f"{path.stem}: {result['wall_seconds']} s", flush=True)
            results[result["script"]] = result
            # Written after each: what is done is kept when one is interrupted.
            write(results, output)
            if result["exit_status"]:
                failed.append(path.stem)
    write(results, output)
    if failed:
        print(f"failed: {', '.join(failed)}; see {output / 'results.md'}")
    if waiting:
        print(f"not begun: {', '.join(waiting)}; run again to continue")
    return int(bool(failed or waiting))


if __name__ == "__main__":
    sys.exit(main())
