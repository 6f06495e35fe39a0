"""Each operation on each surface, with all of its parameters."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import click
import pytest
import typer.main

from qmd import operations
from qmd.analytics.views import views
from qmd.declaration.operation import OPERATIONS
from qmd.declaration.parameters import Selection
from qmd.surfaces.cli.app import application
from qmd.surfaces.python.clients import AsyncKnowledgeBase, KnowledgeBase
from qmd.surfaces.tools import schemas

for module in pkgutil.iter_modules(operations.__path__):
    importlib.import_module(f"qmd.operations.{module.name}")

ALL = sorted(OPERATIONS)
OF_NO_OPERATION = {
    "bench": "It runs judged queries of a file, and is above the operations that it measures.",
    "cluster build": "It makes shards before there is an index of them.",
    "cluster status": "It is about files, and opens no index.",
    "cluster verify": "It is about files, and opens no index.",
    "help": "It is about the program, not about an index.",
    "init": "It makes the folder of an index before there is one.",
    "mcp": "It serves the operations.",
    "mcp status": "It is about a process that serves.",
    "mcp stop": "It is about a process that serves.",
    "models list": "Models belong to the machine, not to an index.",
    "models pull": "Models belong to the machine, not to an index.",
    "open": "It opens a page that serves the operations.",
    "server": "It serves the operations.",
    "service install": "It is about a process that serves.",
    "service remove": "It is about a process that serves.",
    "service status": "It is about a process that serves.",
    "skill install": "It is about a file of the program.",
    "skill show": "It is about a file of the program.",
    "trust list": "Approvals are of the user, for all projects.",
    "trust revoke": "Approvals are of the user, for all projects.",
    "version": "It is about the program, not about an index.",
    "watch": "It runs operations again and again, until it is interrupted.",
}
"""Commands that are made of no operation, with the reason."""

TOOLS = {tool.name: tool for tool in schemas.TOOLS}


def commands():
    """Commands of the command line by their words, as in `collection add`."""
    root = typer.main.get_command(application([]))
    found = {}
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            found[name] = command
        else:
            found |= {f"{name} {each}": inner[each] for each in inner}
    return found


COMMANDS = commands()


def operation_of(command):
    """Operation that a command is made of, if any."""
    return getattr(inspect.unwrap(command.callback), "operation", None)


def test_operations_are_found():
    assert {"search", "query", "vector_search", "get", "update", "embed", "sql"} <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_what_a_surface_lacks_has_a_reason(name):
    operation = OPERATIONS[name]
    reasons = dict(operation.absent)
    for each in operation.parameters.values():
        reasons |= {(each.name, surface): reason for surface, reason in each.about.absent.items()}
    short = {at: reason for at, reason in reasons.items() if len(reason.split()) < 3}
    assert short == {}
    assert [at for at, reason in reasons.items() if reason.strip()[-1] not in ".!"] == []


@pytest.mark.parametrize("client", [AsyncKnowledgeBase, KnowledgeBase])
@pytest.mark.parametrize("name", ALL)
def test_python_has_each_operation_with_its_parameters(name, client):
    operation = OPERATIONS[name]
    if "python" in operation.absent:
        assert not hasattr(client, name)
        return
    for method in (name, *operation.aliases):
        taken = list(inspect.signature(getattr(client, method)).parameters)
        assert taken[1:] == list(operation.parameters_on("python"))


@pytest.mark.parametrize("name", ALL)
def test_the_command_line_has_each_operation_with_its_parameters(name):
    operation = OPERATIONS[name]
    words = operation.command
    if "command" in operation.absent:
        assert words not in COMMANDS
        return
    options = {flag for each in COMMANDS[words].params for flag in (each.name, *each.opts)}
    for each in operation.parameters_on("command").values():
        asked = set(each.about.flags) or {each.name, "--" + each.name.replace("_", "-")}
        assert asked & options, f"{words} lacks {each.name}"


def test_each_command_is_made_of_an_operation_or_says_why_not():
    by_hand = {
        words for words, each in COMMANDS.items() if operation_of(each) not in OPERATIONS.values()
    }
    assert by_hand == set(OF_NO_OPERATION) & set(COMMANDS)
    made = {words: operation_of(each) for words, each in COMMANDS.items() if words not in by_hand}
    other = {words for words, each in made.items() if words != each.command}
    assert {words: COMMANDS[words].hidden for words in other} == dict.fromkeys(other, True)


@pytest.mark.parametrize("name", ALL)
def test_there_is_a_tool_for_each_operation_with_its_parameters(name):
    operation = OPERATIONS[name]
    if "tool" in operation.absent:
        assert operation.tool not in TOOLS
        return
    properties = TOOLS[operation.tool].input["properties"]
    for each in operation.parameters_on("tool").values():
        described = properties[each.json].get("description", "")
        assert described.startswith(each.about.help_on("tool").partition("{")[0])
        assert bool(described) == bool(each.about.help_on("tool"))


@pytest.mark.parametrize("function", ["bm25", "vsearch", "hybrid"])
def test_searches_in_sql_take_what_chooses_documents(function):
    [view] = [view for view in views() if view.name == function]
    assert set(Selection.__annotations__) <= {each.name for each in view.parameters}


@pytest.mark.parametrize("name", ALL)
def test_an_operation_says_what_it_does_and_what_each_parameter_is(name):
    operation = OPERATIONS[name]
    text = inspect.getdoc(operation.function)
    assert text
    assert text.splitlines()[0].endswith(".")
    listed = text.partition("Args:")[2]
    group = "among" if set(Selection.__annotations__) <= set(operation.parameters) else None
    own = [
        each for each in operation.parameters if not (group and each in Selection.__annotations__)
    ]
    assert [each for each in own if f"{each}:" not in listed and f"{each}," not in listed] == []
    for each in operation.parameters.values():
        assert each.about.help
        assert click.unstyle(each.about.help) == each.about.help
