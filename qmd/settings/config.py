"""File of the settings, index.yml: its text, its digest and what it sets.

Defaults, then index.yml, then the environment (`environment.py`), then flags.
"""

from __future__ import annotations

import codecs
import os
import time
from collections.abc import Hashable
from pathlib import Path

from qmd.errors import ConfigError
from qmd.patterns import pattern
from qmd.settings.environment import Place
from qmd.settings.schema import Settings
from qmd.text import hashes

MAX_SETTINGS_BYTES = 1 << 20
"""Bytes of a settings file. Its characters have a limit of their own."""

CLOCK_TICK_NS = 2_000_000_000
"""Nanoseconds of a file system's clock tick, at worst (FAT)."""

_SEVERAL_WAYS = pattern(r"<<|!|(?<![\w./-])[-+]?(?:0+\d|\d+_|\d{4}-\d)")
"""YAML that parsers read differently: merged keys, tags, dates, and numbers such as 012 and
1_000."""


def digest(place: Place) -> str | None:
    """Hash index.yml and the base folder of its paths (SHA-256); None without a file.

    A project that was copied or moved has another. One that has just been emptied is none yet: so
    it looks for a moment while it is written.
    """
    try:
        text = content(place.config)
        if not text and stamp(place) is None:
            return None
    except FileNotFoundError:
        return None
    # Where no path begins at the home of a user, it is the same for all of them.
    home = place.home if place.project is None or b"~" in text else None
    begins = "\0".join(str(folder or "") for folder in (place.project, home))
    return hashes.short_digest(b"\0".join((os.fsencode(begins), text)))


def stamp(place: Place) -> Hashable:
    """Return a stamp that changes with index.yml; None if the file is too new to tell.

    Two changes within one tick of the clock of a file system look the same.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: the user must not read the folder.
    """
    try:
        info = place.config.stat()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(place.config, error.strerror or str(error)) from error
    if time.time_ns() - info.st_mtime_ns < CLOCK_TICK_NS:
        return None
    return info.st_mtime_ns, info.st_ctime_ns, info.st_ino, info.st_size


def is_blank(place: Place) -> bool:
    """Check for an empty index.yml, such as an interrupted editor leaves.

    Raises:
        ConfigError: it cannot be read.
    """
    return not read_yaml_text(place.config).strip("\ufeff \t\r\n") and place.config.exists()


def may_have_engine(place: Place) -> bool:
    """Return whether index.yml may name an engine, without parsing it."""
    try:
        return b"engine" in content(place.config)
    except FileNotFoundError:
        return False


def load(place: Place) -> Settings:
    """Read index.yml. A missing file is the same as an empty one.

    Raises:
        ConfigError: it is not YAML, or says something unknown; with the line, unless it is large.
    """
    from qmd.text import yaml_reader  # a search rarely reads index.yml

    text = read_yaml_text(place.config)
    try:
        return understood(_parsed_fast(text), place)
    except (ValueError, ConfigError) as error:
        if isinstance(error, ConfigError) and yaml_reader.is_slow(text):
            raise
        from qmd.settings.commented_yaml import parse_commented

        # Or it is no mistake: ruamel.yaml, which also writes the file, decides, and knows lines.
        return understood(parse_commented(text, place.config), place)


def _parsed_fast(text: str) -> object:
    """Parse a text in a tenth of the time, without line numbers.

    Raises:
        ValueError: it cannot be read, or might be meant otherwise.
    """
    from qmd.text import yaml_reader

    if _SEVERAL_WAYS.search(text):
        raise ValueError
    return yaml_reader.read(text, yaml_reader.SETTINGS)


def understood(document: object, place: Place) -> Settings:
    """Convert a parsed index.yml to settings; empty ones for None.

    Raises:
        ConfigError: it says something unknown; with the line.
    """
    if document is None:
        return Settings()
    from qmd.settings.config_reader import SettingsReader

    return SettingsReader(place).settings(document)


def content(path: Path) -> bytes:
    """Read the bytes of a settings file.

    Raises:
        FileNotFoundError: there is none.
        ConfigError: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(path, error.strerror or str(error)) from error
    if len(data) > MAX_SETTINGS_BYTES:
        raise ConfigError(
            path,
            f"the file has more than {MAX_SETTINGS_BYTES:,} bytes, which is the limit: shorten it",
        )
    return data


def read_yaml_text(path: Path) -> str:
    """Read the text of a settings file, with its line ends and byte order mark.

    Returns:
        Nothing, if there is no file.

    Raises:
        ConfigError: it is not UTF-8, cannot be read, or is too large.
    """
    try:
        data = content(path)
    except FileNotFoundError:
        return ""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise ConfigError(
            path,
            f"this is {'UTF-16' if wide else 'not UTF-8 text'}. Save the file as UTF-8; "
            "nothing in it was changed",
        ) from error
