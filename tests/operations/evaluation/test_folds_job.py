"""A training for each fold in one job."""

import json

import pytest

from workbench.operations.evaluation import folds_job


def train(params, folder):
    """Stands for a training: one line for each document of dev and test."""
    yield {"kind": "progress", "part": 0.5}
    rows = [(split, id) for split in ("dev", "test") for id in params["splits"][split]]
    lines = [json.dumps({"document_id": id, "split": split}) for split, id in rows]
    (folder / "predictions.jsonl").write_text("\n".join(lines) + "\n")
    yield {"kind": "other"}
    return {}


@pytest.fixture
def params(tmp_path):
    splits = [{"train": [1], "dev": [1], "test": [2]}, {"train": [2], "dev": [2], "test": [1]}]
    output = str(tmp_path / "out" / "answers.jsonl")
    return {"target": f"{__name__}:train", "fold": {"a": 1}, "splits": splits, "output": output}


def test_every_document_is_predicted_by_the_fold_that_did_not_see_it(params, tmp_path):
    payloads = list(folds_job.run(params, tmp_path / "work"))

    lines = (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
    assert [json.loads(line)["document_id"] for line in lines] == [2, 1]
    assert [payload["part"] for payload in payloads if "part" in payload] == [0.25, 0.75]


def test_a_cancelled_job_leaves_no_output(params, tmp_path):
    work = folds_job.run(params, tmp_path / "work")
    next(work)
    work.close()

    assert list((tmp_path / "out").iterdir()) == []
