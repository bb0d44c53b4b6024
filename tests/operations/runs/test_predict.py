"""Files as questions, answers as files."""

import csv
import json
import sys
from pathlib import Path

import pytest

from workbench.base.errors import Cancelled, ExportFailed, JobFailed, WorkbenchError
from workbench.base.watch import Watch
from workbench.exporters.data import parquet
from workbench.operations.runs import predict, predict_files
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction, SpanScores
from workbench.text.result_view import answer_json
from workbench.text.spans import Span


def texts_of(documents):
    return [document.text for document in documents]


def read(source, **more):
    """The documents, and the lines without one."""
    skipped = []
    return list(predict_files.read_inputs(source, skipped.append, **more)), skipped


def test_a_text_file_gives_one_document_a_line_empty_ones_too(tmp_path):
    path = tmp_path / "many.txt"
    path.write_bytes("\ufeffone\r\n\nthree\u2028and more\n😀".encode())

    documents, skipped = read(path)

    assert texts_of(documents) == ["one", "", "three\u2028and more", "😀"] and skipped == []


def test_tables_and_json_lines_are_read_as_an_import_would(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nx1,hello there\nx2,good bye\n")
    (tmp_path / "b.jsonl").write_text('{"text": "first"}\n{broken\n{"text": "third"}\n')

    documents, skipped = read(tmp_path)

    assert (
        texts_of(documents) == ["hello there", "good bye", "first", "third"]
        and documents[0].key == "x1"
    )
    assert [(record.line, record.file.endswith("b.jsonl")) for record in skipped] == [(2, True)]


def test_a_file_that_is_missing_empty_or_no_text_says_so(tmp_path):
    (tmp_path / "noise.txt").write_bytes(b"fine\n\xff\xfe\n")
    (tmp_path / "empty.csv").write_text("")

    with pytest.raises(WorkbenchError, match="noise.txt, line 2"):
        read(tmp_path / "noise.txt")
    with pytest.raises(WorkbenchError, match="empty.csv"):
        read(tmp_path / "empty.csv")
    with pytest.raises((WorkbenchError, OSError)):
        read(tmp_path / "none.txt")


def test_answers_are_saved_as_csv_or_json_lines_and_the_project_stays(
    project, queue, trained, tmp_path, answers
):
    answers("praise")
    source = tmp_path / "texts.txt"
    source.write_text("tram late\nthanks\n")

    collected = [
        predict_files.apply_to_files(project, queue, trained, source, tmp_path / name)
        for name in ("out.csv", "out.jsonl")
    ]

    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert (
        [row["label"] for row in rows] == ["praise"] * 2
        and rows[0]["text"] == "tram late"
        and rows[0]["key"] == "texts.txt:1"
    )
    assert (
        lines[1]["text"] == "thanks"
        and lines[1]["label"] == "praise"
        and collected[0].documents == 2
    )
    from workbench.operations.documents import corpus

    assert corpus.info(project)["documents"] == 20


def cancelled(job, watch):
    watch.cancel()
    job.end("cancelled")


def failed(job, _watch):
    job.end("failed", message="No memory.")


def damaged(job, _watch):
    job.end("done")  # without the file of the predictions


@pytest.mark.parametrize(
    ("end", "error"), [(cancelled, Cancelled), (failed, JobFailed), (damaged, JobFailed)]
)
def test_a_prediction_without_a_result_leaves_no_folder(queue, tmp_path, end, error):
    folders, watch = [], Watch()

    def worker(job):
        folders.append(Path(job.spec.folder))
        assert list(folders[0].iterdir())  # the texts
        end(job, watch)

    queue.worker = worker
    documents = [Document("1", (("text", "one"),), id=1)]

    with pytest.raises(error):
        with predict.Inputs(documents) as inputs:
            models = [predict_files.TrainedModel(tmp_path)]
            list(predict_files.predict(queue, models, inputs, watch=watch))

    assert [folder.exists() for folder in folders] == [False]


def test_an_answer_has_the_keys_of_the_command_line():
    (document,) = predict_files.texts_to_documents([("one", "other")])
    line = answer_json(document, Prediction((ClassScores(("A", "B"), (0.25, 0.75)),)))

    assert line == {
        "text": "one",
        "text_b": "other",
        "label": "B",
        "scores": {"A": 0.25, "B": 0.75},
        "tokens": [],
        "spans": [],
        "cut": False,
        "fields": ["classes"],
    }


def test_a_picture_in_a_folder_is_named_and_the_texts_beside_it_are_read(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))

    found, skipped = read(tmp_path)

    assert [item.text for item in found] == ["one", "two"]
    assert [record.file for record in skipped] == [str(tmp_path / "b.png")]


def test_a_device_is_not_read_without_end():
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero here")

    with pytest.raises(WorkbenchError, match="device"):
        read(Path("/dev/zero"))


def test_a_tagger_of_imported_tokens_warns_once_where_texts_come_without(tmp_path):
    raw = predict_files.texts_to_documents(["one", "two"])
    tokens = [Document("1", (("text", "one"),), tokens={"text": ((0, 3),)})]

    def describe(description, asked):
        (tmp_path / "glossbench.json").write_text(json.dumps(description))
        return predict.token_note(tmp_path, asked)

    assert "8% of them differ" in describe({"tokens": {"alike": 0.92}}, raw)
    assert describe({"tokens": {"alike": 0.92}}, tokens) == "" and "8%" in describe(
        {"tokens": {"alike": 0.92}}, [*tokens, *raw]
    )
    assert (
        describe({"tokens": {"alike": 0.995}}, raw)
        == describe({"tokens": None}, raw)
        == describe({}, raw)
        == describe([], raw)
        == ""
    )
    assert predict.token_note(tmp_path / "none", raw) == ""


def test_of_several_models_the_mean_is_predicted(queue, answer_job, tmp_path):
    scores = {"a": 0.9, "b": 0.5}
    queue.worker = lambda job: answer_job(job, "praise", scores[job.spec.params["model"]])
    documents = predict_files.texts_to_documents(["one", "two"])
    models = [predict_files.TrainedModel(Path(name)) for name in scores]

    with predict.Inputs(documents) as inputs:
        rows = list(predict_files.predict(queue, models, inputs))

    assert texts_of(document for document, _prediction in rows) == ["one", "two"]
    assert [prediction.classes.as_dict()["praise"] for _document, prediction in rows] == [
        pytest.approx(0.7)
    ] * 2


def rows_of(n, text="one"):
    scores = ClassScores(("A", "B"), (0.25, 0.75))
    return [
        (Document(str(number), (("text", f"{text} {number}"),)), Prediction((scores,)))
        for number in range(n)
    ]


def test_a_table_has_the_probability_of_each_label(tmp_path):
    spans = (rows_of(1)[0][0], Prediction((SpanScores((Span(0, 3, "X", score=0.5),)),)))
    predict_files.save_answers([*rows_of(2), spans], tmp_path / "out.csv")

    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert list(rows[0]) == [
        "key", "text", "text_b", "label", "score", "spans", "cut", "probabilities"
    ]  # fmt: skip
    assert rows[1]["key"] == "1" and rows[1]["score"] == "0.750000"
    assert json.loads(rows[1]["probabilities"]) == {"A": 0.25, "B": 0.75}
    assert rows[2]["probabilities"] == ""


def test_parquet_has_the_columns_of_csv_with_numbers_in_groups_of_rows(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet, "GROUP_ROWS", 2)
    (tag,) = predict_files.texts_to_documents(["lone \ud800"])
    spans = (tag, Prediction((SpanScores((Span(0, 4, "X", score=0.5),)),), cut=True))

    count = predict_files.save_answers([*rows_of(3), spans], tmp_path / "out.parquet")

    file = pq.ParquetFile(tmp_path / "out.parquet")
    first, *_rest, last = file.read().to_pylist()
    assert (count, file.num_row_groups) == (4, 2)
    assert (first["key"], first["label"], first["score"], first["cut"]) == ("0", "B", 0.75, False)
    assert dict(first["probabilities"]) == {"A": 0.25, "B": 0.75}
    assert (last["text"], last["score"], last["cut"]) == ("lone \ufffd", None, True)
    assert json.loads(last["spans"])[0]["label"] == "X" and last["probabilities"] is None


@pytest.mark.parametrize("name", ["out.jsonl", "out.csv", "out.parquet"])
def test_predictions_that_end_early_leave_the_file_that_was_there(tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")

    def rows():
        yield from rows_of(3)
        raise Cancelled()

    out = tmp_path / "saved" / name
    out.parent.mkdir()
    out.write_text("before")

    with pytest.raises(Cancelled):
        predict_files.save_answers(rows(), out)

    assert out.read_text() == "before" and list(out.parent.iterdir()) == [out]


def test_a_model_that_still_predicts_has_no_draft_beside_the_file(tmp_path):
    beside = []

    def rows():
        beside.extend(tmp_path.glob(".out*"))
        yield from rows_of(2)

    assert predict_files.save_answers(rows(), tmp_path / "out.csv") == 2
    assert beside == [] and (tmp_path / "out.csv").exists()


def test_a_full_disk_is_reported_and_leaves_no_file(tmp_path, monkeypatch):
    full = OSError(28, "No space left on device")
    monkeypatch.setattr("os.fsync", lambda _file: (_ for _ in ()).throw(full))

    with pytest.raises(ExportFailed, match=r"No space left on device.*Free up disk space"):
        predict_files.save_answers(rows_of(1), tmp_path / "out.csv")

    assert list(tmp_path.glob("*out.csv*")) == list(tmp_path.glob(".*out.csv*")) == []


def test_what_cannot_be_written_is_refused_before_anything_is_predicted(
    project, queue, trained, tmp_path, monkeypatch
):
    source = tmp_path / "texts.csv"
    source.write_text("text\none\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    before = queue.jobs
    for out, word in (
        (source, "is the input"),
        (tmp_path, "is a folder"),
        (project.path, "is a project"),
        (tmp_path / "none" / "out.csv", "There is no folder"),
        (tmp_path / "out.parquet", "Parquet needs the Python package pyarrow.*extra “parquet”"),
    ):
        with pytest.raises(ExportFailed, match=word):
            predict_files.apply_to_files(project, queue, trained, source, out)

    assert queue.jobs == before and source.read_text() == "text\none\n"


def test_the_file_of_predictions_in_a_folder_is_not_predicted(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "out.jsonl").write_text('{"text": "two"}\n')

    documents, _skipped = read(tmp_path, leave_out=tmp_path / "out.jsonl")

    assert texts_of(documents) == ["one"]


def test_documents_are_read_as_they_are_asked_for(tmp_path):
    (tmp_path / "a.txt").write_text("one\n" * 3)
    (tmp_path / "b.csv").write_text('id,text\n1,two\n2,"three\n')
    skipped = []

    documents = predict_files.read_inputs(tmp_path, skipped.append)

    assert [next(documents).text for _number in range(4)] == ["one"] * 3 + ["two"]
    assert skipped == [] and list(documents) == []
    assert [(Path(line.file).name, line.line) for line in skipped] == [("b.csv", 3)]


def test_answers_of_other_documents_are_refused(queue, answer_job, tmp_path):
    def shuffled(job):
        output = Path(job.spec.params["output"])
        answer_job(job, "praise")
        output.write_text("".join(reversed(output.read_text().splitlines(keepends=True))))

    queue.worker = shuffled
    with predict.Inputs(predict_files.texts_to_documents(["one", "two"])) as inputs:
        rows = predict_files.predict(queue, [predict_files.TrainedModel(tmp_path)], inputs)
        with pytest.raises(JobFailed, match="cannot be read"):
            list(rows)


def test_an_exported_onnx_folder_is_named_by_its_path(tmp_path):
    (tmp_path / "labels.json").write_text('{"task": "pairs"}')
    (tmp_path / "model.onnx").touch()

    model = predict_files.model_named(str(tmp_path))

    assert (model, model.form) == (predict_files.TrainedModel(tmp_path), 2)
