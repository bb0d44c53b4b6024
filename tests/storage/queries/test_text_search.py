import random

import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.documents import corpus
from workbench.storage.documents import documents
from workbench.storage.queries import listing, text_search
from workbench.storage.queries.listing import Filter
from workbench.text.dataset import Record
from workbench.text.document import Document

WORDS = "aa ab abc abcd b ba Äb 中文 x-y k7 100% a_b 😀".split()
SEARCHES = "a|ab|abc|abcd |b|ab b|ä|中|中文|k|k7|7|100%|a_b|-|x-|😀|zz|document 3|a a".split("|")


@pytest.fixture
def filled(project):
    draw = random.Random(4)

    def text():
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 4)))

    records = []
    for number in range(120):
        texts = (("text", text()), ("text_b", text()))[: 1 + number % 2]
        split = draw.choice((None, "dev"))
        records.append(Record(Document(f"document {number} {draw.choice(WORDS)}", texts, split)))
    with project.edit("Import", bulk=True):
        documents.add(project.db, records, source_id=project.source("import"))
    return project


def by_condition(db, wanted):
    """The ids that the SQL condition of the filter gives."""
    where, values = listing.condition(db, wanted)
    query = f"select d.id from document d where {where} order by d.id"
    return [id for (id,) in db.reader().execute(query, values).fetchall()]


@pytest.mark.parametrize("text", SEARCHES)
def test_all_ways_to_search_find_the_same_documents(filled, text):
    db, expected = filled.db, by_condition(filled.db, Filter(text=text))

    assert list(listing.ids(db, Filter(text=text))) == expected
    found = text_search.matches(db, text)
    assert found is None or list(found) == expected
    assert list(listing.ids(db, Filter(text=text, split="dev"))) == [
        id for id in expected if id in by_condition(db, Filter(split="dev"))
    ]


def test_the_first_rows_are_rows_of_the_search(filled, monkeypatch):
    for screen in (5, 1000):  # enough in the sample; by the index
        monkeypatch.setattr(text_search, "SCREEN", screen)
        for text in SEARCHES:
            for more in ({}, {"split": "dev"}, {"ids": range(20, 60)}):
                wanted = Filter(text=text, **more)
                found = list(listing.first_ids(filled.db, wanted))
                assert found == sorted(set(found) & set(by_condition(filled.db, wanted)))
    assert (
        list(listing.first_ids(filled.db, Filter(text="ab")))[:3]
        == (by_condition(filled.db, Filter(text="ab"))[:3])
    )


def test_the_first_texts_are_indexed_once_until_they_change(filled, monkeypatch):
    sample, filled_with = text_search._Sample(), []
    fill = sample._fill
    monkeypatch.setattr(sample, "_fill", lambda rows: filled_with.append(rows) or fill(rows))
    monkeypatch.setattr(text_search, "_sample", sample)
    monkeypatch.setattr(text_search, "SCREEN", 1)

    for text in ("a", "ab", "abc"):
        listing.first_ids(filled.db, Filter(text=text))
    assert len(filled_with) == 1

    first = by_condition(filled.db, Filter(text="abcd"))[0]
    corpus.delete_documents(filled, [first])
    found = listing.first_ids(filled.db, Filter(text="abcd"))
    assert len(filled_with) == 2
    assert len(found) > 0 and first not in found


def test_a_search_typed_on_is_looked_up_in_what_was_found(filled):
    for text in ("abcd", "ab b", "中文", "document 11", "x-y"):
        for end in range(1, len(text)):
            before, wanted = Filter(text=text[:end]), Filter(text=text[: end + 1])
            found = listing.ids(filled.db, before)
            narrowed = listing.narrowed(wanted, before, found)
            assert narrowed.ids is not None or text[:end].endswith(" ")
            assert list(listing.ids(filled.db, narrowed)) == by_condition(filled.db, wanted)


def test_other_searches_are_not_narrowed(filled):
    before, found = Filter(text="-"), listing.ids(filled.db, Filter(text="-"))
    for wanted in (Filter(text="-a"), Filter(text="b"), Filter(text="-", split="dev")):
        assert listing.narrowed(wanted, before, found) is wanted
    assert listing.narrowed(Filter(text="ab"), Filter(text="a", split="dev"), found).ids is None


def test_without_conditions_all_documents_are_listed_with_and_without_gaps(filled):
    assert list(listing.ids(filled.db)) == list(range(1, 121))

    corpus.delete_documents(filled, [1, 50, 120])

    assert list(listing.ids(filled.db)) == [*range(2, 50), *range(51, 120)]
    corpus.delete_documents(filled, listing.ids(filled.db))
    assert list(listing.ids(filled.db)) == []


def test_a_search_that_is_no_longer_wanted_stops(filled, monkeypatch):
    monkeypatch.setattr("workbench.storage.connections.reading.STEPS", 10)
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        corpus.filter_ids(filled, Filter(text="a"), watch=watch)

    assert len(corpus.filter_ids(filled, Filter())) == 120  # the connection can be used again
