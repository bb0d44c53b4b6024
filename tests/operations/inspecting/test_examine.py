"""Documents of a project examined by an inspector: what is sampled, computed, and kept."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from tests.inline import InlineQueue  # noqa: E402
from workbench.base.errors import Cancelled, SpecError, WorkbenchError  # noqa: E402
from workbench.base.watch import Watch  # noqa: E402
from workbench.operations.inspecting import examine, inspect  # noqa: E402
from workbench.operations.models import installed  # noqa: E402
from workbench.project.project import Project  # noqa: E402


@pytest.fixture
def project(copy_sample, tmp_path):
    project = Project.open(copy_sample(tmp_path))
    yield project
    project.close()


@pytest.fixture(scope="module")
def choice(tmp_path_factory):
    folder = tiny_models.make(tmp_path_factory.mktemp("examine") / "bert", "bert")
    return inspect.of_model(installed.find(str(folder)))


@pytest.fixture
def queue():
    queue = InlineQueue()
    yield queue
    queue.close()


def test_the_result_is_computed_by_a_job_and_kept(project, choice, queue):
    options = {"documents": "5", "words": "40"}
    prepared = examine.prepare(project, choice, "layer_similarity", options)
    assert prepared.documents == 5 and examine.kept(prepared) is None

    result = examine.compute(queue, prepared)

    assert not Path(queue.jobs[-1].spec.folder).exists() and examine.computes(
        queue.jobs[-1].spec, prepared
    )
    assert result.same and len(result.values) == 3
    again = examine.prepare(project, choice, "layer_similarity", options)
    assert again.output == prepared.output and examine.kept(again) == result
    other = examine.prepare(project, choice, "layer_similarity", {**options, "seed": 2})
    assert examine.kept(other) is None


def test_test_documents_are_never_read(project, choice):
    texts = examine.prepare(project, choice, "layer_similarity", {"documents": 100_000})
    labels = examine.prepare(project, choice, "probes", {})

    splits = {record.document.split for record in texts.data.records}
    assert "test" not in splits and "train" in splits
    assert {record.document.split for record in labels.data.records} == {"train", "dev"}
    assert labels.options["layer"] == examine.layers(project, choice)[0] and labels.task


def test_an_error_of_the_job_is_passed_on(project, choice, queue):
    prepared = examine.prepare(project, choice, "layer_similarity", {"other": "/nowhere"})

    with pytest.raises(WorkbenchError):
        examine.compute(queue, prepared)

    assert examine.kept(prepared) is None and not Path(queue.jobs[-1].spec.folder).exists()


def test_a_cancelled_job_leaves_no_folder_and_no_result(project, choice, queue):
    prepared = examine.prepare(project, choice, "layer_similarity", {"documents": "5"})
    folders = []

    def cancel(_payload):
        folders.append(Path(queue.jobs[-1].spec.folder))
        assert (folders[0] / examine.DOCUMENTS).exists()
        watch.cancel()

    watch = Watch(on_event=cancel)
    with pytest.raises(Cancelled):
        examine.compute(queue, prepared, watch=watch)

    assert folders and not folders[0].exists() and examine.kept(prepared) is None


def test_wrong_options_and_layers_are_refused(project, choice):
    with pytest.raises(SpecError):
        examine.prepare(project, choice, "probes", {"words": "few"})
    with pytest.raises(WorkbenchError, match="no layer 'colour'"):
        examine.prepare(project, choice, "probes", {"layer": "colour"})


def test_only_the_results_used_last_are_kept(tmp_path):
    import os

    for number in range(4):
        path = tmp_path / f"{number}.json"
        path.write_text("{}")
        os.utime(path, (number, number))

    examine.trim(tmp_path, 2)

    assert sorted(path.stem for path in tmp_path.glob("*.json")) == ["2", "3"]
