"""Mutation tests: small changes to the code, each of which some test should notice.

    make mutants [OPTIONS="--room locking --sample 0"]

Rooms, their modules, the tests of each module and the survivors that are accepted stand in
tests/mutants.toml. Changes are made by the operators of cosmic-ray, and a few of ours, in a copy of
the project; the tests run in it one change after the other. A change that breaks the syntax, or
only an annotation, is none.

The exit code is 1 where a room has a lower score than `GOAL`.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Keyword

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "tests" / "mutants.toml"

GOAL = 0.85
"""Share of its mutants that the tests of a room kill, or that are accepted, at least."""

SEED = "1"
"""Part of the digest by which mutants are chosen."""

IMPORTED = "ignore::pytest.PytestAssertRewriteWarning"
"""Libraries that the tests find imported."""

NAMES = (
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in (
            "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul RShift_LShift"
            " LShift_RShift BitOr_BitAnd BitAnd_BitOr BitXor_BitAnd"
        ).split()
    ),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in (
            "Eq_NotEq NotEq_Eq Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Is_IsNot"
            " IsNot_Is"
        ).split()
    ),
    *(f"ReplaceUnaryOperator_{pair}" for pair in "USub_UAdd Delete_Not Delete_Invert".split()),
    *"AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd".split(),
    *"ReplaceBreakWithContinue ReplaceContinueWithBreak ExceptionReplacer NumberReplacer".split(),
    *"RemoveDecorator ZeroIterationForLoop".split(),
)
"""Operators of cosmic-ray. Of the many ways to replace an operator, those that a slip could be."""


_REACHED = ("atom_expr", "power")
"""Kinds of node with an attribute, an item or a call at their end."""


class _Ours(Operator):
    """Base of our operators; cosmic-ray does not remove statements."""

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return no examples."""
        return ()


class RemoveStatement(_Ours):
    """Remove a call with an unused result, or an assignment to an attribute or item."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the positions of removable statements."""
        if getattr(node.parent, "type", None) != "simple_stmt":
            return
        is_removed = node.type in _REACHED and node.get_last_leaf() == ")"
        if node.type == "expr_stmt":
            target, sign = node.children[:2]
            is_removed = sign.type == "operator" and (target.type in _REACHED or sign.value != "=")
        if is_removed:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Replace the statement by `pass`."""
        return Keyword("pass", node.start_pos, prefix=node.get_first_leaf().prefix)


class ReturnNone(_Ours):
    """Return None instead of a value."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the positions of returned values."""
        if node.type == "return_stmt" and node.children[1].get_code().strip() != "None":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Replace the value by None."""
        node.children = [node.children[0], Keyword("None", node.start_pos, prefix=" ")]
        return node


class Mutant(NamedTuple):
    """A changed module.

    Attributes:
        number: of the first line that differs, from 1.
        line: as it was.
        changed: as it is now.
    """

    module: str
    number: int
    line: str
    changed: str
    text: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Key of the mutant while the line is in the module."""
        return self.module, self.line, self.changed

    @property
    def lot(self) -> str:
        """By which it is drawn; the same wherever the module is and the line stands in it."""
        named = "\0".join((SEED, Path(self.module).name, self.line, self.changed))
        return sha256(named.encode()).hexdigest()


def mutants(module: str, source: str) -> Iterator[Mutant]:
    """Make all changes to a module that say something else in Python."""
    before, lines = "", source.splitlines()
    for statement in get_ast(source).children:
        code = statement.get_code()
        after = source[len(before) + len(code) :]
        for changed in _changes(code):
            text = before + changed + after
            pairs = enumerate(zip(lines, text.splitlines(), strict=False))
            at, (line, other) = next((n, pair) for n, pair in pairs if len({*pair}) > 1)
            yield Mutant(module, at + 1, line.strip(), other.strip(), text)
        before += code


def _changes(code: str) -> Iterator[str]:
    """Make all changes to a statement that say something else."""
    tree = get_ast(code)
    seen = {_meaning(code)}
    operators = [get_operator(f"core/{name}")() for name in NAMES]
    for operator in (*operators, RemoveStatement(), ReturnNone()):
        places = sum(1 for node in ast_nodes(tree) for _ in operator.mutation_positions(node))
        for place in range(places):
            text = mutate_code(code, operator, place)
            meaning = text and _meaning(text)
            if meaning and meaning not in seen:
                seen.add(meaning)
                yield text


def _meaning(source: str) -> str | None:
    """Return a module without annotations and docstrings; None if it is not Python."""
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.arguments):  # which may be named is of no use to a test
            node.args = [*node.posonlyargs, *node.args, *node.kwonlyargs]
            node.defaults = [*node.defaults, *filter(None, node.kw_defaults)]
            node.posonlyargs, node.kwonlyargs, node.kw_defaults = [], [], []
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.test, node.body = ast.Constant(False), [ast.Pass()]
        elif isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: never comes to it
            node.value = ast.Constant(True)
    return ast.unparse(tree)


class Trial:
    """A copy of the project, in which mutants are tested.

    Args:
        python: of the environment that has what the tests need.
    """

    def __init__(self, folder: Path, python: Path) -> None:
        self._told = folder / "output"
        self._seconds: dict[str, float] = {}
        self.folder = folder / "project"
        shutil.copytree(
            ROOT,
            self.folder,
            ignore=shutil.ignore_patterns(".*", "dist", "build", "node_modules"),
        )
        compiling = [str(python), "-m", "compileall", "-q", "qmd", "tests", "bench"]
        subprocess.run(compiling, cwd=self.folder, check=True)
        self._server = subprocess.Popen(
            [str(python), "-m", "tools.forked_tests"],
            cwd=self.folder,
            env={**os.environ, "HYPOTHESIS_PROFILE": "mutants"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _exit_code(self, tests: list[str], timeout: float) -> int:
        """Run tests until one fails."""
        server = self._server
        assert server.stdin is not None
        assert server.stdout is not None
        arguments = ["-q", "-x", "-p", "no:cacheprovider", "-W", IMPORTED, *tests]
        line = json.dumps([arguments, ceil(timeout), str(self._told)])
        print(line, file=server.stdin, flush=True)
        return int(server.stdout.readline())

    def seconds(self, tests: list[str]) -> float:
        """Seconds that tests take without a mutant, each file measured once.

        Raises:
            SystemExit: they fail, or take an hour.
        """
        for each in tests:
            if each not in self._seconds:
                began = time.monotonic()
                if self._exit_code([each], 3600):
                    raise SystemExit(f"Without a mutant, tests fail:\n\n{self._told.read_text()}")
                self._seconds[each] = time.monotonic() - began
        return sum(self._seconds[each] for each in tests)

    def outcome(self, mutant: Mutant, tests: list[str], timeout: float) -> str:
        """Test a mutant: 'killed', 'timeout' or 'survived'."""
        file = self.folder / mutant.module
        source = file.read_text(encoding="utf-8")
        for cached in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            cached.unlink()
        file.write_text(mutant.text, encoding="utf-8")
        try:
            code = self._exit_code(tests, timeout)
        finally:
            file.write_text(source, encoding="utf-8")
        return {0: "survived", -9: "timeout"}.get(code, "killed")


def main(python: Path, *, rooms: list[str], modules: list[str], sample: int) -> int:
    """Test the mutants of some rooms, and print a score for each.

    Args:
        rooms: names; none means all.
        modules: parts of their names; none means all.
        sample: mutants of a module at most; 0: all.
    """
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    accepted = {(each["module"], each["line"], each.get("mutant")) for each in table["survivor"]}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with tempfile.TemporaryDirectory(prefix="qmd-mutants-") as folder:
        trial = Trial(Path(folder), python.absolute())
        for room, name, tests in (
            (room, name, tests)
            for room, named in table["room"].items()
            for name, tests in named.items()
            if (not rooms or room in rooms)
            and (not modules or any(each in name for each in modules))
        ):
            made = sorted(
                mutants(name, (ROOT / name).read_text(encoding="utf-8")), key=lambda m: m.lot
            )
            chosen = sorted(made[: sample or None], key=lambda mutant: mutant.number)
            timeout = 15 + 3 * trial.seconds(tests)
            print(f"{name}: {len(chosen)} of {len(made)} mutants", flush=True)
            own = Counter[str]()
            for mutant in chosen:
                outcome = trial.outcome(mutant, tests, timeout)
                if outcome == "survived":
                    any_other = (mutant.module, mutant.line, None)
                    outcome = "accepted" if {mutant.key, any_other} & accepted else outcome
                    print(f"  {outcome} {mutant.module}:{mutant.number}", flush=True)
                    print(f"    - {mutant.line}\n    + {mutant.changed}", flush=True)
                own[outcome] += 1
            print(f"  {_told(own)}", flush=True)
            counts[room] += own
    print()
    for room, counted in counts.items():
        print(f"{room:12} {_told(counted)}")
    return int(any(_score(counted) < GOAL for counted in counts.values()))


def _score(counted: Counter[str]) -> float:
    """Share of the mutants that were killed, of those that are not accepted."""
    killed = counted["killed"] + counted["timeout"]
    return killed / ((killed + counted["survived"]) or 1)


def _told(counted: Counter[str]) -> str:
    figures = ", ".join(
        f"{counted[outcome]} {outcome}" for outcome in ("killed", "timeout", "survived", "accepted")
    )
    return f"{_score(counted):.1%}: {figures}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", type=Path, help="of the environment that has the project")
    parser.add_argument("--room", action="append", default=[], dest="rooms")
    parser.add_argument("--module", action="append", default=[], dest="modules")
    parser.add_argument("--sample", type=int, default=40, help="mutants of a module; 0: all (40)")
    sys.exit(main(**vars(parser.parse_args())))
