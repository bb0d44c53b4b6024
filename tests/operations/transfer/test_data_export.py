import json
import os
from itertools import count

import pytest

from workbench.base.errors import Cancelled, ExportFailed
from workbench.base.watch import Watch
from workbench.operations.documents import corpus
from workbench.operations.transfer import data_export, data_import
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.fields import Prediction, SpanScores
from workbench.text.spans import Span


def test_the_own_format_comes_back_byte_for_byte(copy_sample, tmp_path, inline_jobs):
    from workbench.project.project import Project

    first = Project.open(copy_sample(tmp_path))
    second = Project.create(tmp_path / "second.glossbench")
    try:
        item, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
        data_export.export_data(first, item, format="glossbench")
        data_import.import_files(second, inline_jobs, [item])
        data_export.export_data(second, two, format="glossbench")

        assert item.read_bytes() == two.read_bytes()
        assert corpus.labels(first) == corpus.labels(second)
    finally:
        first.close()
        second.close()


def test_conll_through_the_own_format_gives_the_first_file(tmp_path, inline_jobs, data_folder):
    from workbench.project.project import Project

    path = data_folder / "datasets/ner-weibo-zh/dev.conll"
    project, other = (
        Project.create(tmp_path / "a.glossbench"),
        Project.create(tmp_path / "b.glossbench"),
    )
    try:
        data_import.import_files(project, inline_jobs, [path], split="dev")
        data_export.export_data(project, tmp_path / "own.jsonl", format="glossbench")
        data_import.import_files(other, inline_jobs, [tmp_path / "own.jsonl"])
        data_export.export_data(other, tmp_path / "back.conll", format="conll", split="dev")

        assert (tmp_path / "back.conll").read_bytes() == path.read_bytes()
    finally:
        project.close()
        other.close()


def test_only_the_wanted_split_is_written(project, topics, tmp_path):
    assert (
        data_export.export_data(project, tmp_path / "x.csv", format="csv", split="dev").documents
        == 4
    )
    assert (
        data_export.export_data(project, tmp_path / "x.csv", format="csv", split="none").documents
        == 4
    )


def test_predictions_take_the_place_of_gold_or_stand_beside_it(project, trained, tmp_path):
    out = tmp_path / "x.jsonl"

    result = data_export.export_data(
        project, out, format="doccano", split="dev", source="predictions", run=trained
    )
    assert result.documents == 4 and json.loads(out.read_text().splitlines()[0])["label"] == [
        "praise"
    ]

    data_export.export_data(
        project, out, format="glossbench", split="dev", source="both", run=trained
    )
    header, first, *_ = map(json.loads, out.read_text().splitlines())
    assert [layer["name"] for layer in header["layers"]] == ["topic", "topic (first)"]
    assert first["marks"] == {"topic": ["complaint"], "topic (first)": ["praise"]}


@pytest.fixture
def two_span_layers(project, add_layer, add_documents):
    """Layers `names` and `places` with gold on one document, another without answer, and a run that
    answered for `places`.
    """
    add_layer("names", "span", ("PER",))
    places = add_layer("places", "span", ("LOC",))
    add_documents(
        [
            ("Ada in Rome", "dev", "submitted", "names", [(0, 3, "PER")]),
            ("Bob", "dev", "submitted", "names", [(0, 3, "PER")]),
        ]
    )
    first, _second = documents.ids(project.db)
    hash = documents.get(project.db, first).text_hash
    with project.write():
        run = runs.add(
            project.db, "r", "train", layer_id=places.id, spec={"task": "tag"}, status="done"
        )
        runs.save_predictions(
            project.db,
            run.id,
            [(first, hash, Prediction((SpanScores((Span(7, 11, "LOC"),)),)).to_json())],
        )
    return runs.get(project.db, run.id)


@pytest.mark.parametrize("format", [format_.id for format_ in data_export.formats()])
def test_an_export_of_predictions_holds_no_gold(project, two_span_layers, tmp_path, format):
    out = tmp_path / "out"

    result = data_export.export_data(
        project, out, format=format, source="predictions", run=two_span_layers
    )

    files = list(out.iterdir()) if out.is_dir() else [out]
    assert files
    assert not any(word in file.read_text() for file in files for word in ("PER", "Bob"))
    assert (
        "Only the predictions for layer places are exported. "
        "Layers without predictions were omitted: names." in result.warnings
    )
    # Nothing without tokens, questions or answers to choose from.
    if format not in ("conllu", "squad", "squad_jsonl", "preferences", "preferences-chat"):
        assert (
            "1 document has no prediction of this run and was omitted." in result.warnings
            and result.documents == 1
        )


def test_the_note_says_beforehand_that_predictions_leave_gold_out(project, two_span_layers):
    alone = data_export.what_is_lost("conll", project, source="predictions", run=two_span_layers)
    both = data_export.what_is_lost("conll", project, source="both", run=two_span_layers)

    assert any("Layers without predictions were omitted: names" in line for line in alone)
    assert not any("One layer is written" in line for line in alone) and any(
        "One layer is written" in line for line in both
    )


def test_columns_of_gold_and_predictions_are_about_one_layer(project, two_span_layers, tmp_path):
    data_export.export_data(
        project, tmp_path / "x.conll", format="conll", source="both", run=two_span_layers
    )

    assert (tmp_path / "x.conll").read_text().split("\n\n")[
        0
    ] == "Ada\tO\tO\nin\tO\tO\nRome\tO\tB-LOC"


def test_what_cannot_be_is_reported_and_nothing_is_written(project, topics, tmp_path):
    for path, options, word in (
        (tmp_path / "x", {"format": "odd"}, "odd"),
        (tmp_path / "x", {"format": "csv", "split": "odd"}, "odd"),
        (tmp_path, {"format": "csv"}, "folder"),
        (project.path, {"format": "csv"}, "is a project"),
        (tmp_path / "none" / "x", {"format": "csv"}, "There is no folder"),
        (tmp_path / "x", {"format": "csv", "source": "predictions"}, "run"),
    ):
        with pytest.raises(ExportFailed, match=word):
            data_export.export_data(project, path, **options)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "x"))]


def test_an_exporter_that_returns_no_number_is_refused(project, topics, tmp_path, monkeypatch):
    class Silent:
        def write(self, records, plan, out):
            out.write("something")

    monkeypatch.setattr(data_export, "_exporter", lambda format: Silent())
    monkeypatch.setattr(data_export, "_options", lambda format: {})

    with pytest.raises(ExportFailed, match="lines.all returned NoneType, expected the number"):
        data_export.export_data(project, tmp_path / "x", format="lines.all")

    assert not list(tmp_path.glob("*x*"))


def test_an_exporter_names_its_losses_in_a_tuple(project, topics, monkeypatch):
    class Texts:
        def lost(self, layers):
            return "topic is not written."

    monkeypatch.setattr(data_export, "_exporter", lambda format: Texts())

    with pytest.raises(ExportFailed, match="`lost` of the exporter lines.all returned str, exp"):
        data_export.what_is_lost("lines.all", project)


def test_a_full_disk_leaves_the_old_file_as_it_was(project, topics, tmp_path, monkeypatch):
    out = tmp_path / "x.csv"
    out.write_text("old")
    monkeypatch.setattr(
        "os.fsync", lambda _fd: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )

    with pytest.raises(ExportFailed, match="Free up disk space"):
        data_export.export_data(project, out, format="csv")

    assert (
        out.read_text() == "old"
        and [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []
    )


def test_a_run_without_predictions_says_so(project, topics, tmp_path):
    with project.write():
        run = runs.add(project.db, "bare", "train", layer_id=topics[0].id)

    with pytest.raises(ExportFailed, match="bare"):
        data_export.export_data(
            project, tmp_path / "x.csv", format="csv", source="predictions", run=run
        )


def test_an_export_can_be_called_off(project, topics, tmp_path):
    watch = Watch(lambda share: watch.cancel() if share >= 0.1 else None, clock=count().__next__)

    with pytest.raises(Cancelled, match="No file was written"):
        data_export.export_data(project, tmp_path / "x.csv", format="csv", watch=watch)

    assert 0.1 <= watch.share < 0.5

    assert not list(tmp_path.glob("*x.csv*"))


def test_only_an_ordinary_file_that_is_no_project_is_put_in_place(project, topics, tmp_path):
    other = Project.create(tmp_path / "other.glossbench")
    other.close()
    before = other.path.read_bytes()
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")

    for name, words in (
        ("other.glossbench", "is a project"),
        ("pipe", "pipe or a device"),
        ("circle", "could not be written"),
    ):
        with pytest.raises(ExportFailed, match=words):
            data_export.export_data(project, tmp_path / name, format="csv")

    assert other.path.read_bytes() == before and (tmp_path / "pipe").is_fifo()


def test_a_link_is_followed_and_stays_a_link(project, topics, tmp_path):
    (tmp_path / "link.csv").symlink_to("real.csv")

    data_export.export_data(project, tmp_path / "link.csv", format="csv")

    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "real.csv").read_text().startswith(
        "id,"
    )
