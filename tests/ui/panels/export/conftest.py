"""A project with an older and a newer finished run with models, and a queue without workers."""

import shutil

import pytest

from tests import panel_tasks
from workbench.base import paths
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document


class WorkerQueue:
    """Runs jobs with `worker(spec, watch)`, which a test sets; `specs` are those that were run."""

    def __init__(self):
        self.specs, self.worker = [], None

    def run(self, spec, watch):
        self.specs.append(spec)
        return self.worker(spec, watch)


@pytest.fixture
def exportable_file(tmp_path, built_once):
    built = built_once(exportable_project)
    shutil.copytree(paths.runs_folder(built), paths.runs_folder(tmp_path / built.name))
    return shutil.copyfile(built, tmp_path / built.name)


def exportable_project(folder):
    """Create the project of `exportable_file`; returns its path."""
    path = folder / "small.glossbench"
    project = Project.create(path)
    layer = labels.add_layer(project, "class", "class", labels=("good", "bad"))
    with project.edit("Add documents"):
        records = [
            Record(Document(f"k{n}", (("text", f"Text number {n}"),), split="dev"))
            for n in range(3)
        ]
        documents.add(project.db, records, source_id=project.source("person"))
    with project.write():
        for name, kind, status in (
            ("first", "train", "done"),
            ("second", "train", "stopped"),
            ("asked", "prompt", "done"),
            ("broken", "train", "failed"),
        ):
            spec = {
                "task": "classify",
                "layer": "class",
                "model": "starter-bert",
                "model_name": "starter-bert",
                "seed": 1,
                "options": {},
            }
            run = runs.add(
                project.db,
                name,
                kind,
                layer_id=layer,
                spec=spec,
                status=status,
                scores={"dev": {"macro_f1": 0.625}},
            )
            folder = paths.run_folder(path, run.id) / "model"
            if kind == "train":
                folder.mkdir(parents=True)
                (folder / "glossbench.json").write_text("{}")
                (folder / "model.safetensors").write_bytes(b"0" * 1000)
    project.close()
    return path


@pytest.fixture
def checked():
    """checked(number, equal=True) → what the worker yields of a text."""

    def make(number, equal=True):
        rows = [
            {"text": f"Text number {number}", "difference": 1e-6 * (number + 1), "equal": equal}
        ]
        return {"kind": "checked", "format": "onnx", "done": number + 1, "total": 3, "rows": rows}

    return make


@pytest.fixture
def written():
    """written(folder) → the result of the worker."""

    def make(folder):
        check = {
            "texts": 3,
            "labels": 3,
            "equal_labels": 2 / 3,
            "largest_difference": 3e-6,
            "seconds": 1.0,
            "ms_1": 4.0,
        }
        folders = {"hf": f"{folder}/hf", "onnx": f"{folder}/onnx"}
        files = [{"path": "a", "bytes": 2_000_000}]
        original = {"texts": 3, "ms_1": 10.0}
        named = {"check": check, "checks": {"onnx": check}, "original": original}
        return {"folders": folders, "files": files, **named}

    return make


@pytest.fixture
def context(exportable_file, written):
    from workbench.base.settings import Settings

    project = Project.open(exportable_file)
    queue = WorkerQueue()
    queue.worker = lambda spec, _watch: written(spec.params["out"])
    yield panel_tasks.context(
        project=project,
        queue=queue,
        settings=Settings(documents_folder=str(exportable_file.parent / "out")),
        attempt=lambda act, *args: act(*args),
        commands_changed=lambda: None,
        go=lambda *args, **named: None,
    )
    project.close()
