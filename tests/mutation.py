"""Change one thing in a copy of the package, and see whether a test notices.

Usage, in a checkout whose package is installed::

    mkdir /tmp/copy
    cp -r "$(python -P -c 'import sklboolean as s; print(*s.__path__)')" /tmp/copy
    python tests/mutation.py /tmp/copy/sklboolean --n-mutants 20 --output mutants.jsonl

The same seed chooses the same mutants of the same code, so that two suites can be
compared: ``--checkout`` names the folder whose tests run.
"""

import argparse
import ast
import copy
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("_core", "kernels", "linear_model", "rules")
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And}
FUNCTIONS = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
    "any": "all", "all": "any",
}  # fmt: skip


def changed_nodes(node):
    """Yield every node that may stand in place of this one."""
    changed = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[operator, *_]):
            changed.ops[0] = COMPARISONS[type(operator)]()
            yield changed
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.BoolOp():
            changed.op = OPERATORS[type(node.op)]()
            yield changed
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield from (ast.Constant(value + step) for step in (1, -1))
        case ast.Name(id=name) if name in FUNCTIONS:
            yield ast.Name(FUNCTIONS[name], node.ctx)
        case ast.Attribute(attr=name) if name in FUNCTIONS:
            changed.attr = FUNCTIONS[name]
            yield changed
        case ast.If() | ast.While() | ast.IfExp():
            changed.test = ast.UnaryOp(ast.Not(), node.test)
            yield changed


@dataclass
class Mutant:
    """A change of one node: ``changed`` stands in place of what the parent holds."""

    file: Path
    tree: ast.Module
    parent: ast.AST
    field: str
    node: ast.AST
    changed: ast.AST

    def text(self):
        """The source of the whole file with the change, without comments."""
        value = getattr(self.parent, self.field)
        new = self.changed
        if isinstance(value, list):
            new = [new if each is self.node else each for each in value]
        setattr(self.parent, self.field, new)
        text = ast.unparse(ast.fix_missing_locations(self.tree))
        setattr(self.parent, self.field, value)
        return text


def mutants_of(file):
    """Yield all mutants of a file."""
    tree = ast.parse(file.read_text("utf-8"))
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            for node in value if isinstance(value, list) else [value]:
                for changed in changed_nodes(node):
                    yield Mutant(file, tree, parent, field, node, changed)


def first_line(node):
    return ast.unparse(node).partition("\n")[0]


def related_tests(checkout, file):
    """Test files of the package of a module; those that name the module come first."""
    tests = checkout / "tests" / file.parent.name.strip("_")
    module = file.stem.strip("_")

    def distance(test):
        return (module not in test.stem, module not in test.read_text("utf-8"), test)

    return sorted(tests.glob("test_*.py"), key=distance)


def run_tests(checkout, package, tests, limit):
    """Run tests on the copy: 'survived', 'killed' or 'timeout', and the last line."""
    environment = os.environ | {
        "PYTHONPATH": str(package.parent), "PYTHONSAFEPATH": "1", "CI": "1",
        "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *map(str, tests)],
        cwd=checkout, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        lines = process.communicate(timeout=limit)[0].strip().splitlines()
    except subprocess.TimeoutExpired:
        return "timeout", ""
    finally:
        if process.returncode is None:  # with all processes that the tests started
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    killers = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    result = "killed" if process.returncode else "survived"
    return result, (killers or lines or [""])[-1][:200]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("package", type=Path, help="folder of a copy of sklboolean")
    parser.add_argument("--packages", nargs="*", default=PACKAGES)
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--n-mutants", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--also", nargs="*", default=[], help="tests run for all, last")
    parser.add_argument("--output", type=Path, default=Path("mutants.jsonl"))
    options = parser.parse_args()
    package, checkout = options.package.resolve(), options.checkout.resolve()
    if package.name != "sklboolean":
        parser.error(f"{package} must be a folder named sklboolean.")
    if (package.parent / "tests").exists() or "site-packages" in package.parts:
        parser.error(f"{package} is not a copy; its files would be changed.")

    mutants = [
        mutant
        for folder in options.packages
        for file in sorted((package / folder).glob("*.py"))
        for mutant in mutants_of(file)
    ]
    chosen = random.Random(options.seed).sample(mutants, options.n_mutants)
    limits, counts = {}, dict.fromkeys(("killed", "timeout", "survived"), 0)
    with options.output.open("w", encoding="utf-8") as output:
        for mutant in chosen:
            file = mutant.file
            tests = [*related_tests(checkout, file), *options.also]
            started = time.perf_counter()
            if file.parent not in limits:  # three times as long as without a change
                result, last = run_tests(checkout, package, tests, None)
                assert result == "survived", f"The tests fail without a change: {last}"
                limits[file.parent] = 3 * (time.perf_counter() - started) + 30
                started = time.perf_counter()
            text = file.read_bytes()
            try:
                file.write_text(mutant.text(), "utf-8")
                result, last = run_tests(checkout, package, tests, limits[file.parent])
            finally:
                file.write_bytes(text)
            counts[result] += 1
            record = {
                "file": str(file.relative_to(package)),
                "line": mutant.node.lineno,
                "old": first_line(mutant.node),
                "new": first_line(mutant.changed),
                "result": result,
                "by": last,
                "seconds": round(time.perf_counter() - started, 1),
            }
            print(json.dumps(record), file=output, flush=True)
    print(f"{len(mutants)} mutants can be made. Of {options.n_mutants}: {counts}")


if __name__ == "__main__":
    main()
