"""Approval of what a project-local index.yml would make qmd do."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from qmd import edit_lock
from qmd.errors import ConfigError
from qmd.settings.environment import locate
from qmd.settings.schema import Settings
from qmd.settings.trust import approvals, approve, is_outside, is_trusted, needs_approval, revoke
from qmd.types import Collection
from tests import strays


@pytest.fixture
def place(tmp_path):
    return located(tmp_path, "project")


def located(home, name, **environ):
    """A project in a folder of its own, with the approvals of its user."""
    (home / name / ".qmd").mkdir(parents=True, exist_ok=True)
    (home / name / ".qmd/index.yml").touch()
    return locate({"HOME": str(home), **environ}, home / name)


def settings(place, *collections, **models):
    """Collections given as (name, path below the project, update command)."""
    return Settings(
        tuple(
            Collection(name, str(place.project / path), update_command=command)
            for name, path, command in collections
        ),
        models=models,
    )


def test_commands_folders_outside_and_models_need_approval(place):
    wanted = settings(
        place, ("a", "docs", "git pull"), ("b", "/srv/b", None), ("c", ".", None), embed="hf:o/r/f"
    )
    assert needs_approval(place, wanted) == [
        "read for 'b': /srv/b",
        "run for 'a': git pull",
        "use for embed: hf:o/r/f",
    ]
    assert not is_trusted(place, wanted)


def test_where_links_lead_needs_approval(place):
    wanted = settings(place)._replace(editor_uri="https://evil.example/{path}")
    assert needs_approval(place, wanted) == ["open with a click: https://evil.example/{path}"]
    assert not is_trusted(place, wanted)
    approve(place, wanted)
    assert is_trusted(place, wanted)
    assert not is_trusted(place, wanted._replace(editor_uri="https://other.example/{path}"))


def test_a_program_that_reads_pictures_needs_approval(place):
    wanted = settings(place)._replace(ocr="eng")
    assert needs_approval(place, wanted) == ["read pages without text: tesseract -l eng"]
    assert not is_trusted(place, wanted)


def test_a_project_that_only_reads_its_own_folders_needs_none(place):
    plain = settings(place, ("a", "docs", None), ("b", ".", None))
    assert needs_approval(place, plain) == []
    assert is_trusted(place, plain)


def test_nothing_in_the_users_own_settings_needs_approval(tmp_path):
    own = locate({"HOME": str(tmp_path)}, tmp_path)
    wanted = Settings((Collection("a", "/srv", update_command="rm x"),), models={"embed": "x"})
    assert needs_approval(own, wanted) == []
    assert is_trusted(own, wanted)
    assert not is_outside(own, wanted.collections[0])


@pytest.mark.parametrize(
    ("path", "outside"),
    [
        ("docs", False),
        (".", False),
        ("..", True),
        ("../project-2", True),
        ("docs/../../x", True),
        ("inner", False),
        ("outer", True),
        ("/", True),
    ],
)
def test_a_folder_is_outside_if_its_real_path_is(place, path, outside):
    (place.project / "inner").symlink_to("docs")
    (place.project / "outer").symlink_to("..")
    assert is_outside(place, Collection("a", str(place.project / path))) is outside


def test_what_is_approved_is_trusted_until_it_changes(place):
    before = settings(place, ("a", "docs", "git pull"), embed="x")
    approve(place, before)
    assert is_trusted(place, before)
    for after in (
        settings(place, ("a", "docs", "git pull; rm -r ~"), embed="x"),
        settings(place, ("a", "docs", "git pull"), embed="y"),
        settings(place, ("a", "docs", "git pull"), rerank="x"),
        settings(place, ("a", "docs", "git pull"), ("b", "/srv", None), embed="x"),
        settings(place, ("b", "docs", "git pull"), embed="x"),
    ):
        assert not is_trusted(place, after)
    assert is_trusted(place, before)


def test_what_needs_no_approval_may_change(place):
    approve(place, settings(place, ("a", "docs", "x"), ("b", "/srv", None)))
    assert is_trusted(
        place, settings(place, ("c", "c", None), ("b", "/srv", None), ("a", ".", "x"))
    )


def test_less_than_was_approved_is_not_what_was_approved(place):
    approve(place, settings(place, ("a", "a", "x"), ("b", "b", "y")))
    assert not is_trusted(place, settings(place, ("a", "a", "x")))


def test_a_symlink_that_leads_elsewhere_since_its_approval_asks_again(place, tmp_path):
    link = place.project / "link"
    link.symlink_to(tmp_path / "harmless")
    wanted = settings(place, ("a", "link", None))
    approve(place, wanted)
    assert is_trusted(place, wanted)
    link.unlink()
    link.symlink_to(tmp_path / "secret")
    assert not is_trusted(place, wanted)


def test_no_command_can_pass_for_the_approval_of_two(place):
    approve(place, settings(place, ("a", "a", "x\nrun for 'b': y")))
    assert not is_trusted(place, settings(place, ("a", "a", "x"), ("b", "b", "y")))


def test_an_approval_is_of_one_project(tmp_path):
    one, other = located(tmp_path, "one"), located(tmp_path, "other")
    approve(one, settings(one, ("a", "a", "x")))
    assert is_trusted(one, settings(one, ("a", "a", "x")))
    assert not is_trusted(other, settings(other, ("a", "a", "x")))
    approve(other, settings(other, ("a", "a", "x")))
    assert set(approvals(one)) == {str(one.project), str(other.project)}


def test_an_approval_is_kept_with_the_settings_of_the_user(place, tmp_path):
    approve(place, settings(place, ("a", "a", "x")))
    file = tmp_path / ".config/qmd/trusted.json"
    assert place.trusted == file
    assert list(json.loads(file.read_text())) == [str(place.project)]
    left = sorted(each.name for each in file.parent.iterdir())
    assert left == ["trusted.json", "trusted.json.lock"]


def test_an_approval_of_nothing_takes_the_old_one_back(place):
    approve(place, settings(place, ("a", "a", "x")))
    approve(place, settings(place, ("a", "a", None)))
    assert approvals(place) == {}
    assert not is_trusted(place, settings(place, ("a", "a", "x")))


def test_an_approval_that_is_revoked_asks_again(place):
    wanted = settings(place, ("a", "a", "x"))
    approve(place, wanted)
    assert revoke(place, place.project)
    assert not is_trusted(place, wanted)
    assert not revoke(place, place.project)


def test_only_a_one_in_the_environment_trusts_every_project(tmp_path):
    for value, trusted in [("", False), ("0", False), ("yes", False), ("1", True)]:
        place = located(tmp_path, "project", QMD_TRUST_LOCAL_CONFIG=value)
        assert is_trusted(place, settings(place, ("a", "a", "x"))) is trusted
    assert approvals(place) == {}


def test_approvals_and_their_ends_at_the_same_time_are_all_kept(tmp_path):
    places = [located(tmp_path, f"project-{number}") for number in range(12)]
    gone, new = places[:6], places[6:]
    wanted = {place: settings(place, ("a", "a", "x")) for place in places}
    for place in gone:
        approve(place, wanted[place])
    with ThreadPoolExecutor(len(places)) as pool:
        done = [pool.submit(revoke, place, place.project) for place in gone]
        done += [pool.submit(approve, place, wanted[place]) for place in new]
    assert [each.result() for each in done] == [True] * 6 + [None] * 6
    assert set(approvals(places[0])) == {str(place.project) for place in new}


def test_an_approval_waits_for_another_process_and_keeps_what_it_wrote(tmp_path):
    mine, theirs = located(tmp_path, "mine"), located(tmp_path, "theirs")
    wanted = settings(mine, ("a", "a", "x"))
    mine.trusted.parent.mkdir(parents=True)
    lock = mine.trusted.with_name("trusted.json.lock")
    with ThreadPoolExecutor() as pool, edit_lock.locked(lock):
        approving = pool.submit(approve, mine, wanted)
        assert not wait([approving], 0.1).done
        mine.trusted.write_text(json.dumps({str(theirs.project): "digest"}))
    assert approving.result() is None
    assert set(approvals(mine)) == {str(mine.project), str(theirs.project)}


@pytest.mark.parametrize("put", strays.STRAYS)
def test_an_approval_is_not_written_without_its_lock(place, put):
    place.trusted.parent.mkdir(parents=True)
    put(place.trusted.with_name("trusted.json.lock"))
    with pytest.raises(ConfigError, match=r"trusted.json.lock has to be a file"):
        approve(place, settings(place, ("a", "a", "x")))
    assert strays.is_untouched(place.trusted.parent)
    assert approvals(place) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "\udce9"])
def test_approvals_that_cannot_be_read_are_an_error_that_names_the_file(place, text):
    place.trusted.parent.mkdir(parents=True)
    place.trusted.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigError) as refused:
        is_trusted(place, settings(place, ("a", "a", "x")))
    assert refused.value.path == place.trusted
    assert place.trusted.read_bytes() == text.encode(errors="surrogateescape")
