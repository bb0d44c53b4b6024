"""A project and runs of the version before plugins and families still open and predict the same."""

import json
import tarfile

import pytest

from workbench.cli.main import main

ARCHIVE = "old-project.tar.gz"


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """The folder with the project, its runs, and the predictions of the old version."""
    from pathlib import Path

    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(Path(__file__).parents[1] / "data" / ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture
def ask(capfd, jobs_in_process):
    def run(*arguments):
        capfd.readouterr()
        code = main([*map(str, arguments), "--json"])
        out, err = capfd.readouterr()
        assert code == 0, err
        return [json.loads(line) for line in out.splitlines()]

    return run


def test_the_project_opens_and_lists_its_runs(old, ask):
    (found,) = ask("project", "info", old / "old.glossbench")

    assert found["documents"] == 82
    assert [(run["name"], run["status"]) for run in found["runs"]] == [
        ("classify-1", "done"),
        ("tag-1", "done"),
    ]
    assert ask("project", "check", old / "old.glossbench")[0]["problems"] == []


@pytest.mark.parametrize("run", ["classify-1", "tag-1"])
def test_runs_answer_as_they_did(old, ask, run):
    then = json.loads((old / f"{run}.json").read_text(encoding="utf-8"))
    texts = [part for prediction in then for part in ("--text", prediction["text"])]

    now = ask("predict", run, "--project", old / "old.glossbench", *texts)

    for before, after in zip(then, now, strict=True):
        assert after["label"] == before["label"]
        assert (after["scores"] or {}) == pytest.approx(before["scores"] or {}, abs=1e-5)
        pairs = list(zip(before["tokens"], after["tokens"], strict=True))
        assert all(pair["label"] == other["label"] for pair, other in pairs)
        assert all(
            pair["score"] == pytest.approx(other["score"], abs=1e-5) for pair, other in pairs
        )
        assert [(s["start"], s["end"], s["label"]) for s in after["spans"]] == [
            (s["start"], s["end"], s["label"]) for s in before["spans"]
        ]


@pytest.mark.parametrize("run", ["classify-1", "tag-1"])
def test_their_scores_and_exports_still_work(old, ask, run, tmp_path):
    (scored,) = ask("evaluate", old / "old.glossbench", "--run", run, "--split", "dev")
    assert max(scored["scores"].values()) == 1.0

    (exported,) = ask(
        "export", old / "old.glossbench", tmp_path / "out", "--run", run, "--formats", "hf"
    )
    assert exported["check"]["equal_labels"] == 1.0
