"""`import`, `labels`, `export-data`: the same values as the operations, as JSON and in words."""

import json
import re
import signal
import subprocess
import sys

import psutil
import pytest

from workbench.base import paths
from workbench.jobs.queue import Queue
from workbench.project.project import Project
from workbench.storage.connections import identity
from workbench.storage.staging import copy_staged

pytestmark = pytest.mark.process  # an import parses in a child

LINES = [
    {"text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]},
    {"text": "in Paris", "label": [[3, 8, "LOC"]]},
]


@pytest.fixture
def filled(ask, file, tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)) + "\n{broken\n")
    answer = ask("import", "import", file, path, "--format", "doccano", "--split", "dev")
    assert (answer["documents"], answer["spans"]) == (2, 3)
    assert [(item["line"], item["file"].endswith("two.jsonl")) for item in answer["skipped"]] == [
        (3, True)
    ]
    return file


def test_a_folder_of_brat_comes_back_from_its_export(ask, call, filled, file, tmp_path):
    assert call("export-data", filled, tmp_path / "brat", "--format", "brat")[0] == 0
    again = tmp_path / "again.glossbench"
    assert call("project", "new", again)[0] == 0

    answer = ask("import", "import", again, tmp_path / "brat")

    assert (answer["documents"], answer["spans"], answer["skipped"]) == (2, 3, [])


def test_labels_are_listed_with_counts(ask, call, filled):
    layers = {
        item["layer"]: {label["name"]: label["count"] for label in item["labels"]}
        for item in ask("labels", "labels", filled)
    }

    assert {"PER": 2, "LOC": 1} in layers.values() and "PER" in call("labels", filled)[1]


def test_what_goes_out_is_what_came_in(ask, call, filled, tmp_path):
    out = tmp_path / "out.jsonl"

    answer = ask("export-data", "export-data", filled, out, "--format", "doccano", "--split", "dev")

    texts = [json.loads(line)["text"] for line in out.read_text().splitlines()]
    assert answer["documents"] == 2 and texts == [line["text"] for line in LINES]


def test_columns_are_mapped_by_role(ask, file, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("nr,words,kind\nk1,one,A\nk2,two,B\n")

    ask(
        "import",
        "import",
        file,
        path,
        "--map",
        "id=nr",
        "--map",
        "text=words",
        "--map",
        "label:topic=kind",
    )

    (topic,) = [item for item in ask("labels", "labels", file) if item["layer"] == "topic"]
    assert [label["count"] for label in topic["labels"]] == [1, 1]


def test_an_import_says_in_words_what_was_skipped(call, file, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "fine", "label": []}\n{"text": "short", "label": [[0, 99, "A"]]}\n')

    code, out, err = call("import", file, path, "--format", "doccano")

    assert code == 0 and out.startswith("Imported 1 document, ") and "line 2" in err


def test_predictions_need_a_run(call, file, tmp_path):
    code, _out, err = call(
        "export-data", file, tmp_path / "o", "--format", "doccano", "--source", "predictions"
    )

    assert code == 2 and "--run" in err


NESTED = "the\tB-PER\tO\nking\tI-PER\tO\nof\tI-PER\tO\nFrance\tI-PER\tB-GPE\n"


def test_every_column_of_tags_comes_in_and_one_that_is_left_out_is_a_warning(ask, file, tmp_path):
    path = tmp_path / "n.conll"
    path.write_text(NESTED)

    assert ask("import", "import", file, path)["spans"] == 2
    answer = ask(
        "import", "import", file, path, "--duplicates", "add", "--map", "text=1", "--map", "tag:x=2"
    )

    assert answer["spans"] == 1 and "column 3 holds tags and is left out (1 span)" in str(answer)


def test_several_columns_are_mapped_to_one_layer(ask, file, tmp_path):
    path = tmp_path / "n.conll"
    path.write_text(NESTED)

    ask("import", "import", file, path, *"--map text=1 --map tag:x=2 --map tag:x=3".split())

    (layer,) = [item for item in ask("labels", "labels", file) if item["layer"] == "x"]
    assert {label["name"]: label["count"] for label in layer["labels"]} == {"PER": 1, "GPE": 1}


def test_a_dry_run_shows_the_text_column_that_is_imported_beside_named_ones(call, file, tmp_path):
    path = tmp_path / "topics.csv"
    path.write_text("text,coarse,fine\nWho?,HUM,HUM:ind\n", encoding="utf-8")

    code, out, _err = call("import", file, path, "--map", "label:class=coarse", "--dry-run")

    assert code == 0
    assert [line.split()[:2] for line in out.splitlines()[2:5]] == [
        ["text", "text"],
        ["coarse", "label:class"],
        ["fine", "left"],
    ]


def test_a_dry_run_shows_columns_spans_and_errors_and_changes_nothing(ask, call, file, tmp_path):
    path = tmp_path / "n.conll"
    path.write_text(NESTED + "\nbroken\n")

    (found,) = ask("import-dry-run", "import", file, path, "--dry-run")

    assert [column["spans"] for column in found["columns"]] == [None, 1, 1]
    assert found["problems"] == [{"line": 6, "reason": "the line has 1 column, expected 3"}]
    assert (found["checked"], found["failed"], found["complete"]) == (2, 1, True)
    code, out, err = call("import", file, path, "--dry-run")
    assert code == 0 and "tag:spans" in out and "Line 6" in err
    assert ask("project-info", "project", "info", file)["documents"] == 0


def test_ctrl_c_while_an_import_is_stored_rolls_it_back(call, ask, file, tmp_path, monkeypatch):
    source = tmp_path / "lines.txt"
    source.write_text("one\ntwo\n", encoding="utf-8")
    copy_documents = copy_staged.copy_documents

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return copy_documents(*arguments, **options)

    monkeypatch.setattr(copy_staged, "copy_documents", interrupted)
    code, _out, err = call("import", file, source)

    assert code == 1 and "cancelled" in err
    assert ask("project-info", "project", "info", file)["documents"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_import_leaves_no_copy_of_the_texts(call, file, tmp_path):
    source = tmp_path / "many.txt"
    source.write_text("some private text\n" * 1_000_000, encoding="utf-8")
    command = [sys.executable, "-m", "workbench", "import", str(file), str(source)]
    importing = subprocess.Popen(command, stderr=subprocess.PIPE)
    assert b"Importing" in importing.stderr.readline()  # so the worker is at it
    (worker,) = psutil.Process(importing.pid).children()

    importing.kill()
    importing.wait()
    importing.stderr.close()

    worker.wait(30)
    assert [path for path in paths.cache_folder().rglob("*") if path.is_file()] == []


def test_equal_texts_under_other_keys_are_counted_and_can_be_skipped(ask, file, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,text\na,one\nb,one\n")

    answer = ask("import", "import", file, path, "--duplicates", "skip-text")

    assert answer["documents"] == 1 and answer["same_texts"] == {
        "project": 0,
        "files": 1,
        "action": "skipped",
    }


def test_formulas_in_a_table_are_warned_of_and_can_be_escaped(ask, call, file, tmp_path):
    path, out = tmp_path / "t.txt", tmp_path / "t.csv"
    path.write_text("=1+1\n")
    ask("import", "import", file, path)

    answer = ask("export-data", "export-data", file, out, "--format", "csv")
    assert any("formulas" in warning for warning in answer["warnings"])
    assert any("Colours" in sentence for sentence in answer["lost"])
    code, _out, err = call("export-data", file, out, "--format", "csv")
    assert code == 0 and "formulas" in err and "Not kept: Colours" in err

    answer = ask("export-data", "export-data", file, out, "--format", "csv", "--escape-formulas")
    assert answer["warnings"] == [] and ",'=1+1," in out.read_text()


def test_escaping_is_for_tables_only(call, file, tmp_path):
    code, _out, err = call(
        "export-data", file, tmp_path / "o", "--format", "conll", "--escape-formulas"
    )

    assert code == 2 and "csv or tsv" in err


def test_splits_by_file_name_are_offered_and_set_on_request(ask, call, file, tmp_path):
    paths = [tmp_path / "train.txt", tmp_path / "test.txt"]
    for path in paths:
        path.write_text(f"from {path.name}\n")

    answer = ask("import", "import", file, *paths)
    assert any(
        "--split by-name" in warning and "train.txt → train" in warning
        for warning in answer["warnings"]
    )
    assert "by-name" in call("import", file, *paths)[2]

    ask("import", "import", file, *paths, "--split", "by-name", "--duplicates", "add")
    splits = ask("project-info", "project", "info", file)["splits"]
    assert (splits["train"], splits["test"], splits["none"]) == (1, 1, 2)


def test_what_a_format_does_not_keep_is_said_before_the_file_is_written(call, filled, tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()

    code, _out, err = call("export-data", filled, folder, "--format", "conll")

    assert code == 1 and err.index("Not kept:") < err.index("Error:")


def test_an_import_in_which_every_record_fails_ends_with_1(ask, call, file, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"text": 1}\n{"text": 2}\n')

    code, out, err = call("import", file, bad, "--json", "--map", "text=text")

    found = json.loads(out)
    assert f"Error: No record was imported. The first error: {bad}, line 1: " in err
    assert code == 1 and found["documents"] == 0 and len(found["skipped"]) == 2
    assert found["warnings"] == [
        "bad.jsonl: no record was imported, all 2 have errors. Check the format, delimiter and "
        "columns."
    ]


def test_suspicious_content_is_a_warning_of_an_import_and_of_its_preview(ask, file, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("text,label\nen,a\nen,-\nen,b\n")

    (preview,) = ask("import-dry-run", "import", file, table, "--dry-run")
    found = ask("import", "import", file, table)

    assert len(preview["warnings"]) == 2 and preview["warnings"] == found["warnings"][:2]
    assert "3 of 3 documents have the same text ('en')" in preview["warnings"][1]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode elsewhere")
def test_files_and_projects_may_have_names_that_are_not_utf_8(ask, call, tmp_path):
    project, data = tmp_path / "p\udce9.glossbench", tmp_path / "caf\udce9.txt"
    data.write_text("The 42 tram was late.\n")

    assert call("project", "new", project)[0] == 0
    assert ask("import", "import", project, data)["documents"] == 1
    assert ask(
        "export-data", "export-data", project, tmp_path / "\udce9.jsonl", "--format", "glossbench"
    )
    assert "1" in call("project", "info", project)[1]


def test_files_of_a_folder_that_hold_no_data_are_named_and_left_out(ask, file, tmp_path):
    folder = tmp_path / "export"
    folder.mkdir()
    texts = {"a.txt": "Ada is here\nnow", "a.ann": "T1\tPER 0 3\tAda\n", "b.txt": "one\ntwo"}
    others = {"c.ann": "T1\tPER 0 3\tEve\n", "README.txt": "about", "._a.txt": "", "d.txt": ""}
    for name, content in (texts | others).items():
        (folder / name).write_text(content)

    (preview, *_more) = ask("import-dry-run", "import", file, folder, "--dry-run")
    found = ask("import", "import", file, folder)

    assert (found["documents"], found["spans"]) == (2, 1)
    said = [
        "README.txt was left out: it describes the data.",
        "c.ann was left out: its text c.txt is missing.",
        "d.txt was left out: it is empty.",
    ]
    assert sorted(found["warnings"]) == sorted(preview["warnings"]) == said


def test_links_out_of_a_folder_are_named_in_the_result(ask, file, tmp_path):
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.txt").write_text("The tram.\n")
    (tmp_path / "data" / "b.txt").symlink_to(tmp_path / "secret.txt")

    found = ask("import", "import", file, tmp_path / "data")

    assert found["documents"] == 1
    assert "leads out of it and was not followed: b.txt" in found["warnings"][0]


def test_remarks_of_an_importer_are_in_the_preview(ask, file, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"tokens": ["We", "saw"], "ner_tags": [0, 1]}\n')

    (preview,) = ask("import-dry-run", "import", file, path, "--dry-run")

    assert "t.jsonl: ner_tags holds numbers of tags without their names" in preview["warnings"][0]


# ---------------------------------------------------------------- a project that goes away


def replaced(path, other):
    other.replace(path)


def overwritten(path, other):
    subprocess.run(["cp", other, path], check=True)


@pytest.fixture(params=[replaced, overwritten])
def replace(request, file, tmp_path):
    """A function that puts another project where the project file is, once."""
    other = tmp_path / "other.glossbench"
    Project.create(other).close()
    changes = [request.param]
    return lambda: changes and changes.pop()(file, other)


@pytest.fixture
def rows(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"text": "Ada met Bob."}\n')
    return tmp_path / "rows.jsonl"


NOT_THERE = re.compile("was (replaced by another file|overwritten by another program) while it")


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_an_import_into_a_file_that_is_replaced_meanwhile_fails(
    call, file, rows, replace, monkeypatch
):
    copied = copy_staged.copy_documents

    def slow(*args, **named):
        replace()
        return copied(*args, **named)

    monkeypatch.setattr(copy_staged, "copy_documents", slow)

    code, out, err = call("import", file, rows)

    assert code == 1 and out == "" and NOT_THERE.search(err)
    assert call("project", "check", file)[0] == 0 and not identity.log_of(file).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
def test_so_does_one_into_a_file_that_is_replaced_before_the_command_ends(
    call, file, rows, replace, monkeypatch
):
    close = Queue.close
    monkeypatch.setattr(Queue, "close", lambda queue: (replace(), close(queue)))

    code, out, err = call("import", file, rows)

    assert code == 1 and out == "" and NOT_THERE.search(err)
    assert call("project", "check", file)[0] == 0
