import pytest

from tests.models import folders
from workbench.project.project import Project
from workbench.storage.labels import labels
from workbench.storage.runs import runs


@pytest.fixture
def two(file):
    project = Project.open(file)
    with project.write():
        for name in ("first", "second"):
            runs.add(project.db, name, "train", spec={"task": "classify"}, status="done")
    project.close()
    return file


def test_runs_are_organised_and_listed(ask, two):
    ask("runs-rename", "runs", "rename", two, "first", "base line")
    ask("runs-group", "runs", "group", two, "paper", "base line", "second")
    ask("runs-tag", "runs", "tag", two, "second", "--add", "best", "--add", "x")
    ask("runs-tag", "runs", "tag", two, "second", "--remove", "x")
    ask("runs-note", "runs", "note", two, "second", "used in table 2")
    (changed,) = ask("runs-archive", "runs", "archive", two, "base line")
    assert changed["archived"] and changed["group"] == "paper"

    (listed,) = ask("runs-list", "runs", "list", two)
    assert (listed["run"], listed["tags"], listed["note"]) == (
        "second",
        ["best"],
        "used in table 2",
    )
    assert len(ask("runs-list", "runs", "list", two, "--archived", "--group", "paper")) == 2
    ask("runs-archive", "runs", "archive", two, "base line", "--restore")
    assert len(ask("runs-list", "runs", "list", two)) == 2


def test_the_list_is_a_table_and_mistakes_are_explained(call, two):
    code, out, _err = call("runs", "list", two)
    assert code == 0 and out.splitlines()[1].split()[:2] == ["second", "train"]

    code, _out, err = call("runs", "tag", two, "first")
    assert code == 2 and "--add or --remove is required" in err
    code, _out, err = call("runs", "note", two, "third", "x")
    assert code == 1 and "no run 'third'" in err and "first, second" in err


def test_a_published_model_is_added_as_a_run(ask, call, file, tmp_path):
    model = folders.make(tmp_path / "sentiment", architectures=["BertForSequenceClassification"])
    weights = {**folders.TENSORS, "classifier.weight": ("F32", [2, 4])}
    folders.write_weights(model / "model.safetensors", weights)
    code, _out, err = call("runs", "add", file, model)
    assert code == 1 and "it needs one layer" in err and "Layers of this kind: none" in err
    project = Project.open(file)
    with project.edit("add layer"):
        labels.add_layer(project.db, "tone", "class")
    project.close()

    added = ask("runs-add", "runs", "add", file, model)

    assert (added["run"], added["kind"], added["layer"]) == ("sentiment", "published", "tone")
    assert [run["run"] for run in ask("runs-list", "runs", "list", file)] == ["sentiment"]
