import pytest

from tests.tiny_runs import texts_file, tiny_run

__all__ = ["texts_file", "tiny_run"]


@pytest.fixture(scope="session")
def crf_run(tiny_run, tmp_path_factory):
    """The model folder of a tagger with random transitions of a CRF."""
    import torch

    from workbench.models import folder as folders
    from workbench.models import spec
    from workbench.models.base import LoadOptions
    from workbench.tasks import model as networks

    folder = tmp_path_factory.mktemp("crf") / "model"
    folder.mkdir()
    labels, options = ("delay", "praise", "ticket"), {"decoder": "crf"}
    setting = networks.Setting(networks.task_of("tag"), labels, options)
    model = networks.build(spec.read_folder(tiny_run("tag", labels)), setting, LoadOptions())
    torch.manual_seed(2)
    for name in ("start", "step", "end"):
        torch.nn.init.normal_(getattr(model.head, name), std=2.0)
    networks.save(model, folder)
    described = {"task": "tag", "labels": list(labels), "max_length": 32, "layer": "class"}
    folders.describe(folder, {**described, "options": options, "own_head": True})
    return folder
