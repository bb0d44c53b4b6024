"""How many texts a training would cut: all of them counted, the same as tokenising every one."""

import pytest

from workbench.base.errors import Cancelled
from workbench.base.watch import Watch
from workbench.operations.models import installed
from workbench.operations.runs import cut_texts, training_data
from workbench.operations.schema import labels as schema
from workbench.runtime.tokenizer import Tokenizer
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import Document

LONG, WIDE = "tram " * 40, "трамвай " * 12  # of the latter each word has several subwords


@pytest.fixture
def filled(project):
    """fill([(text, split, state), …]) → the class layer, with these documents."""

    def fill(rows):
        layer = schema.add_layer(project, "class", "class", labels=["a", "b"])
        records = [
            Record(
                Document(f"k{n}", (("text", text),), split=split),
                {"class": state},
                {"class": ("ab"[n % 2],)},
            )
            for n, (text, split, state) in enumerate(rows)
        ]
        with project.edit("Add"):
            documents.add(project.db, records, source_id=project.source("person"))
        return labels.layer(project.db, layer)

    return fill


@pytest.fixture
def model():
    return installed.find("starter-bert").path


def test_training_and_dev_documents_that_are_submitted_are_counted(project, filled, model):
    rows = [("short", "train", "submitted")] * 5 + [
        (LONG, "train", "submitted"),
        (LONG, "dev", "submitted"),
        (LONG, None, "submitted"),
    ]
    layer = filled(
        [*rows, (LONG, "test", "submitted"), (LONG, "train", "draft"), (WIDE, "train", "submitted")]
    )

    result = cut_texts.count_cut(project, layer, model, max_length=32)

    whole = [(text,) for text, split, state in [*rows, (WIDE, "train", "submitted")]]
    expected = sum(cut for _piece, cut in Tokenizer.load(model).whole(whole, 32))
    assert result == cut_texts.CutCount(texts=9, cut=expected, max_length=32) and expected >= 3


def test_a_text_of_exactly_the_length_is_not_cut(project, filled, model):
    added, layer = (
        Tokenizer.load(model).added,
        filled([("a " * n, "train", "submitted") for n in (9, 10, 11)]),
    )

    assert cut_texts.count_cut(project, layer, model, max_length=10 + added).cut == 1


def test_short_texts_are_not_read_and_very_many_characters_are_left_to_the_sample(
    project, filled, model, monkeypatch
):
    layer = filled([("short text", "train", "submitted")] * 3 + [(LONG, "train", "submitted")])
    read, asked = documents.records, []
    monkeypatch.setattr(
        documents,
        "records",
        lambda db, *, ids, **more: asked.extend(ids) or read(db, ids=ids, **more),
    )

    assert cut_texts.count_cut(project, layer, model, max_length=64).cut == 0 and len(asked) == 1
    assert cut_texts.count_cut(project, layer, model, max_length=64, characters=100) is None


def test_counting_can_be_called_off(project, filled, model):
    layer, watch = filled([(LONG, "train", "submitted")]), Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        cut_texts.count_cut(project, layer, model, max_length=16, watch=watch)


def test_the_count_takes_the_place_of_the_share_in_words():
    sample = training_data.TextCheck(texts=300, unknown=0.0, cut=0.02, max_length=128)

    (about,) = training_data.text_warnings("classify", sample, "x")
    (exact,) = training_data.text_warnings(
        "classify", sample, "x", cut_texts.CutCount(60_000, 1234, 128)
    )

    assert about == "About 2% of the texts are longer than 128 subwords and will be truncated."
    assert exact == "Texts longer than 128 subwords, which will be truncated: 1,234 of 60,000."
    assert (
        training_data.text_warnings("classify", sample, "x", cut_texts.CutCount(60_000, 0, 128))
        == ()
    )
    assert training_data.text_warnings("tag", sample, "x", cut_texts.CutCount(60_000, 5, 128)) == ()
