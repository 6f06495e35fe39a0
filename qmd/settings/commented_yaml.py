"""YAML of settings files with lines and comments, parsed by ruamel.yaml.

Import this module only for a change or for an error message: it takes ten times as long.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from qmd.errors import ConfigError
from qmd.text import yaml_reader

_LINE = re.compile(r"line: (\d+)")
_TWICE = re.compile('found duplicate key "(?P<key>.*?)"')


def yaml() -> Any:
    """Return a parser and writer of YAML that keeps comments."""
    from ruamel.yaml import YAML

    handler = YAML()
    handler.preserve_quotes = True
    handler.width = 4096
    handler.indent(mapping=2, sequence=4, offset=2)
    return handler


def parse_commented(text: str, path: Path) -> Any:
    """Parse a settings file with its lines and comments; None if it is empty.

    Raises:
        ConfigError: it is not YAML, or over a limit; with the line.
    """
    if not text:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # to ruamel.yaml, a CR ends no comment
    try:
        yaml_reader.read(text, yaml_reader.SETTINGS)
    except yaml_reader.LimitExceeded as error:
        raise ConfigError(path, f"the file {error}", line=error.line) from error
    except yaml_reader.YamlError as error:
        if yaml_reader.is_slow(text):
            raise ConfigError(path, str(error), line=error.line) from error
    from ruamel.yaml.error import ReusedAnchorWarning, YAMLError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            _check_keys(text, path)
            return yaml().load(text)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        twice = _TWICE.match(problem)
        if twice:
            problem = f"duplicate key '{twice['key']}': keep one of the two"
        raise ConfigError(path, str(problem), line=mark.line + 1 if mark else None) from error
    except RecursionError as error:
        raise ConfigError(path, "this is nested too deeply") from error
    except NotImplementedError as error:  # ruamel.yaml keeps one of two comments at a value
        problem = (
            "the value on a line of its own has a comment before and blank lines after it, which "
            "cannot both be kept: write the value behind its key"
        )
        line = _LINE.search(str(error))
        raise ConfigError(path, problem, line=int(line[1]) + 1 if line else None) from error
    except (LookupError, ValueError) as error:  # a value that is not what its tag says
        raise ConfigError(path, f"this cannot be read: {error}") from error


def _check_keys(text: str, path: Path) -> None:
    """Refuse a list or a mapping as a key: each nested one doubles the parsing time.

    Raises:
        ConfigError: there is one; with the line.
    """
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    waiting, seen = [yaml().compose(text)], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # a name of YAML stands for the same again
            continue
        seen.add(id(node))
        if isinstance(node, SequenceNode):
            waiting += node.value
        elif isinstance(node, MappingNode):
            for key, value in node.value:
                if not isinstance(key, ScalarNode):
                    raise ConfigError(path, "a key has to be text", line=key.start_mark.line + 1)
                waiting.append(value)
