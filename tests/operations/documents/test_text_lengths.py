"""Lengths in words and units: as the tokenizer says, stored by the text, found again by queries."""

import numpy as np
import pytest

from workbench.base.errors import Cancelled, ModelError
from workbench.base.watch import Watch
from workbench.operations.documents import text_lengths
from workbench.operations.models import tokenizers
from workbench.runtime.vocabularies.measures import measure
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXTS = ("the tram is late", "", "שלום עולם", "thank you " * 100, "你好")


@pytest.fixture
def ids(project):
    records = [Record(Document(f"k{n}", (("text", text),))) for n, text in enumerate(TEXTS)]
    with project.edit("fill"):
        return documents.add(project.db, records, source_id=project.source("import"))


def test_lengths_are_those_of_the_tokenizer(project, ids):
    found = text_lengths.measure(project, ids, "starter-bert")

    given = [text for text in TEXTS if text]
    fit = measure(tokenizers.preparer_of("starter-bert"), given)
    assert [n for n, text in zip(found.units, TEXTS, strict=True) if text] == list(fit.lengths)
    assert found.words.tolist() == [4, 0, 2, 200, 2]
    assert found.to_json()["cut"] == {"128": 0.2, "256": 0.0, "512": 0.0}


def test_what_was_measured_is_not_measured_again(project, ids, monkeypatch):
    before = text_lengths.measure(project, ids, "starter-bert")
    monkeypatch.setattr(text_lengths, "_documents", None)

    again = text_lengths.measure(project, ids[::-1], "starter-bert")

    assert np.array_equal(before.units, again.units) and list(again.ids) == ids


def test_a_cancelled_measurement_keeps_what_is_done(project, ids, monkeypatch):
    monkeypatch.setattr(text_lengths, "PAGE", 2)
    message = []
    watch = Watch(
        lambda share: message.append(share) or (share > 0.3 and watch.cancel()),
        clock=iter(range(99)).__next__,
    )

    with pytest.raises(Cancelled):
        text_lengths.measure(project, ids, watch=watch)

    counted = []
    words = text_lengths._words
    monkeypatch.setattr(text_lengths, "_words", lambda some: counted.extend(some) or words(some))
    assert text_lengths.measure(project, ids).words.tolist() == [4, 0, 2, 200, 2]
    assert 0 < len(counted) < len(TEXTS)


def test_a_damaged_store_is_measured_anew(project, ids):
    text_lengths.measure(project, ids)
    (file,) = (text_lengths.paths.cache_folder() / text_lengths.FOLDER).glob("*.npy")
    file.write_bytes(b"no array")

    assert text_lengths.measure(project, ids).words.tolist() == [4, 0, 2, 200, 2]


def test_bins_cover_all_documents_and_lead_to_them(project, ids):
    found = text_lengths.measure(project, ids)

    edges, words, units = found.histogram(10)

    assert sum(words) == len(ids) and units == [] and len(edges) == len(words) + 1
    assert found.within(edges[0], edges[1]) == [ids[0], ids[1], ids[2], ids[4]]
    assert found.within(200, None) == [ids[3]]


def test_nothing_to_measure(project):
    found = text_lengths.measure(project, (), "starter-bert")

    assert found.to_json()["cut"]["128"] == 0.0 and found.histogram(10)[1] == [0]


def test_a_model_that_does_not_exist(project, ids):
    with pytest.raises(ModelError):
        text_lengths.measure(project, ids, "no-such-model")
