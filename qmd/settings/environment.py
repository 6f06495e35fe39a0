"""Environment variables: location of the index, limits for models and servers.

No other module reads the environment; each is given the values it needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from qmd import location
from qmd.errors import IndexNotFound, IndexOutOfReach, UsageError
from qmd.named_tuple import NamedTuple
from qmd.patterns import pattern

LOCAL_FOLDER = location.LOCAL_FOLDER
YES = frozenset({"1", "true", "yes", "on"})


class Place(NamedTuple):
    """Paths of one index: file, settings, project.

    Attributes:
        config: its index.yml.
        database: its DuckDB file.
        project: the folder of a project-local index, or None for the user's own.
        trusted: file in which the user's approvals of projects are kept.
        trust_all: approve every project.
        home: the folder for `~`; None is the home of this process.
    """

    name: str
    config: Path
    database: Path
    project: Path | None
    trusted: Path
    trust_all: bool = False
    home: Path | None = None


def locate(environ: Mapping[str, str], folder: Path, *, index: str | None = None) -> Place:
    """Locate the index of a command: `--index`, else the project's, else the user's.

    Raises:
        UsageError: the name of the index is a path, or `INDEX_PATH` is a folder, or begins with
            the home of an unknown user.
    """
    home = Path(environ.get("HOME") or Path.home())
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "qmd"
    own_config = environ.get("QMD_CONFIG_DIR")
    config = expand_home(own_config, home) if own_config else config_home
    trusted = config / "trusted.json"
    trust_all = environ.get("QMD_TRUST_LOCAL_CONFIG") == "1"
    if index is not None and (
        not index or "/" in index or index.startswith(".") or not index.isprintable()
    ):
        raise UsageError(
            f"'{index}' cannot be the name of an index.\n\n"
            "A name is a word such as 'work'; its settings are kept in work.yml."
        )
    name = index or "index"
    own = environ.get("INDEX_PATH") or own_config
    project = location.project_of(str(folder)) if index is None and not own else None
    is_path_given = index is None and bool(environ.get("INDEX_PATH"))
    database = Path(
        location.database_of(environ, str(folder), None if is_path_given else name)
    ).absolute()
    if is_path_given:
        expand_home(environ["INDEX_PATH"], home)  # refuses the home of an unknown user
        if os.path.isdir(database):  # noqa: PTH112  # nor an error: who may not look
            raise UsageError(
                f"INDEX_PATH is a folder: {database}\n\n"
                f"Name a file, which need not be there yet: {database / 'index.duckdb'}"
            )
    user = Place(name, config / f"{name}.yml", database, None, trusted, trust_all, home)
    return user if project is None else _in_project(user, Path(project))


def check_reach(place: Place) -> None:
    """Refuse an index without permission to look for it.

    Raises:
        IndexOutOfReach: the permission is missing.
    """
    try:
        os.stat(place.database)
    except (FileNotFoundError, NotADirectoryError):
        pass  # there is none yet, or creating it will report the error
    except OSError as error:
        raise IndexOutOfReach(place.database, error.strerror or str(error)) from error


def check_exists(place: Place) -> None:
    """Refuse an index of the user that has neither settings nor a file.

    Raises:
        IndexNotFound: with the names of those that there are.
    """
    if any(os.path.exists(file) for file in (place.config, place.database)):  # noqa: PTH110
        return
    raise IndexNotFound(place.name, known=known(place))


def known(place: Place) -> list[str]:
    """List the names of the user's indexes in the same folder, by settings or file."""
    names = {file.stem for file in place.config.parent.glob("*.yml")}
    return sorted(names | {file.stem for file in place.database.parent.glob("*.duckdb")})


def at(environ: Mapping[str, str], path: Path) -> Place:
    """Return the index of a project's folder, or of a DuckDB file.

    The settings of a file are where the command line has them, if it is one that the command line
    would use; else beside it: `work.duckdb` has `work.yml`.

    Raises:
        UsageError: a folder has no index of its own, or the file is one of settings.
    """
    home = Path(environ.get("HOME") or Path.home())
    path = Path(os.path.abspath(expand_home(str(path), home)))  # noqa: PTH100
    is_folder = os.path.isdir(path)  # noqa: PTH112  # nor an error: who may not look
    folder = path if is_folder else path.parent
    if folder.name == LOCAL_FOLDER:
        folder = folder.parent
    if os.path.isfile(folder / LOCAL_FOLDER / "index.yml"):  # noqa: PTH113  # the same
        project = _in_project(locate(environ, folder, index="index"), folder)
        if path in (folder, project.config.parent, project.database):
            return project
    if is_folder:
        raise UsageError(
            f"{path} has no index of its own.\n\n"
            "Make one with 'qmd init' there, or name the file of an index: index.duckdb."
        )
    if path.suffix in (".yml", ".yaml"):
        raise UsageError(f"{path} has settings.\n\nName the index that they are of: index.duckdb.")
    named = locate(environ, folder, index=path.stem)
    for place in (locate(environ, Path.cwd()), named):
        if os.path.realpath(place.database) == os.path.realpath(path):
            return place
    return named._replace(config=path.with_suffix(".yml"), database=path)


def _in_project(user: Place, project: Path) -> Place:
    """Return the index of a project, with the user's settings as the base.

    Raises:
        UsageError: it leads out of the project, and so to what is not the project's.
    """
    local = project / LOCAL_FOLDER
    stray = None if user.trust_all else _stray(local, project)
    if stray is not None:
        raise UsageError(
            f"{stray} is a link that leads out of this project, to {os.path.realpath(stray)}.\n\n"
            "Find out what made it, and remove it. To use that index on purpose, name it: "
            "QMD_CONFIG_DIR and INDEX_PATH."
        )
    return user._replace(
        name="index", config=local / "index.yml", database=local / "index.duckdb", project=project
    )


def _stray(local: Path, project: Path) -> str | None:
    """Find a part of a project's index that lies outside of the project."""
    links = [str(local)]
    with suppress(OSError), os.scandir(local) as entries:
        links += [e.path for e in entries if e.name.startswith("index.") and e.is_symlink()]
    root = os.path.realpath(project)
    for link in links:
        if os.path.commonpath([root, os.path.realpath(link)]) != root:
            return link
    return None


class Machine(NamedTuple):
    """Environment variables for models.

    Attributes:
        chosen: name of a model for a role, over what index.yml says.
        hub: folder in which files of the model hub are kept; by default none.
        offline: fetch nothing.
        hub_token: for files behind a licence.
        endpoint: base URL of the models that are not run here.
        key: for the endpoint.
        gpu: whether one may be used.
        notes: folder for facts about this machine; None: nothing is tested.
    """

    chosen: Mapping[str, str] = MappingProxyType({})
    hub: Path = Path(os.devnull)
    offline: bool = False
    hub_token: str | None = None
    endpoint: str = "https://api.openai.com/v1"
    key: str | None = None
    gpu: bool = True
    notes: Path | None = None


def machine(environ: Mapping[str, str], *, gpu: bool = True) -> Machine:
    """Read the environment variables for models.

    Args:
        gpu: what the command line says.
    """
    home = Path(environ.get("HOME") or Path.home())
    cache = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    hugging_face = Path(environ.get("HF_HOME") or cache / "huggingface")
    roles = {
        "embed": "QMD_EMBED_MODEL",
        "rerank": "QMD_RERANK_MODEL",
        "generate": "QMD_GENERATE_MODEL",
    }
    return Machine(
        {role: environ[name] for role, name in roles.items() if environ.get(name)},
        Path(environ.get("HF_HUB_CACHE") or hugging_face / "hub"),
        environ.get("HF_HUB_OFFLINE", "").lower() in YES,
        environ.get("HF_TOKEN"),
        (environ.get("OPENAI_BASE_URL") or Machine().endpoint).rstrip("/"),
        environ.get("OPENAI_API_KEY"),
        gpu and environ.get("QMD_FORCE_CPU", "").lower() not in YES,
        cache / "qmd",
    )


class Serving(NamedTuple):
    """Environment variables for servers.

    Attributes:
        token: that a request has to bring.
        origins: of web pages that may ask, besides those of this machine.
        hosts: host names of the server, besides those of this machine.
        state: folder for what is known of servers that run.
        debug: whether the log has all details.
    """

    token: str | None
    origins: tuple[str, ...]
    hosts: tuple[str, ...]
    state: Path
    debug: bool = False


def serving(environ: Mapping[str, str]) -> Serving:
    """Read the environment variables for servers."""
    home = home_of(environ)
    return Serving(
        environ.get("QMD_TOKEN") or None,
        _listed(environ.get("QMD_ALLOWED_ORIGINS", "")),
        _listed(environ.get("QMD_ALLOWED_HOSTS", "")),
        Path(environ.get("XDG_STATE_HOME") or home / ".local" / "state") / "qmd",
        environ.get("QMD_DEBUG") == "1",
    )


PLACES = ("INDEX_PATH", "QMD_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
"""Variables that choose the index, by paths."""

CHOICES = ("QMD_EMBED_MODEL", "QMD_RERANK_MODEL", "QMD_GENERATE_MODEL", "OPENAI_BASE_URL")
"""Variables that choose its models.

The address is included, since index.yml may name an endpoint's model.
"""

_PASSWORD = pattern(r"^(\s*https?://)[^/?#]*@", re.IGNORECASE)


def carried(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that another process needs to use the same index.

    No secret is: neither the key of an endpoint nor a password in its address.
    """
    home = home_of(environ)
    found = {name: environ[name] for name in (*PLACES, *CHOICES) if environ.get(name)}
    return {
        name: str(expand_home(value, home).absolute())
        if name in PLACES
        else _PASSWORD.sub(r"\1", value)
        for name, value in found.items()
    }


def home_of(environ: Mapping[str, str]) -> Path:
    """Return the home folder of the user."""
    return Path(environ.get("HOME") or Path.home())


def _listed(text: str) -> tuple[str, ...]:
    """Split a comma list."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def expand_home(path: str, home: Path) -> Path:
    """Expand a leading `~` or `~name` of a path."""
    if path == "~" or path.startswith("~/"):
        return home / path[1:].lstrip("/")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise UsageError(f"'{path}' begins with the home of an unknown user.") from error
