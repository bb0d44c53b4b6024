"""`sample` and `project`: what they make, print and refuse."""

import io
import json

import jsonschema

from tests.cli.conftest import schema
from workbench.project.project import Project


def test_a_project_is_made_once_and_never_overwritten(call, file):
    before = file.read_bytes()

    code, _out, err = call("project", "new", file)

    assert code == 1 and file.name in err and file.read_bytes() == before


def test_a_project_file_has_its_ending(call, tmp_path):
    code, _out, err = call("project", "new", tmp_path / "p.sqlite")

    assert code == 1 and ".glossbench" in err and not (tmp_path / "p.sqlite").exists()


def test_the_sample_is_copied_under_a_free_name_and_described(ask, call, tmp_path):
    first = ask("sample", "sample", tmp_path / "new" / "folder")["path"]
    second = ask("sample", "sample", tmp_path / "new" / "folder")["path"]

    info = ask("project-info", "project", "info", second)

    assert first != second and info["documents"] == 488 and info["states"]["submitted"] == 360
    assert call("project", "info", first)[1].count("\n") == 8


def test_reading_works_beside_a_writer_and_writing_says_already_open(ask, call, file, tmp_path):
    import subprocess
    import sys

    (tmp_path / "one.txt").write_text("one\n")
    holder = (
        "import sys; from workbench.project.project import Project; p = "
        "Project.open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", holder, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    child.stdout.readline()
    try:
        assert ask("project-info", "project", "info", file)["documents"] == 0
        assert ask("project-check", "project", "check", file) == {"ok": True, "problems": []}
        assert ask("labels", "labels", file) == []
        code, _out, err = call("import", file, tmp_path / "one.txt")
        assert code == 1 and "already open" in err
        code, _out, err = call("evaluate", file, "--run", "r", "--split", "test")
        assert code == 1 and "already open" in err
    finally:
        child.communicate(b"")


def test_damage_is_found(call, file):
    import sqlite3

    Project.open(file).close()
    with sqlite3.connect(file) as conn:
        conn.execute("pragma foreign_keys = off")
        conn.execute("insert into body(document_id, field, content) values(99, 'text', 'lost')")
    conn.close()

    code, _out, err = call("project", "check", file)

    assert code == 1 and "problem" in err


def test_weights_of_a_run_that_changed_are_found(call, ask, file):
    from workbench.base import checksums, paths

    Project.open(file).close()
    model = paths.run_folder(file, 3) / "model"
    model.mkdir(parents=True)
    (model / "model.safetensors").write_bytes(b"weights")
    checksums.write(model)
    assert ask("project-check", "project", "check", file)["ok"]

    (model / "model.safetensors").write_bytes(bytes(7))
    code, _out, err = call("project", "check", file)

    assert code == 1 and "0003" in err and "model.safetensors is damaged" in err
    assert "recover" not in err


def test_info_counts_states_layer_by_layer(ask, call, tmp_path):
    path = ask("sample", "sample", tmp_path)["path"]

    layers = {
        layer["layer"]: layer["states"]
        for layer in ask("project-info", "project", "info", path)["layers"]
    }

    assert layers["pairs"] == {"pending": 0, "draft": 0, "submitted": 60, "discarded": 0}
    assert layers["class"]["submitted"] == 300 and layers["class"]["pending"] == 120
    assert "submitted" in call("project", "info", path)[1]


def test_a_file_that_is_no_project_is_named_and_left_alone(call, tmp_path):
    path = tmp_path / "junk.glossbench"
    path.write_bytes(b"")

    code, _out, err = call("project", "info", path)

    assert code == 1 and "junk.glossbench" in err and path.read_bytes() == b""


def test_a_project_is_copied_whole_and_nothing_is_overwritten(file, ask, call, tmp_path):
    answer = ask("project-copy", "project", "copy", file, tmp_path / "copy.glossbench")

    assert answer["path"] == str(tmp_path / "copy.glossbench")
    assert ask("project-info", "project", "info", answer["path"])["documents"] == 0
    code, _out, err = call("project", "copy", file, answer["path"])
    assert code == 1 and "exists already" in err


def test_a_version_is_saved_listed_and_restored(ask, call, file, tmp_path):
    saved = ask("project-backup", "project", "backup", file, "--name", "empty")
    (tmp_path / "one.txt").write_text("one\n")
    call("import", file, tmp_path / "one.txt")

    restored = ask("project-restore", "project", "restore", file, "empty")

    assert restored["restored"] == saved["file"]
    assert ask("project-info", "project", "info", file)["documents"] == 0
    listed = ask("project-backups", "project", "backups", file)
    assert [item["reason"] for item in listed] == ["before-restore", "named"]
    assert "before a restoration" in call("project", "backups", file)[1]
    code, _out, err = call("project", "restore", file, "full")
    assert code == 1 and "No version matches 'full'" in err and saved["file"][:-11] in err


def test_layers_and_labels_are_added_and_steps_undone_and_redone(ask, call, file):
    layers = lambda: [item["layer"] for item in ask("labels", "labels", file)]  # noqa: E731
    before = layers()
    added = ask("relabel-add", "relabel", "add", file, "topic", "fares", "--kind", "class")
    assert added == {"layer": "topic", "added": ["fares"]} and layers() == [*before, "topic"]
    added = ask("relabel-add", "relabel", "add", file, "topic", "fares", "weather")
    assert added["added"] == ["weather"]

    undone = ask("project-undo", "project", "undo", file, "--steps", "2")["undone"]
    assert len(undone) == 2 and layers() == before
    redone = ask("project-undo", "project", "undo", file, "--redo")["redone"]
    assert redone == undone[1:] and layers() == [*before, "topic"]

    code, _out, err = call("relabel", "add", file, "none", "a")
    assert code == 1 and "no layer none" in err and "--kind" in err
    call("project", "undo", file, "--steps", "99")
    code, _out, err = call("project", "undo", file)
    assert code == 1 and "nothing to undo" in err


def test_a_damaged_project_is_recovered_into_a_new_file(ask, call, tmp_path):
    path = tmp_path / "Metro messages.glossbench"
    call("sample", tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 4 * 3])

    code, _out, err = call("project", "check", path)
    assert code == 1 and "probably truncated" in err and "with `glossbench project recover`" in err
    code, out, _err = call("project", "check", path, "--json")
    message = json.loads(out)
    jsonschema.validate(message, schema("project-check"))
    found = ask("project-recover", "project", "recover", path, tmp_path / "new.glossbench")

    assert code == 1 and message["recoverable"]["documents"] == found["documents"] > 100
    assert found["lost"] == message["recoverable"]["lost"] != []
    assert call("project", "check", tmp_path / "new.glossbench")[0] == 0
    code, out, _err = call("project", "recover", path, tmp_path / "other.glossbench")
    assert code == 0 and "documents were written" in out and found["lost"][0] in out
    code, _out, err = call("project", "recover", path, tmp_path / "new.glossbench")
    assert code == 1 and "exists already" in err
    code, _out, err = call("project", "recover", path, tmp_path / "new.sqlite")
    assert code == 1 and ".glossbench" in err


def test_documents_are_removed_for_good_after_a_question(ask, call, tmp_path, monkeypatch):
    path = ask("sample", "sample", tmp_path)["path"]
    where = ("--where", "key:m-0001")

    planned = ask("project-remove", "project", "remove", path, *where, "--dry-run")
    assert planned["documents"] == 1 and "removed" not in planned
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    code, out, _err = call("project", "remove", path, *where)
    assert code != 0 and "1 document" in out
    done = ask("project-remove", "project", "remove", path, *where, "--yes")

    assert done["removed"] == 1 and done["left"] == []
    assert ask("project-info", "project", "info", path)["documents"] == 487
    assert call("project", "remove", path, "--ids", "2,3", "--yes")[0] == 0
    assert ask("project-info", "project", "info", path)["documents"] == 485
    for wrong in ((), ("--ids", "x"), ("--ids", "2", *where)):
        assert call("project", "remove", path, *wrong, "--yes")[0] == 1
