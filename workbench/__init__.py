"""Glossbench: a desktop workbench for transfer learning in NLP.

The library interface. Heavy modules are imported on first use. Importing this package turns off the
telemetry of onnxruntime and huggingface_hub for the process; import it before those libraries.

A project, with the same runs and results as in the window:

    import workbench

    with workbench.create_workspace("messages.glossbench") as work:
        work.import_files("messages.csv")
        work.make_splits()
        run = work.train("starter-bert", "classify", "topic", epochs=3)
        print(work.evaluate(run).scores)
        print(work.predict(run, ["The tram was late again."])[0].label)
        work.predict_file(run, "new.parquet", "labels.parquet")
        work.export_model(run, "exported")

`resources/help/library.md` shows all of it. Training without a project:

    from workbench.text.dataset import read
    from workbench.training.spec import TrainSpec

    # written by `glossbench export-data FILE labelled.jsonl --format glossbench`
    data = read("labelled.jsonl")
    spec = TrainSpec("classify", "topic", "resources/models/starter-bert", options={"epochs": 3})
    for event in workbench.train(spec, data, "out"):
        print(event)
    print(workbench.load_model("out/model").predict_texts(["The tram was late again."])[0].label)
"""

import sys

# the command, and `python -m workbench`
if "".join(sys.argv[:1]).endswith(("glossbench", "glossbench.exe")) or (
    sys.argv[:1] == ["-m"] and "workbench" in sys.orig_argv
):
    # before any other import, also of `__future__`: the annotations below are strings
    from workbench.base import process_start

    process_start.leave_working_folder()

from typing import TYPE_CHECKING

from workbench.base.process_start import disable_telemetry
from workbench.version import __version__ as __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from workbench.operations.application.workspace import Workspace
    from workbench.project.project import Project
    from workbench.tasks.predictor import Predictor
    from workbench.text.dataset import Dataset
    from workbench.training.events import Event
    from workbench.training.results import TrainResult
    from workbench.training.spec import TrainSpec

disable_telemetry()


def open_project(path: "Path | str", *, read_only: bool = False) -> "Project":
    """Open a project file as a `workbench.project.project.Project`; close it when done.

    Raises ProjectLocked if another process has it open for writing (`read_only=True` works anyway),
    ProjectError if the file is not a project.
    """
    from workbench.project.project import Project

    return Project.open(path, read_only=read_only)


def workspace(
    path: "Path | str",
    *,
    read_only: bool = False,
    heard: "Callable[[Mapping[str, Any]], None] | None" = None,
) -> "Workspace":
    """Open a project with its jobs: import, label, train, evaluate, predict, inspect, export.

    heard: called with each object that a running job reports, such as the steps of a training. Use
    it in a `with` statement. Raises ProjectLocked if another process has the project open for
    writing (`read_only=True` works anyway), ProjectError if there is none.
    """
    from workbench.operations.application.workspace import Workspace

    return Workspace(path, read_only=read_only, heard=heard)


def create_workspace(
    path: "Path | str", *, heard: "Callable[[Mapping[str, Any]], None] | None" = None
) -> "Workspace":
    """As `workspace`, for a new project. Raises ProjectError if there is a file of this name."""
    from workbench.project.project import Project

    Project.create(path).close()
    return workspace(path, heard=heard)


def load_model(
    folder: "Path | str", device: str = "auto", *, base: "Path | str | None" = None
) -> "Predictor":
    """Load the `model` folder of a run, or an exported Hugging Face folder.

    base: the folder of the base model, for exported bottleneck adapters in `folder`. Returns a
    `workbench.tasks.predictor.Predictor`. Raises ModelError if the folder is not a trained model or
    does not fit the base model, SpecError if the device is not available.
    """
    from workbench.tasks.predictor import Predictor

    return Predictor.load(folder, device, base=base)


def train(
    spec: "TrainSpec",
    dataset: "Dataset",
    folder: "Path | str",
    splits: "Mapping[str, Sequence[int]] | None" = None,
) -> "Generator[Event, str | None, TrainResult]":
    """Fine-tune in this process. Yields events and returns the result.

    The best version is saved in `folder/model`. `send("stop")` ends the training and keeps it,
    `close()` ends at once. See `workbench.training.loop.train` for `splits` and errors.
    """
    from workbench.training.loop import train as run

    return run(spec, dataset, folder, splits)
