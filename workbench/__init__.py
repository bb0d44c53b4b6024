"""Glossbench: a desktop workbench for transfer learning in NLP.

The short library face; everything heavier is imported when it is first used.

    import workbench
    from workbench.text.dataset import read
    from workbench.training.spec import TrainSpec

    data = read("labelled.jsonl")  # as `glossbench export-data FILE labelled.jsonl --format glossbench` writes it
    spec = TrainSpec("classify", "topic", "resources/models/starter-bert", options={"epochs": 3})
    for event in workbench.train(spec, data, "out"):
        print(event)
    print(workbench.load_model("out/model").predict_texts(["The tram was late again."])[0].label)
"""

__version__ = "0.1.0"


def open_project(path, *, read_only=False):
    """Open a project file and give a `workbench.project.project.Project`; close it when done.

    Raises ProjectLocked while another process writes to it (`read_only=True` opens beside it), ProjectError for any other file.
    """
    from workbench.project.project import Project

    return Project.open(path, read_only=read_only)


def load_model(folder, device="auto"):
    """Load the `model` folder of a run, or an exported Hugging Face folder, as a `workbench.tasks.predictor.Predictor`.

    Raises ModelError where the folder is no trained model, SpecError where the device is not there.
    """
    from workbench.tasks.predictor import Predictor

    return Predictor.load(folder, device)


def train(spec, dataset, folder, splits=None):
    """Fine-tune in this process: a generator of events that returns the result; the best version goes to `folder/model`.

    `send("stop")` keeps the best and ends, `close()` ends at once. See `workbench.training.loop.train` for `splits` and errors.
    """
    from workbench.training.loop import train as run

    return run(spec, dataset, folder, splits)
