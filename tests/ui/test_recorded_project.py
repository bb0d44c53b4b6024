"""The pages open a project and runs that an earlier version wrote (`golden/make_project.py`)."""

import tarfile

import pytest

from tests.golden.make_project import ARCHIVE
from workbench.jobs import threads


@pytest.fixture
def recorded(tmp_path):
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path / "recorded", filter="data")
    return tmp_path / "recorded" / "metro.glossbench"


def test_every_page_opens_the_project(app, qtbot, recorded):
    assert app.open_project(recorded)

    for page in app.window.pages():
        app.window.go(page.id)
        qtbot.waitUntil(threads.idle, timeout=120_000)

    assert app.window.page == app.window.pages()[-1].id


def test_results_lists_the_runs_of_every_kind(make_panel, qtbot, recorded):
    panel = make_panel("results", recorded)
    qtbot.waitUntil(lambda: bool(panel.state.selection.runs), timeout=120_000)

    runs = {run.name: (run.kind, run.status) for run in panel.state.selection.runs}

    assert runs == {
        "tiny": ("train", "done"),
        "other": ("train", "done"),
        "tags": ("train", "done"),
        "words": ("baseline", "done"),
        "mean": ("ensemble", "done"),
        "asked": ("prompt", "done"),
    }
