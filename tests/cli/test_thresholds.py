"""`evaluate --threshold` on a run with several labels whose predictions are stored by hand."""

import json
from contextlib import closing

import pytest

from workbench.base import paths
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import LabelScores, Prediction

GOLD = (("late",), ("late", "full"), (), ("full",))
SCORES = ((0.9, 0.4), (0.7, 0.3), (0.6, 0.1), (0.2, 0.35))  # of late and full


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "t.glossbench"
    with closing(Project.create(path)) as project:
        with project.edit("labels"):
            layer = labels.add_layer(project.db, "topic", "multi")
            for name in ("late", "full"):
                labels.add_label(project.db, layer, name)
        rows = [
            Record(
                Document(f"k{at}", (("text", f"text {at}"),), "dev"),
                {"topic": "submitted"},
                {"topic": gold} if gold else {},
                {},
            )
            for at, gold in enumerate(GOLD)
        ]
        with project.edit("documents"):
            ids = documents.add(project.db, rows, source_id=project.source("import"))
        with project.write():
            spec = {"task": "multilabel", "layer": "topic"}
            layer = labels.layer_by_name(project.db, "topic")
            run = runs.add(project.db, "several", layer_id=layer.id, spec=spec, status="done")
            answers = [
                Prediction((LabelScores(("late", "full"), scores, (0.5, 0.5)),)).to_json()
                for scores in SCORES
            ]
            hashes = [row.document.text_hash for row in rows]
            found = list(zip(ids, hashes, answers, strict=True))
            runs.save_predictions(project.db, run.id, found)
        model = paths.run_folder(path, run.id) / "model"
        model.mkdir(parents=True)
        about = {"task": "multilabel", "labels": ["late", "full"], "max_length": 8}
        (model / "glossbench.json").write_text(json.dumps(about))
    return path


def evaluated(ask, project, *options):
    return ask("evaluate", "evaluate", project, "--run", "several", *options)


def in_use(found):
    return {item["label"]: item["threshold"] for item in found["quality"]["curves"]}


def test_a_slice_without_enough_documents_is_named_and_not_ignored(ask, call, project):
    found = evaluated(ask, project, "--slice", "xylophone")
    _code, _out, err = call("evaluate", project, "--run", "several", "--slice", "xylophone")

    assert found["quality"]["slices"]["left_out"] == [{"name": "matches xylophone", "n": 0}]
    assert "“matches xylophone”: 0 documents, which is no slice" in err


def test_a_threshold_is_set_for_one_label_and_stays(ask, project):
    before = evaluated(ask, project)
    assert in_use(before) == {"late": 0.5, "full": 0.5}

    found = evaluated(ask, project, "--threshold", "full=0.3")

    assert in_use(found) == {"late": 0.5, "full": 0.3}
    # by hand: late 2 of 3 right, all found; full now 2 found, besides k0: F1 = 2 * 4 / (6 + 4)
    assert found["scores"]["micro_f1"] == pytest.approx(0.8)
    assert before["scores"]["micro_f1"] == pytest.approx(4 / 7)
    assert evaluated(ask, project)["scores"] == found["scores"]


def test_the_thresholds_that_fit_dev_best_are_set_at_once(ask, project):
    found = evaluated(ask, project, "--threshold", "fit")

    assert 0.6 < in_use(found)["late"] <= 0.7 and 0.1 < in_use(found)["full"] <= 0.3
    assert found["scores"]["micro_f1"] == pytest.approx(8 / 9)


def test_thresholds_that_make_no_sense_are_refused(call, project):
    def describe(value):
        code, _out, err = call("evaluate", project, "--run", "several", "--threshold", value)
        return code, err

    assert describe("late")[0] == 2 and "LABEL=VALUE" in describe("late")[1]
    assert "no threshold of 'early'" in describe("early=0.5")[1]
    assert describe("late=1.5")[0] == 1 and "not from 0 to 1" in describe("late=1.5")[1]
