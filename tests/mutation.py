"""Change one thing in the package, and see whether a test notices.

Usage, with an environment that has the package and what its tests need::

    python tests/mutation.py --output after.jsonl
    python tests/mutation.py --compare before.jsonl after.jsonl

One session of pytest collects the quick tests of the packages. A first fork of it runs
them all with a probe before every statement that will change. Then each mutant gets a
fork of its own, in which the function has other code; no file changes. The fork runs
tests that reach the statement, the quickest first, until one fails. Not for Windows.

The mutants of a seed are chosen by a hash of the function and of the form of the
statement, without the names of variables. So what is not rewritten between two versions
has the same mutants in both, and their results can be compared.
"""

import argparse
import ast
import copy
import gc
import hashlib
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import types
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PACKAGES = ("_core", "kernels", "linear_model", "rules", "boosting")
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
WALL_LIMIT = 1800  # of a fork that waits without computing, or on a busy machine


def changed_nodes(node):
    """Yield every node that may stand in place of this one."""
    changed = copy.copy(node)
    match node:
        case ast.Compare(ops=[operator, *others]):
            changed.ops = [COMPARISONS[type(operator)](), *others]
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


def put(parent, name, node, new):
    """Replace a child of a node by other nodes of its list, or by one node."""
    value = getattr(parent, name)
    if isinstance(value, list):
        place = next(i for i, child in enumerate(value) if child is node)
        value[place : place + 1] = new
    else:
        setattr(parent, name, *new)


def form(node):
    """The text of a node without names of variables, which may be renamed."""
    if not isinstance(node, ast.AST):
        return repr(node)
    inner = (
        ",".join(map(form, value)) if isinstance(value, list) else form(value)
        for name, value in ast.iter_fields(node)
        if (type(node), name) not in {(ast.Name, "id"), (ast.arg, "arg")}
    )
    return f"{type(node).__name__}({' '.join(inner)})"


@dataclass
class Mutant:
    """A change of one node of a function.

    Parameters
    ----------
    file : Path
        The module.
    line : int
        Line of the node.
    function : str
        Qualified name of the outermost function.
    old, new : str
        First line of the node and of what replaces it.
    key : str
        The same in two versions of a package if the statement has the same form.
    n_before : int
        Number of changes that the walk over the file yields before this one.
    """

    file: Path
    line: int
    function: str
    old: str
    new: str
    key: str
    n_before: int
    tests: list = field(default_factory=list)  # (seconds, index of the item)


def nodes_of_functions(tree):
    """Yield nodes in bodies of functions: function, statement, its place, and the node.

    The place of a node or of a statement is its parent and the name of the field.
    """

    def walk(node, function, statement, path):
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST):
                    continue
                inner, own = function, statement
                if function and isinstance(child, ast.stmt):
                    own = (child, node, name)
                if own and function:
                    yield function, own, (child, node, name)
                parts = path
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    parts = [*path, child.name]
                in_body = name == "body" and isinstance(node, ast.FunctionDef)
                if in_body and not function:
                    inner, own = ".".join(path), (child, node, name)
                    yield inner, own, own
                yield from walk(child, inner, own, parts)

    yield from walk(tree, None, None, [])


def changes_of(tree):
    """Yield all changes of a file, in an order that only its text decides."""
    for function, statement, (node, parent, name) in nodes_of_functions(tree):
        for changed in changed_nodes(node):
            ast.copy_location(changed, node)
            yield function, statement, (node, parent, name, changed)


def first_line(node):
    return ast.unparse(node).partition("\n")[0]


def head(statement):
    """A statement without the statements inside it."""
    inner = {"body", "orelse", "finalbody", "handlers", "cases"}
    fields = {
        name: [] if name in inner and isinstance(value, list) else value
        for name, value in ast.iter_fields(statement)
    }
    return type(statement)(**fields)


def mutants_of(file):
    """Yield all mutants of a file; the same statement, twice in a function, counts."""
    seen = Counter()
    changes = changes_of(ast.parse(file.read_text("utf-8")))
    for n_before, (function, (statement, *_), change) in enumerate(changes):
        node, parent, name, changed = change
        text = " ".join(
            [function, form(head(statement)), type(parent).__name__, name]
            + [form(head(node)), form(head(changed))]
        )
        seen[text] += 1
        key = hashlib.sha256(f"{text} {seen[text]}".encode()).hexdigest()[:16]
        yield Mutant(
            file, node.lineno, function, first_line(node), first_line(changed), key,
            n_before,
        )  # fmt: skip


def chosen_mutants(folder, n_mutants, seed):
    """The mutants of a package that a seed chooses."""
    mutants = [
        each for file in sorted(folder.glob("*.py")) for each in mutants_of(file)
    ]

    def rank(mutant):
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()

    return sorted(mutants, key=rank)[:n_mutants]


def function_codes(code):
    """Yield the code of all functions and methods that a module makes on import."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            is_function = constant.co_flags & 0x01  # CO_OPTIMIZED: no class body
            yield from [constant] if is_function else function_codes(constant)


def install(file, tree):
    """Give the functions of an imported module the code of a changed tree."""
    codes = defaultdict(list)
    for code in function_codes(compile(tree, str(file), "exec")):
        codes[code.co_qualname, code.co_firstlineno].append(code)
    gc.unfreeze()  # what tests/conftest.py hides
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType):
            old = function.__code__
            if old.co_filename == str(file):
                new = codes.get((old.co_qualname, old.co_firstlineno), [])
                if len(new) == 1 and new[0].co_freevars == old.co_freevars:
                    function.__code__ = new[0]


def install_probes(file, mutants):
    """Let the statements of mutants note that they ran."""
    tree = ast.parse(file.read_text("utf-8"))
    wanted = {mutant.n_before: mutant.key for mutant in mutants}
    statements = {}
    for n_before, (_, place, _) in enumerate(changes_of(tree)):
        if n_before in wanted:
            statements.setdefault(id(place[0]), (place, []))[1].append(wanted[n_before])
    for (statement, parent, name), keys in statements.values():
        probe = ast.parse(f"__import__('mutation_probe').reached.update({keys})").body
        for node in ast.walk(probe[0]):
            ast.copy_location(node, statement)
        put(parent, name, statement, [*probe, statement])
    install(file, tree)


def install_mutant(mutant):
    tree = ast.parse(mutant.file.read_text("utf-8"))
    for n_before, (_, _, (node, parent, name, changed)) in enumerate(changes_of(tree)):
        if n_before == mutant.n_before:
            put(parent, name, node, [changed])
            break
    install(mutant.file, ast.fix_missing_locations(tree))


class Failures:
    """A plugin that notes which tests failed or were skipped."""

    def __init__(self):
        self.failed, self.skipped = [], []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.skipped:
            self.skipped.append(report.nodeid)


def run_items(items, until_failure):
    """Run tests; yield each with its CPU seconds and whether it passed."""
    failures = Failures()
    items[0].config.pluginmanager.register(failures)
    for item, following in zip(items, [*items[1:], None], strict=True):
        if until_failure and failures.failed:
            return
        started = time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        passed = item.nodeid not in failures.failed + failures.skipped
        yield item, time.process_time() - started, passed


def forked(work, seconds=None):
    """Return what a function returns in a fork, or a word for why it did not."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.setpgid(0, 0)
        if seconds:
            limit = int(time.process_time() + seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        try:
            message = json.dumps(work()).encode()
        except BaseException as error:  # a mutant may raise anything, anywhere
            message = json.dumps(["killed", f"{type(error).__name__}"]).encode()
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(message + b"\n")
        os._exit(0)
    os.close(writer)
    chunks, ends = [], time.monotonic() + (WALL_LIMIT if seconds else 36_000)
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(ends - time.monotonic(), 0))[0]:
            chunks.append(pipe.read(1 << 16))
            if not chunks[-1].endswith(b"\n") and chunks[-1]:
                continue
            break  # what the tests started may keep the other end open
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    status = os.waitpid(pid, 0)[1]
    if any(chunks):
        return json.loads(b"".join(chunks))
    crashed = os.WIFSIGNALED(status) and os.WTERMSIG(status) not in {
        signal.SIGXCPU, signal.SIGKILL,
    }  # fmt: skip
    return ["killed", "crash"] if crashed else ["timeout", ""]


class MutationRun:
    """A plugin that runs mutants where a session of pytest would run its tests."""

    def __init__(self, mutants, options):
        self.mutants, self.options = mutants, options

    def pytest_runtestloop(self, session):
        items = session.items
        recorded = forked(lambda: self.record(items))
        for mutant in self.mutants:
            mutant.tests = [
                (seconds, index)
                for index, seconds, keys in recorded
                if mutant.key in keys
            ]
        counts = Counter()
        with self.options.output.open("a", encoding="utf-8") as output:
            for number, mutant in enumerate(self.mutants):
                record = self.judge(mutant, items)
                counts[record["package"], record["result"]] += 1
                print(json.dumps(record), file=output, flush=True)
                if number % 20 == 0:  # tests that fail without a change are no judges
                    self.control(mutant, items)
        for (package, result), count in sorted(counts.items()):
            print(f"{package}: {count} {result}", file=sys.__stderr__)
        return True

    def record(self, items):
        """Run all tests with probes: (index, CPU seconds, keys that were reached)."""
        probe = types.ModuleType("mutation_probe")
        probe.reached = set()
        sys.modules["mutation_probe"] = probe
        files = defaultdict(list)
        for mutant in self.mutants:
            files[mutant.file].append(mutant)
        for file, mutants in files.items():
            install_probes(file, mutants)
        recorded = []
        for index, (_, seconds, passed) in enumerate(run_items(items, False)):
            if passed:
                recorded.append((index, seconds, sorted(probe.reached)))
            probe.reached.clear()
        return recorded

    def chosen_tests(self, mutant):
        """Tests that reach the mutant, the quickest first, within the seconds given."""
        total, chosen = 0.0, []
        for seconds, index in sorted(mutant.tests):
            total += seconds
            if chosen and total > self.options.seconds:
                break
            chosen.append(index)
        return chosen, min(total, self.options.seconds)

    def judge(self, mutant, items, change=install_mutant):
        indices, seconds = self.chosen_tests(mutant)
        result, last, started = "not reached", "", time.monotonic()

        def run():
            change(mutant)
            tests = [items[index] for index in indices]
            for item, _, passed in run_items(tests, True):
                if not passed:
                    return "killed", item.nodeid
            return "survived", ""

        if indices:
            result, last = forked(run, 5 * seconds + 20)
        return {
            "key": mutant.key,
            "package": mutant.file.parent.name,
            "file": f"{mutant.file.parent.name}/{mutant.file.name}",
            "line": mutant.line,
            "function": mutant.function,
            "old": mutant.old[:200],
            "new": mutant.new[:200],
            "result": result,
            "by": last,
            "n_tests": len(indices),
            "of": len(mutant.tests),
            "wall_seconds": round(time.monotonic() - started, 1),
        }

    def control(self, mutant, items):
        record = self.judge(mutant, items, change=lambda mutant: None)
        if record["result"] not in ("survived", "not reached"):
            print("failed without a change:", record, file=sys.__stderr__)


def compare(before, after):
    """Print what became of the mutants of one list in another one."""
    old, new = (
        {
            record["key"]: record
            for record in map(json.loads, file.open(encoding="utf-8"))
        }
        for file in (before, after)
    )
    both = [key for key in old if key in new]
    found = Counter((old[key]["result"], new[key]["result"]) for key in both)
    print(f"{len(old)} and {len(new)} mutants, {len(both)} of them in both:")
    for (first, second), count in sorted(found.items()):
        print(f"  {first} -> {second}: {count}")
    caught = {"killed", "timeout"}
    for key in both:
        if old[key]["result"] in caught and new[key]["result"] not in caught:
            print(json.dumps({"was killed by": old[key]["by"]} | new[key]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--packages", nargs="*", default=PACKAGES)
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--n-mutants", type=int, default=45, help="of each package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=float, default=15, help="of the tests of one mutant"
    )
    parser.add_argument("--output", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--pytest", nargs="*", default=["--cpu-budget=0"])
    parser.add_argument("--compare", type=Path, nargs=2)
    options = parser.parse_args()
    if options.compare:
        return compare(*options.compare)
    options.output = options.output.resolve()
    os.environ |= {"CI": "1", "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    sys.path[:] = [path for path in sys.path if Path(path) != Path(__file__).parent]
    package = Path(importlib.import_module("sklboolean").__file__).parent
    mutants = [
        mutant
        for name in options.packages
        for mutant in chosen_mutants(package / name, options.n_mutants, options.seed)
    ]
    if options.output.exists():  # what an interrupted run has done
        lines = options.output.read_text("utf-8").splitlines()
        done = {json.loads(line)["key"] for line in lines}
        mutants = [mutant for mutant in mutants if mutant.key not in done]
    tests = [options.checkout / "tests" / name.strip("_") for name in options.packages]
    return pytest.main(
        [
            "-qq",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            *options.pytest,
            f"--rootdir={options.checkout}",
        ]
        + [f"--config-file={options.checkout / 'pyproject.toml'}", *map(str, tests)],
        plugins=[MutationRun(mutants, options)],
    )


if __name__ == "__main__":
    sys.exit(main())
