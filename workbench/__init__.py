"""Glossbench: a desktop workbench for transfer learning in NLP.

The short library face. Everything heavier is imported when it is first used.
"""

__version__ = "0.1.0"


def open_project(path, *, read_only=False):
    """Open a project file; see `workbench.project.project.Project.open`."""
    from workbench.project.project import Project

    return Project.open(path, read_only=read_only)


def load_model(folder):
    """Load a fine-tuned model folder as a predictor; see `workbench.tasks.predictor.Predictor.load`."""
    from workbench.tasks.predictor import Predictor

    return Predictor.load(folder)


def train(spec, dataset, folder):
    """Train in this process and yield its events; see `workbench.training.loop.train`."""
    from workbench.training.loop import train as run

    return run(spec, dataset, folder)
