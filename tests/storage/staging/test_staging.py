import sqlite3

import pytest

from workbench.base.errors import WorkbenchError
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels
from workbench.storage.queries import search
from workbench.storage.staging import copy_staged, staging
from workbench.storage.staging.copy_staged import Targets
from workbench.storage.staging.staging import StagingWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span


def record(text, labels=(), spans=(), texts=1):
    pair = (("text", text),) if texts == 1 else (("text", text), ("text_b", text))
    marks = {"class": tuple(labels)} if labels else {}
    result = {"spans": tuple(Span(*span) for span in spans)} if spans else {}
    return Record(
        Document("", pair, tokens={"text": ((0, 1),)}),
        dict.fromkeys([*marks, *result], "submitted"),
        marks,
        result,
    )


@pytest.fixture
def staged(tmp_path):
    """staged(*records) → Staged; the keys are k0, k1 …"""

    def stage(*records, declare=()):
        writer = StagingWriter(tmp_path / "staging.sqlite")
        for layer in declare:
            writer.declare(layer)
        for number, item in enumerate(records):
            writer.add(item, f"k{number}", 0, number + 1)
        writer.close()
        return staging.examine(tmp_path / "staging.sqlite")

    return stage


def take(project, found, skip=(), keys=None):
    with copy_staged.attached(project.db, found.path), project.edit("Import", bulk=True):
        layers, names = {}, {}
        for layer in found.layers:
            layers[layer.n] = labels.add_layer(
                project.db, layer.layer.name, layer.layer.kind, texts=layer.layer.texts
            )
            for number, label in layer.labels:
                names[number] = labels.add_label(project.db, layers[layer.n], label.name)
        targets = Targets(layers, names, {0: project.source("import", "f")})
        copied = copy_staged.copy_documents(
            project.db,
            targets,
            annotator_id=project.annotator_id,
            at="2026-01-01T00:00:00Z",
            skip=list(skip),
            keys=keys or {},
        )
        return copied.documents, copied.spans


def test_records_come_into_the_project_as_they_were_and_undo_takes_them_back(project, staged):
    result = staged(
        record("Ada met", ["good"], [(0, 3, "PER")]),
        record("Bob", spans=[(0, 3, "PER"), (0, 1, "X")]),
    )

    assert take(project, result) == (2, 3)
    first, second = documents.records(project.db)
    assert (first.document.key, first.marks, first.document.tokens) == (
        "k0",
        {"class": ("good",)},
        {"text": ((0, 1),)},
    )
    assert [span.label for span in second.spans["spans"]] == ["PER", "X"] and second.states == {
        "spans": "submitted"
    }

    project.undo()
    assert not list(documents.records(project.db)) and not labels.layers(project.db)
    project.redo()
    assert [record.spans for record in documents.records(project.db)] == [first.spans, second.spans]


def test_many_texts_are_indexed_like_texts_added_one_by_one(project, staged, monkeypatch):
    monkeypatch.setattr(search, "LARGE_BATCH_TEXTS", 2)
    monkeypatch.setattr(search, "CHUNK_TEXTS", 2)

    take(project, staged(*(record(f"tram {number} \u6771") for number in range(5))))

    assert list(documents.ids(project.db, documents.Filter(text="tram \u6771 3"))) == [4]
    assert list(integrity.problems(project.db)) == []


def test_documents_can_be_left_out_and_renamed(project, staged):
    result = staged(record("one"), record("two"), record("three"))

    take(project, result, skip=[2], keys={3: "other"})

    assert [record.document.key for record in documents.records(project.db)] == ["k0", "other"]


def test_ids_of_an_undone_import_are_not_given_again(project, staged):
    result = staged(record("one"))
    take(project, result)
    (before,) = documents.ids(project.db)
    project.undo()

    take(project, result)

    assert documents.ids(project.db)[0] > before


def test_several_classes_make_a_multi_layer_and_pairs_one_of_their_own(staged):
    result = staged(record("a", ["x", "y"]), record("b", ["x"], texts=2))

    assert [(layer.layer.name, layer.layer.kind, layer.layer.texts) for layer in result.layers] == [
        ("class", "multi", 1),
        ("class", "class", 2),
    ]


def test_declared_layers_keep_their_labels_even_if_nothing_bears_them(staged):
    result = staged(
        record("a", ["x"]),
        declare=[Layer("class", "class", (Label("y", "#00ff00", "q"), Label("x")), guideline="G")],
    )

    (layer,) = result.layers
    assert (
        layer.declared
        and layer.layer.guideline == "G"
        and [label.name for _, label in layer.labels] == ["y", "x"]
    )


def test_a_staging_file_that_is_not_complete_is_refused(tmp_path):
    writer = StagingWriter(tmp_path / "s.sqlite")
    writer.add(record("a"), "k", 0, 1)
    writer.abandon()

    with pytest.raises(WorkbenchError, match="prepared import"):
        staging.examine(tmp_path / "s.sqlite")


def test_half_surrogates_in_the_description_of_a_layer_are_replaced(staged):
    odd = "x\ud800"
    layer = Layer(odd, "span", (Label(odd, odd, odd, odd),), guideline=odd)

    result = staged(declare=[layer])

    assert result.layers[0].layer.guideline == "x\ufffd"
    assert result.layers[0].labels[0][1] == Label(*["x\ufffd"] * 4)


def test_reasons_and_warnings_may_quote_what_is_not_unicode(tmp_path):
    writer = StagingWriter(tmp_path / "staging.sqlite")

    writer.skip(0, 1, "paragraph 1 of \ud800: the text is empty")
    writer.warn("\ud800 is unknown")
    writer.close()

    with sqlite3.connect(tmp_path / "staging.sqlite") as conn:
        stored = conn.execute("select reason from skipped union select * from warning").fetchall()
    conn.close()
    assert sorted(stored) == [("paragraph 1 of \ufffd: the text is empty",), ("\ufffd is unknown",)]
