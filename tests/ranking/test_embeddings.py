"""The nearest passages: what comes back, in which order, and under which filters."""

from __future__ import annotations

import numpy as np
import pytest

from qmd.embedding import vectors
from qmd.embedding.vector_status import vector_status
from qmd.errors import CollectionNotFound
from qmd.operations.semantic_search import vector_search
from qmd.ranking import nearest, postings
from qmd.text.filters import parse_filter
from qmd.types import Filter
from tests.library import drawn, turned


def cosine(degrees):
    """As a result has it."""
    return pytest.approx(np.cos(np.radians(degrees)), abs=1e-6)


@pytest.fixture(autouse=True)
def usual(monkeypatch):
    """Cosines as they are: vectors of a circle say nothing of passages taken at random."""
    monkeypatch.setattr("qmd.embedding.cosines.FEWEST", 10**6)


@pytest.fixture
def compass(faked, fake):
    """A library in which a text points as many degrees from another as its last number says."""
    fake.dimensions = 2
    fake.vector = turned
    faked.configure("small", "secret", excluded=["secret"])
    return faked


@pytest.fixture
def crowd(compass):
    """300 notes nearer to 0° than the three of the collection `small`, or the one of `secret`."""
    for number in range(300):
        compass.write(f"{number:03}.md", f"---\ndate: 2024-01-01\n---\n{number} {number // 30}")
    for number in (40, 60, 50):
        compass.write(
            f"{number}.md",
            f"---\ndate: 2025-05-{number - 30}\nkind: far\n---\n{number}",
            collection="small",
        )
    compass.write("0.md", "0", collection="secret")
    compass.update()
    compass.embed()
    return compass


def found(library, question="0", **options):
    """(file, score) of each answer."""
    return [(each.file, each.score) for each in library.nearest(question, **options)]


FAR = [("small/40.md", cosine(40)), ("small/50.md", cosine(50)), ("small/60.md", cosine(60))]
"""What a filter leaves of the crowd."""


# -- filters -------------------------------------------------------------------


def test_a_filter_never_starves(crowd, monkeypatch):
    monkeypatch.setattr(nearest, "DEPTH", 1)
    for among, expected in (
        ({"collection": "small"}, FAR),
        ({"since": "2025-05-20"}, FAR[1:]),
        ({"since": "2025-01-01", "before": "2025-05-20"}, FAR[:1]),
        ({"filter": "kind = far"}, FAR),
        ({"collection": "secret"}, [("secret/0.md", cosine(0))]),
        ({"collection": ("small", "secret")}, [("secret/0.md", cosine(0)), *FAR]),
    ):
        assert found(crowd, limit=4, **among) == expected
    with pytest.raises(CollectionNotFound, match="Known: notes, secret, small"):
        crowd.nearest("0", collection="absent")


def test_a_filter_keeps_a_copy_elsewhere_out(compass):
    compass.write("copy.md", "5")
    compass.write("copy.md", "5", collection="small")
    compass.write("other.md", "7", collection="small")
    compass.update()
    compass.embed()
    expected = [("small/copy.md", cosine(5)), ("small/other.md", cosine(7))]
    assert found(compass, collection="small") == expected
    assert found(compass, collection="notes") == [("notes/copy.md", cosine(5))]


def test_a_collection_that_is_excluded_answers_only_if_it_is_named(crowd):
    first, *_ = found(crowd, limit=1)
    assert first == ("notes/000.md", cosine(0))
    assert "secret/0.md" not in dict(found(crowd, limit=400))
    crowd.configure("small", "secret", excluded=["notes", "small", "secret"])
    assert "qmd collection include" in vector_search(crowd.engine, "0").notice


# -- the depth of a search -----------------------------------------------------


def test_a_document_of_many_near_passages_leaves_room_for_others(compass):
    compass.configure(more="chunk: {tokens: 16, overlap: 0}")
    compass.write("long.md", "\n".join(f"{'word ' * 11}0" for _ in range(400)))
    for number in (10, 20, 30):
        compass.write(f"{number}.md", f"{number}")
    compass.update()
    assert compass.embed().chunks > 2 * nearest.DEPTH
    expected = [("notes/long.md", cosine(0))]
    expected += [(f"notes/{number}.md", cosine(number)) for number in (10, 20, 30)]
    assert found(compass, limit=4) == expected
    assert found(compass, limit=50) == expected
    three = found(compass, limit=5, per_file=3)
    assert three == [expected[0]] * 3 + expected[1:3]


def test_documents_that_are_gone_neither_come_back_nor_crowd_out_others(compass):
    for number in range(250):
        compass.write(f"near/{number}.md", f"{number} 1")
    compass.write("far.md", "80")
    compass.update()
    compass.embed()
    for file in (compass.root / "near").iterdir():
        file.unlink()
    compass.update(removes=True)
    assert found(compass, limit=3) == [("notes/far.md", cosine(80))]
    _, state = vector_status(compass.engine)
    assert (state.vectors, state.lacking) == (251, 0)


def test_answers_of_one_score_come_by_their_paths_every_time(compass):
    compass.configure("a", "b")
    for number, (collection, name) in enumerate(
        (c, n) for n in ("2", "1", "10") for c in ("b", "notes", "a")
    ):
        compass.write(f"{name}.md", f"{number} 45", collection=collection)
    compass.update()
    compass.embed()
    names = [name for name, _ in found(compass, limit=9)]
    assert names == sorted(names)
    assert [name for name, _ in found(compass, limit=9)] == names
    compass.embed(force=True)
    assert [name for name, _ in found(compass, limit=9)] == names
    assert [name for name, _ in found(compass, limit=4)] == names[:4]


def test_an_unlimited_search_gives_every_document_once(crowd):
    names = [name for name, _ in found(crowd, limit=1_000_000)]
    assert len(names) == len(set(names)) == 303


# -- two stages ----------------------------------------------------------------


@pytest.fixture
def many(faked):
    """200 notes whose vectors mean nothing; 20 of them of the kind `rare`."""
    for number in range(200):
        kind = "rare" if number % 10 == 0 else "common"
        faked.write(f"{number:03}.md", f"---\nkind: {kind}\n---\n{number}")
    faked.update()
    faked.embed()
    return faked


def by_stages(library, question, *, two_stages, conditions=(), limit=5):
    """What is nearest, and the statements that were run."""
    ran = []

    def work(cursor):
        run = cursor.run
        cursor.run = lambda name, /, **given: ran.append(name) or run(name, **given)
        space = library.engine.models.space()
        try:
            return nearest.nearest(
                cursor,
                drawn(question, 16),
                model_id=vectors.model_id(cursor, space.fingerprint),
                vectors=vectors.pending(cursor, space.fingerprint).vectors,
                documents=postings.allowed(cursor, Filter(conditions=conditions)),
                limit=limit,
                two_stages=two_stages,
            )
        finally:
            cursor.run = run

    return library.engine.read(work), ran


def named(library, hit):
    """The path of the document of a hit."""
    [(path,)] = library.ask(f"select path from documents where document_id = {hit.document_id}")
    return path


RARE = parse_filter("kind = rare")


@pytest.mark.parametrize("conditions", [(), RARE])
def test_two_stages_find_the_same_as_one_when_all_are_candidates(many, monkeypatch, conditions):
    monkeypatch.setattr(nearest, "DEPTH", 1)
    for question in ("tea", "coffee", "water"):
        one, ran = by_stages(many, question, two_stages=10**6, conditions=conditions, limit=1)
        assert "search/by_signs" not in ran
        two, ran = by_stages(many, question, two_stages=0, conditions=conditions, limit=1)
        assert "search/by_signs" in ran
        assert two == one


def test_the_first_stage_keeps_what_points_where_the_question_does(many, monkeypatch):
    monkeypatch.setattr(nearest, "DEPTH", 1)
    monkeypatch.setattr(nearest, "CANDIDATES", 1)
    for number in (0, 50, 199):
        kind = "rare" if number % 10 == 0 else "common"
        text = f"---\nkind: {kind}\n---\n{number}"
        [hit], ran = by_stages(many, text, two_stages=0, limit=1)
        assert "search/by_signs" in ran
        assert hit.score == pytest.approx(1, abs=1e-6)
        assert named(many, hit) == f"{number:03}.md"


def test_the_first_stage_respects_a_filter(many, monkeypatch):
    """What is asked for is nearest to a note that the filter leaves out."""
    monkeypatch.setattr(nearest, "DEPTH", 1)
    monkeypatch.setattr(nearest, "CANDIDATES", 1)
    text = "---\nkind: common\n---\n199"
    [hit], ran = by_stages(many, text, two_stages=0, conditions=RARE, limit=1)
    assert "search/by_signs" in ran
    assert named(many, hit).endswith("0.md")


def test_signs_are_those_of_the_numbers():
    assert vectors.signs_of(np.array([0.5, -0.5, 0.0, 1e-9], np.float32)) == "1001"
