"""Run every benchmark script; write what they print as JSON and as one Markdown page.

    python benchmarks/run_all.py [--quick] [--data DIR] [--only NAME ...] [--output DIR]

``--quick`` runs small sizes in a few minutes: it shows that all runs, and its ratios
mean little. Without it a run takes 40 minutes; benchmarks/results.md is of such a run.
Each script is a process of its own, one after another, so that none disturbs the times
of another. A peer that is not installed is left out by name.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
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


def run(path, arguments):
    """Run one script and return what came of it."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(path), *arguments], capture_output=True, text=True
    )
    return {
        "script": str(path.relative_to(FOLDER)),
        "arguments": arguments,
        "exit_status": done.returncode,
        "wall_seconds": round(time.perf_counter() - start, 1),
        "machine": done.stdout.partition("\n\n")[0].splitlines(),
        "left_out": re.findall(r"^Peer left out: (.*)", done.stdout, re.MULTILINE),
        "tables": tables(done.stdout),
        "output": done.stdout,
        "errors": done.stderr,
    }


def as_markdown(results):
    """Return one page: a line on each script, then what each printed."""
    lines = [*HEAD, "", "| script | seconds | exit status | tables |"]
    lines.append("| ------ | ------: | ----------: | -----: |")
    for result in results:
        script, seconds = result["script"], result["wall_seconds"]
        status, n_tables = result["exit_status"], len(result["tables"])
        lines.append(f"| `{script}` | {seconds} | {status} | {n_tables} |")
    for result in results:
        head, _, body = result["output"].partition("\n\n")
        lines += ["", f"## `{result['script']}`", "", "```text", head, "```", "", body]
        if result["exit_status"]:
            lines += ["```text", result["errors"].rstrip(), "```"]
    return "\n".join(lines) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="minutes, small sizes")
    parser.add_argument("--data", help="folder of real tables, see README.md")
    parser.add_argument("--only", nargs="+", default=(), help="names without .py")
    parser.add_argument("--output", default="benchmark-results", help="folder to write")
    options = parser.parse_args(arguments)
    chosen = scripts(options.only)
    unknown = set(options.only) - {path.stem for path in chosen}
    if unknown:
        parser.error(f"no such script: {', '.join(sorted(unknown))}")
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    if options.data:
        os.environ["SKLBOOLEAN_DATA"] = options.data
    output, results = Path(options.output), []
    output.mkdir(parents=True, exist_ok=True)
    for path in chosen:
        print(f"{path.stem} ...", end=" ", flush=True)
        results.append(run(path, ["--quick"] if options.quick else []))
        print(f"{results[-1]['wall_seconds']} s", flush=True)
        # Written after each: what is done is kept when one is interrupted.
        (output / "results.json").write_text(json.dumps(results, indent=1))
        (output / "results.md").write_text(as_markdown(results))
    failed = [result["script"] for result in results if result["exit_status"]]
    if failed:
        print(f"failed: {', '.join(failed)}; see {output / 'results.md'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
