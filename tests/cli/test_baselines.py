"""Baselines on the command line: trained, evaluated, compared on the board."""

import pytest

TRAIN = (
    "Ada B-PER\nByron I-PER\nmet O\nBob B-PER\n\nBob B-PER\nleft O\nOslo B-LOC\n\n"
    "In O\nBonn B-LOC\nAda B-PER\nslept O\n\nEve B-PER\nmet O\nAda B-PER\nin O\nBonn B-LOC\n"
)
DEV = "Bob B-PER\nSmith I-PER\nmet O\nEve B-PER\n\nAda B-PER\nleft O\nBern B-LOC\n"


@pytest.fixture
def project(call, file, tmp_path):
    for split, text in (("train", TRAIN), ("dev", DEV)):
        (tmp_path / f"{split}.conll").write_text(text, encoding="utf-8")
        code, _out, err = call("import", file, tmp_path / f"{split}.conll", "--split", split)
        assert code == 0, err
    return file


def test_a_crf_of_word_features_is_beside_the_most_frequent_tag(ask, project, jobs_in_process):
    for baseline in ("frequent_tag", "feature_crf"):
        model = ("--model", f"baseline:{baseline}", "--name", baseline)
        report = ask("train", "train", project, "--task", "tag", *model, "--seed", "3")
        assert report["status"] == "done" and report["used"] == {"train": 4, "dev": 2, "test": 0}

    scores = ask("evaluate", "evaluate", project, "--run", "feature_crf", "--split", "dev")
    board = ask("board", "board", project, "--layer", "spans", "--split", "dev")

    assert scores["scores"] == report["scores"]["dev"]
    found = {item["run"]: item["scores"]["span_f1"]["value"] for item in board["entries"]}
    assert found["feature_crf"] == scores["scores"]["span_f1"] > found["frequent_tag"]


def test_scores_of_numbers_are_in_their_own_ranges(ask, call, file, tmp_path, jobs_in_process):
    rows = ("fine,45,train", "late,10,train", "kind,50,train", "bus,20,dev", "tram,40,dev")
    (tmp_path / "n.csv").write_text("\n".join(("text,score,split", *rows)), encoding="utf-8")
    assert call("import", file, tmp_path / "n.csv")[0] == 0

    model = ("--model", "baseline:mean_number", "--name", "mean")
    report = ask("train", "train", file, "--task", "regress", *model)
    found = ask("evaluate", "evaluate", file, "--run", "mean", "--split", "dev")

    assert found["scores"] == report["scores"]["dev"]
    assert found["scores"]["mae"] == pytest.approx(10.0)  # the mean of train is 35
    listed = ask("errors", "errors", file, "mean")["errors"]
    assert {item["key"] for item in listed} == {"n.csv:5", "n.csv:6"}
