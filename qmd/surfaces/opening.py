"""Opening of the index that a surface works on: a file, or the shards of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qmd.settings import config
from qmd.settings.schema import ENGINES, Engine

if TYPE_CHECKING:
    from qmd.operations.index import Index
    from qmd.settings.environment import Machine, Place


def opened(
    place: Place,
    machine: Machine,
    *,
    engine: str | None,
    allow_partial: bool = False,
    **options: Any,
) -> Index:
    """Open an index.

    Args:
        engine: `shards` or `ray`, as index.yml describes it, or `shards:DEST`; None: that of
            index.yml, or the index file if it names none.
        allow_partial: search without shards that do not answer, whatever index.yml says.
        options: of `Index`.

    Raises:
        ConfigError: index.yml cannot be read.
        UsageError: there is no such engine.
        ClusterFailure: its shards cannot be used.
    """
    found = chosen_engine(place, engine, allow_partial=allow_partial)
    if found is None:
        from qmd.operations.index import Index  # it loads DuckDB, which not each command needs

        return Index(place, machine, **options)
    from qmd.cluster import engines

    return engines.opened(place, machine, found, stays=bool(options.get("warm")))


def chosen_engine(
    place: Place, engine: str | None, *, allow_partial: bool = False
) -> Engine | None:
    """Choose the engine; None: the index file.

    Raises:
        UsageError: it is none, or index.yml does not describe it, or it cannot leave shards out.
    """
    found = _chosen(place, engine)
    if not allow_partial:
        return found
    if found is None or found.name != "ray":
        from qmd.errors import UsageError

        raise UsageError(
            "--allow-partial is for an index of shards on a cluster: --engine ray.\n\n"
            "All documents of this index are on this machine."
        )
    return found._replace(allow_partial=True)


def _chosen(place: Place, engine: str | None) -> Engine | None:
    if engine is None and not config.may_have_engine(place):
        return None
    from qmd.errors import UsageError

    name, _, source = (engine or "").partition(":")
    if engine is not None and name not in ENGINES:
        raise UsageError(
            f"There is no engine '{name}'.\n\nValid: {', '.join(ENGINES)}; or with the "
            "folder of the shards: --engine shards:DEST."
        )
    known = config.load(place).engines
    if known and place.project is not None and not place.trust_all:
        # A cluster runs the code of the owner of its address.
        raise UsageError(
            f"{place.config} names an engine, which a project must not.\n\n"
            "Name it in your own index.yml, or say --engine NAME:DEST."
        )
    if engine is None:
        return next(iter(known.values()), None)
    found = known.get(name)
    if source:
        base = found or Engine(name, source)
        return base._replace(source=source)
    if found is None:
        raise UsageError(
            f"{place.config} does not say where the shards of the engine '{name}' are.\n\n"
            f"Name their folder: --engine {name}:DEST."
        )
    return found
