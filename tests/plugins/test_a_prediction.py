"""A kind of prediction that only a plugin knows, that of the tutorial, from the command line and
the library: nothing outside of its folder names it.
"""

import csv
import json

import numpy as np
import pytest

import workbench
from tests import a_plugin
from tests.inline import InlineHost
from tests.plugins.test_tutorial import ratings
from workbench.base import registry
from workbench.cli.main import main
from workbench.operations.application import plugin_checks, plugins
from workbench.tasks import spec as tasks
from workbench.text import result_view
from workbench.text.fields import Prediction

LABELS = tuple("12345")


@pytest.fixture
def plugin(tmp_path):
    registry.registry.cache_clear()
    plugin = plugins.find(str(a_plugin.write_tutorial(tmp_path / "plugins")))
    assert [problem.error for problem in plugin_checks.check(plugin) if problem.error] == []
    plugins.enable(plugin)
    yield plugin
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()


@pytest.fixture
def ask(capfd):
    """`ask("errors", …)` → the objects that the command prints."""

    def run(*arguments, lines=False):
        capfd.readouterr()
        code = main([*map(str, arguments), "--json"])
        out, err = capfd.readouterr()
        assert code == 0, err
        objects = [json.loads(line) for line in out.splitlines()]
        return objects if lines else objects[-1]

    return run


@pytest.fixture
def project(plugin, ask, tmp_path, jobs_in_process):
    """120 ratings, 20 more without a label, and a run `first` of the task."""
    path, model = tmp_path / "p.glossbench", tmp_path / "tiny.characters"
    model.write_text('{"width": 16}', encoding="utf-8")
    (tmp_path / "new.txt").write_text(
        "\n".join(f"The tram {n} was {word}." for n in range(10) for word in ("clean", "late"))
    )
    assert main(["project", "new", str(path)]) == 0
    ask("import", path, ratings(tmp_path / "a.ratings"))
    ask("import", path, tmp_path / "new.txt")
    ask(
        *("train", path, "--task", "my-plugin.ordered", "--model", model, "--name", "first"),
        *("--set", "epochs=3", "--set", "batch_size=16", "--set", "device=cpu"),
    )
    return path


def graded(*above):
    from my_plugin.grade import Grade

    return Prediction((Grade(LABELS, above),))


def test_its_own_metric_is_that_of_scikit_learn_and_numpy(plugin):
    from sklearn.metrics import cohen_kappa_score

    info, draw = tasks.info("my-plugin.ordered"), np.random.default_rng(1)
    above = -np.sort(-draw.random((200, 4)))
    gold = draw.integers(0, 5, 200)
    predictions = [graded(*map(float, row)) for row in above]
    golds = [type(info.gold(_record(str(n + 1)), "x"))(str(n + 1)) for n in gold]

    scores = info.score(golds, predictions)

    predicted = (above >= 0.5).sum(axis=1)
    kappa = cohen_kappa_score(gold, predicted, labels=range(5), weights="quadratic")
    assert scores["kappa"] == pytest.approx(kappa, abs=1e-12)
    assert scores["steps"] == pytest.approx(np.abs(gold - predicted).mean(), abs=1e-12)
    same = info.score(golds[:1] * 3, [graded(1.0, 1.0, 1.0, 1.0)] * 3)
    assert same["kappa"] == 0.0


def _record(label):
    from workbench.text.dataset import Record
    from workbench.text.document import Document

    return Record(Document("d", (("text", "x"),)), marks={"x": (label,)})


def test_the_plugin_is_read_from_its_key_and_left_out_without_it(plugin):
    raw = graded(0.9, 0.8, 0.6, 0.1).to_json()

    read = Prediction.from_json(json.loads(json.dumps(raw)))
    assert result_view.of(read).labels(read) == ("4",)
    assert result_view.of_outputs(("my-plugin.grade",)) is result_view.of(read)

    plugins.disable(plugin)
    assert Prediction.from_json(raw) == Prediction((), cut=False)
    assert result_view.of(read) is result_view.UNKNOWN


@pytest.mark.process
def test_its_runs_are_scored_reviewed_suggested_ordered_and_exported(project, ask, tmp_path):
    report = ask("evaluate", project, "--run", "first")
    assert [*report["scores"]] == ["kappa", "steps"]
    labels = [row["label"] for row in report["per_label"]]
    assert labels == [label for label in LABELS if label in labels]

    errors = ask("errors", project, "first", "--sort", "distance")["errors"]
    distances = [item["distance"] for item in errors]
    assert distances == sorted(distances, reverse=True) and len(errors) > 1
    assert distances[0] == abs(int(errors[0]["gold"]) - int(errors[0]["predicted"]))
    assert all("distance" in item for item in errors)

    suggested = ask("suggest", project, "--run", "first")
    assert (suggested["documents"], suggested["suggestions"]) == (20, 20)

    queue = ask("queue", project, "--layer", "rating", "--run", "first", "--order", "entropy")
    assert len(queue["documents"]) == 20 and queue["documents"][0]["score"] > 0

    file = tmp_path / "out.csv"
    ask(
        "export-data", project, file, "--format", "csv", "--source", "predictions", "--run", "first"
    )
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert {row["label:rating"] for row in rows} <= set(LABELS) and len(rows) >= 20

    exported = ask("export", project, tmp_path / "model", "--run", "first", "--formats", "hf,onnx")
    assert exported["check"]["equal_labels"] == 1.0


@pytest.mark.process
def test_its_predictions_are_a_line_a_row_and_an_object(project, ask, capfd, tmp_path):
    model = next((tmp_path / "p.runs").rglob("glossbench.json")).parent
    texts = ("--text", "It was clean.", "--text", "It was late.")

    (first, _second) = ask("predict", "first", "--project", project, *texts, lines=True)
    assert first["grade"] in LABELS and len(first["above"]) == 4
    assert (first["label"], first["scores"]) == (None, None)  # those are of other kinds
    capfd.readouterr()
    assert main(["predict", str(model), *texts]) == 0
    line = capfd.readouterr().out.splitlines()[0]
    assert line.startswith(f"{first['grade']}  (mean ") and line.endswith("It was clean.")

    predictor = workbench.load_model(model, device="cpu")
    (answer,) = predictor.predict_texts(["It was clean."])
    assert answer.to_json()["grade"] == first["grade"]
    assert result_view.of(answer).shares(answer).keys() == set(LABELS)
    assert result_view.of(answer).cells(answer)[0] == first["grade"]


@pytest.mark.process
def test_it_is_inspected_as_classes_in_their_order(project, ask, monkeypatch):
    monkeypatch.setattr("workbench.jobs.host.Host", InlineHost)
    text = ("first", "--project", project, "--text", "It was clean and quick.")

    shown = ask("inspect", *text, "--inspector", "class_scores")["result"]
    assert [name for name, _share in shown["classes"]] == [*LABELS] and shown["ordered"]
    assert sum(share for _name, share in shown["classes"]) == pytest.approx(1)
    left_out = ask("inspect", *text, "--inspector", "words_left_out")["result"]
    assert {target["label"] for target in left_out["targets"]} == set(LABELS)
    changed = ask("inspect", *text, "--inspector", "smallest_change")["result"]
    assert [target["label"] for target in changed["targets"]] == [shown["predicted"]]


@pytest.mark.process
def test_predictions_of_it_that_were_made_elsewhere_are_a_run(project, ask, tmp_path):
    file, wrong = tmp_path / "theirs.jsonl", tmp_path / "wrong.jsonl"
    rows = ask("predict", "first", "--project", project, "--where", "split:dev", lines=True)
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    report = ask("runs", "import", project, file, "--name", "theirs")
    mine = ask("evaluate", project, "--run", "first")
    assert report["matched"] == 12 and report["unmatched"] == []
    assert ask("evaluate", project, "--run", "theirs")["scores"] == mine["scores"]

    other = {**rows[0], "grades": ["a", "b", "c", "d", "e"], "grade": "a"}
    wrong.write_text(json.dumps(other), encoding="utf-8")
    assert main(["runs", "import", str(project), str(wrong)]) == 1


def test_a_task_whose_plugin_cannot_be_loaded_says_why(tmp_path, capfd):
    folder = a_plugin.write_tutorial(tmp_path / "plugins")
    with (folder / "ordered.py").open("a", encoding="utf-8") as file:
        file.write("\n1 / 0\n")
    registry.registry.cache_clear()
    plugins.enable(plugins.find(str(folder)))

    project = str(tmp_path / "p.glossbench")
    assert main(["project", "new", project]) == 0
    assert (
        main(["train", project, "--task", "my-plugin.ordered", "--model", "starter-vectors"]) != 0
    )

    error = capfd.readouterr().err
    assert "my-plugin.ordered of the plugin my-plugin cannot be loaded: ZeroDivisionError" in error
    assert "Enable the plugin" not in error
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()
