"""Groups of texts that are nearly the same, made anew for what has changed."""

from __future__ import annotations

import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qmd.ingest import grouping, near_duplicates, regrouping, sketches
from qmd.operations.freshness import update_first

WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "e", "ol", "un", "it")]


def copies(library):
    return library.ask("select hash, leader, round(similarity, 4) from copies order by all")


def run(library, statement):
    library.engine.database.write(lambda cursor: cursor.connection.execute(statement))


def text(chance, base):
    """One of some texts, with a word in fifty another one."""
    words = random.Random(base).choices(WORDS, k=120)
    for _ in range(chance.randrange(4)):
        words[chance.randrange(120)] = chance.choice(WORDS)
    return f"# {chance.choice(['Tea', 'Pot', 'Cup'])}\n\n" + " ".join(words) + "\n"


def change(chance, library):
    """Write, remove, copy or rename a file."""
    files = sorted(library.root.rglob("*.md"))
    file = chance.choice(files)
    kind = chance.randrange(5)
    if kind == 0:
        file.unlink()
    elif kind == 1:
        file.rename(file.with_name(f"{chance.randrange(99)}.md"))
    elif kind == 2:
        library.write(f"{chance.randrange(99)}.md", file.read_text())
    else:
        library.write(f"{chance.randrange(99)}.md", text(chance, chance.randrange(6)))


@pytest.mark.parametrize("crowd", [3, 5, 100])
@pytest.mark.parametrize("seed", range(4))
def test_groups_of_changed_texts_are_those_of_all(library, monkeypatch, seed, crowd):
    for module in (near_duplicates, regrouping):
        monkeypatch.setattr(module, "CROWD", crowd)
    for module in (grouping, regrouping):
        monkeypatch.setattr(module, "FEW_TEXTS", 0)
    monkeypatch.setattr(regrouping, "SHARE", 10)
    monkeypatch.setattr(regrouping, "ROUNDS", 40)
    monkeypatch.setattr(regrouping, "MANY_BESIDE", seed % 2 and 20_000)  # else all have hashes
    done = []

    def noted(cursor, moved):
        done.append(regrouping_of(cursor, moved))
        return done[-1]

    regrouping_of = regrouping.regrouped
    monkeypatch.setattr(grouping, "regrouped", noted)
    chance = random.Random(seed)
    for number in range(12):
        library.write(f"{number}.md", text(chance, chance.randrange(6)))
    library.update()
    for _ in range(6):
        for _ in range(chance.randint(1, 3)):
            change(chance, library)
        if seed % 2:  # an index from before, with texts of today
            run(library, "update sketches set buckets = null where hash < 'a'")
        library.update()
        assert library.ask("select * from left_texts") == []
        found = copies(library)
        for few in (0, 20_000):  # the compared texts alone, and all
            monkeypatch.setattr(regrouping, "FEW_TEXTS", few)
            library.engine.database.write(grouping._group_all)
            assert found == copies(library)
        monkeypatch.setattr(regrouping, "FEW_TEXTS", 0)
    assert any(done) or crowd < 100  # of small crowds, most changes make one, or end one
    assert found


@pytest.mark.skipif(sketches._compiled is None, reason="nothing was compiled")
@given(st.integers(0, 2**32), st.integers(60, 128))
@settings(deadline=None, max_examples=30)
def test_compiled_texts_near_some_are_those_of_plain_python(seed, least):
    chance = random.Random(seed)
    base = [chance.randrange(2**16) for _ in range(sketches.BINS)]
    texts = []
    for _ in range(8):
        share = chance.random()
        texts.append([chance.randrange(2**16) if chance.random() < share / 2 else n for n in base])
    some = memoryview(array("H", [number for each in texts[:3] for number in each]))
    others = memoryview(array("H", [number for each in texts for number in each]))
    hashes = chance.sample("abcdefgh", 8)
    results = []
    for find in (sketches._compiled.near_some, sketches.plainly_near_some):
        counts, firsts = array("I", bytes(4 * 3 * sketches.BANDS)), [None] * 3 * sketches.BANDS
        apart = {"a", "c"}
        pairs = find(some, others, hashes, apart, least, counts, firsts)
        results.append((pairs, counts, firsts))
    assert results[0] == results[1]
    assert min(results[0][1]) >= 1


@pytest.mark.parametrize("kind", [None, sketches._compiled])
def test_texts_that_share_a_bucket_are_found_before_their_hashes_are_read(monkeypatch, kind):
    monkeypatch.setattr(sketches, "_compiled", kind)
    chance = random.Random(3)
    texts = [[chance.randrange(2**16) for _ in range(sketches.BINS)] for _ in range(6)]
    texts[4][5:10] = texts[0][5:10]  # one band of sixteen
    texts[3][6:10] = texts[1][6:10]  # not all of one
    bins = [array("H", each).tobytes() for each in texts]
    some = sketches.NearSome(["a", "b"], b"".join(bins[:2]), 0.7)
    keys = sketches.bucket_keys(b"".join(bins))
    assert list(keys) == sketches.plain_keys(memoryview(b"".join(bins)).cast("H"))
    assert some.sharing(keys[2 * sketches.BANDS :]) == [2]
    assert some.sharing(keys) == [0, 1, 4]
    assert some.sharing(sketches.bucket_keys(b"")) == []
    assert sketches.beside_another(keys) == [0, 4]
    assert sketches.beside_another(sketches.bucket_keys(b"")) == []
    assert set(some.texts) == {0}


def test_a_change_of_few_texts_leaves_other_groups_as_they_are(library, monkeypatch):
    for module in (grouping, regrouping):
        monkeypatch.setattr(module, "FEW_TEXTS", 0)
    monkeypatch.setattr(regrouping, "SHARE", 1)
    chance = random.Random(7)
    for number in range(6):
        library.write(f"{number}.md", "# Tea\n" + text(chance, number // 2).partition("\n")[2])
    library.update()
    before = copies(library)
    run(library, "update copies set similarity = 0.5")
    library.write("other.md", text(chance, 99))
    library.update()
    assert {similarity for _, _, similarity in copies(library)} == {0.5}
    library.write("5.md", text(chance, 98))
    library.update()
    assert [each for each in copies(library) if each[2] != 0.5] == []
    assert len(copies(library)) == len(before) - 2


@pytest.mark.parametrize("few", [0, 20_000])
def test_texts_without_a_signature_get_one_before_texts_are_grouped(library, monkeypatch, few):
    for module in (grouping, regrouping):
        monkeypatch.setattr(module, "FEW_TEXTS", few)
    monkeypatch.setattr(regrouping, "SHARE", 1)
    chance = random.Random(7)
    for number in range(6):
        library.write(f"{number}.md", "# Tea\n" + text(chance, number // 2).partition("\n")[2])
    library.update()
    asked = "select hash, bins, buckets::text from sketches"
    signatures, groups = library.ask(asked), copies(library)
    run(library, "delete from sketches where hash > '8'")
    run(library, "update counters set value = 0 where name = 'grouped_documents'")
    run(library, "update copies set similarity = 0.5")
    library.write("other.md", text(chance, 99))
    library.update()
    found = library.ask(asked)
    assert len(found) == 7
    assert {*signatures} < {*found}
    assert copies(library) == groups


def test_texts_of_a_removed_collection_leave_their_groups(library, monkeypatch):
    for module in (grouping, regrouping):
        monkeypatch.setattr(module, "FEW_TEXTS", 0)
    monkeypatch.setattr(regrouping, "SHARE", 1)
    library.configure("other")
    chance = random.Random(7)
    base = "# Tea\n" + text(chance, 1).partition("\n")[2]
    library.write("a.md", base)
    library.write("b.md", base + " again\n", collection="other")
    library.update()
    assert len(copies(library)) == 2
    library.configure()
    library.engine.folders()
    assert len(library.ask("select * from left_texts")) == 1
    library.write("c.md", text(chance, 99))
    library.update()
    assert copies(library) == library.ask("select * from left_texts") == []


@pytest.fixture
def apart(library, monkeypatch):
    """A library whose texts are grouped as those of a large one are."""
    for module in (grouping, regrouping):
        monkeypatch.setattr(module, "FEW_TEXTS", 0)
    monkeypatch.setattr(regrouping, "SHARE", 9)
    return library


def grouped_anew(library):
    library.engine.database.write(grouping._group_all)
    return copies(library)


def near(number):
    """One of some texts without a heading, each nearly the same as the others."""
    words = random.Random(5).choices(WORDS, k=120)
    words[10 * number] = "other"
    return " ".join(words) + "\n"


def test_a_signature_that_nothing_noted_as_gone_is_found_and_dropped(apart):
    apart.write("cup.md", near(1))
    apart.write("pot.md", text(random.Random(1), 3))
    apart.update()
    run(apart, "delete from documents where path = 'cup.md'")
    (apart.root / "cup.md").unlink()
    apart.write("cup v2.md", near(2))
    apart.update()
    assert len(apart.ask("select * from sketches where settled")) == 2
    assert copies(apart) == grouped_anew(apart) == []


def test_a_text_that_lost_its_signature_does_not_keep_others_from_groups(apart):
    for name in ("a.md", "b.md"):
        apart.write(name, near(1))
    apart.write("c.md", text(random.Random(1), 3))
    apart.update()
    run(apart, "delete from sketches where hash in (select leader from copies)")
    (apart.root / "b.md").unlink()
    apart.write("cup.md", near(3))
    apart.write("cup v2.md", near(4))
    apart.update()
    assert apart.ask("select * from left_texts") == []
    assert len(copies(apart)) == 2
    assert copies(apart) == grouped_anew(apart)


def test_a_text_that_another_document_names_now_is_grouped_by_that_name(apart):
    for name in ("apple.md", "cup v2.md", "cup v3.md"):
        apart.write(name, near(1))
    apart.write("cup.md", near(2))
    apart.update()
    before = copies(apart)
    (apart.root / "apple.md").unlink()
    apart.update()
    assert copies(apart) == grouped_anew(apart) != before


def test_more_changes_than_are_looked_at_one_by_one_group_all_texts(apart, monkeypatch):
    monkeypatch.setattr(regrouping, "SHARE", 0.5)
    for number in range(4):
        apart.write(f"cup v{number}.md", near(number))
    apart.update()
    assert apart.engine.database.read(regrouping.moved_texts) == []
    run(apart, "update sketches set settled = false where hash <> (select min(hash) from sketches)")
    assert apart.engine.database.read(regrouping.moved_texts) is None


def test_texts_of_an_update_that_ended_before_their_groups_get_them_by_the_next(apart, monkeypatch):
    for number in range(3):
        apart.write(f"cup v{number}.md", near(number))
    with monkeypatch.context() as patched:
        patched.setattr(grouping, "settle", lambda database: None)
        update_first(apart.engine, [])
    assert copies(apart) == []
    update_first(apart.engine, [])
    assert len(copies(apart)) == 3
    assert copies(apart) == grouped_anew(apart)


def test_a_text_that_is_too_short_for_a_group_has_none(apart):
    for name in ("a.md", "b.md"):
        apart.write(name, "tea\n")
    for number in range(2):
        apart.write(f"cup v{number}.md", near(number))
    apart.update()
    apart.write("c.md", "tea\n")
    (apart.root / "cup v1.md").unlink()
    apart.update()
    assert copies(apart) == grouped_anew(apart)
