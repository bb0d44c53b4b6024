"""Files as questions, answers as files."""

import csv
import json
from pathlib import Path

import pytest

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.watch import Watch
from workbench.operations.runs import predict, predict_files
from workbench.text.document import Document
from workbench.text.fields import ClassScores, Prediction


def texts_of(documents):
    return [document.text for document in documents]


def test_a_text_file_gives_one_document_a_line_empty_ones_too(tmp_path):
    path = tmp_path / "many.txt"
    path.write_bytes("\ufeffone\r\n\nthree\u2028and more\n😀".encode())

    documents, skipped = predict_files.read_inputs(path)

    assert texts_of(documents) == ["one", "", "three\u2028and more", "😀"] and skipped == ()


def test_tables_and_json_lines_are_read_as_an_import_would(tmp_path):
    (tmp_path / "a.csv").write_text("id,text\nx1,hello there\nx2,good bye\n")
    (tmp_path / "b.jsonl").write_text('{"text": "first"}\n{broken\n{"text": "third"}\n')

    documents, skipped = predict_files.read_inputs(tmp_path)

    assert (
        texts_of(documents) == ["hello there", "good bye", "first", "third"]
        and documents[0].key == "x1"
    )
    assert [(record.line, record.file.endswith("b.jsonl")) for record in skipped] == [(2, True)]


def test_a_file_that_is_missing_empty_or_no_text_says_so(tmp_path):
    (tmp_path / "noise.txt").write_bytes(b"fine\n\xff\xfe\n")
    (tmp_path / "empty.csv").write_text("")

    with pytest.raises(WorkbenchError, match="noise.txt, line 2"):
        predict_files.read_inputs(tmp_path / "noise.txt")
    with pytest.raises(WorkbenchError, match="empty.csv"):
        predict_files.read_inputs(tmp_path / "empty.csv")
    with pytest.raises((WorkbenchError, OSError)):
        predict_files.read_inputs(tmp_path / "none.txt")


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
        predict.answers(queue, tmp_path, documents, title="Predict", watch=watch)

    assert [folder.exists() for folder in folders] == [False]


def test_an_answer_has_the_keys_of_the_command_line():
    (document,) = predict_files.texts_to_documents([("one", "other")])
    line = predict_files.answer_json(document, Prediction((ClassScores(("A", "B"), (0.25, 0.75)),)))

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

    found, skipped = predict_files.read_inputs(tmp_path)

    assert [item.text for item in found] == ["one", "two"]
    assert [record.file for record in skipped] == [str(tmp_path / "b.png")]


def test_a_device_is_not_read_without_end():
    if not Path("/dev/zero").exists():
        pytest.skip("there is no /dev/zero here")

    with pytest.raises(WorkbenchError, match="device"):
        predict_files.read_inputs(Path("/dev/zero"))


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
