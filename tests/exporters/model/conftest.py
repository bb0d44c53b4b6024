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
    model = networks.build(
        spec.read_folder(tiny_run("tag", labels, layers=1)), setting, LoadOptions()
    )
    torch.manual_seed(2)
    for name in ("start", "step", "end"):
        torch.nn.init.normal_(getattr(model.head, name), std=2.0)
    networks.save(model, folder)
    described = {"task": "tag", "labels": list(labels), "max_length": 32, "layer": "class"}
    folders.describe(folder, {**described, "options": options, "own_head": True})
    return folder


@pytest.fixture(scope="session")
def bottleneck_run(tiny_run, tmp_path_factory):
    """bottleneck_run(task) → the model folder of a run with random bottleneck adapters."""

    def make(task="classify", **options):
        import torch

        from workbench.models import folder as folders
        from workbench.models import spec
        from workbench.models.base import LoadOptions
        from workbench.tasks import model as networks
        from workbench.training.methods.bottleneck.method import Bottleneck
        from workbench.training.spec import defaults

        folder, labels = tmp_path_factory.mktemp("adapted") / "model", ("delay", "praise", "ticket")
        folder.mkdir()
        given = {**defaults(task, "bottleneck"), "adapter_size": 4, **options}
        setting = networks.Setting(networks.task_of(task), labels, given)
        info = spec.read_folder(tiny_run(task, labels, layers=1))
        method = Bottleneck(networks.build(info, setting, LoadOptions()), given)
        method.prepare()
        torch.manual_seed(3)
        for parameter in method.inserted:
            torch.nn.init.normal_(parameter, std=0.5)
        method.save(folder)
        described = {"task": task, "labels": list(labels), "max_length": 32, "layer": "class"}
        described |= {"options": given, "model": "base/name", "own_head": True}
        folders.describe(folder, described)
        return folder

    return make


@pytest.fixture(scope="session")
def lora_run(tiny_run, tmp_path_factory):
    """lora_run(task) → the model folder of a run with LoRA whose matrices are random."""

    def make(task="classify", **options):
        import torch

        from workbench.models import folder as folders
        from workbench.models import spec
        from workbench.models.base import LoadOptions
        from workbench.tasks import model as networks
        from workbench.training.methods.lora.method import Lora
        from workbench.training.spec import defaults

        folder, labels = tmp_path_factory.mktemp("lora") / "model", ("delay", "praise", "ticket")
        folder.mkdir()
        given = {**defaults(task, "lora"), **options}
        setting = networks.Setting(networks.task_of(task), labels, given)
        info = spec.read_folder(tiny_run(task, labels, layers=1))
        method = Lora(networks.build(info, setting, LoadOptions()), given)
        method.prepare()
        torch.manual_seed(3)
        for name, parameter in method.model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter)
        method.save(folder)
        described = {"task": task, "labels": list(labels), "max_length": 32, "layer": "class"}
        folders.describe(folder, {**described, "options": given, "model": "base/name"})
        return folder

    return make


@pytest.fixture(scope="session")
def task_graph(tmp_path_factory):
    """task_graph(task, **options) → the predictor of a tiny model of the task with random weights,
    and its ONNX folder.
    """
    from tests import tiny_models
    from workbench.exporters.model.onnx import exporter as onnx
    from workbench.tasks.predictor import Predictor

    base, written = tiny_models.make(tmp_path_factory.mktemp("base") / "model", layers=1), {}

    def graph(task, **options):
        key = task, tuple(options.items())
        if key not in written:
            folder = _random_run(base, task, tmp_path_factory.mktemp(task), options)
            predictor = Predictor.load(folder, "cpu")
            onnx.write(predictor, folder, folder.parent / "onnx")
            written[key] = predictor, folder.parent / "onnx"
        return written[key]

    return graph


FIXED_LABELS = {"regress": (), "similarity": (), "choice": ("1", "2", "3"), "answer": ("answer",)}


def _random_run(base, task, folder, options):
    import torch

    from workbench.models import folder as folders
    from workbench.models import spec
    from workbench.models.base import LoadOptions
    from workbench.tasks import model as networks
    from workbench.training.spec import defaults

    labels = FIXED_LABELS.get(task, ("delay", "praise", "ticket"))
    options = {**defaults(task, "full"), **options}
    setting = networks.Setting(networks.task_of(task), labels, options)
    torch.manual_seed(2)
    model = networks.build(spec.read_folder(base), setting, LoadOptions())
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    (folder / "run").mkdir()
    networks.save(model, folder / "run")
    described = {"task": task, "labels": list(labels), "max_length": 32, "layer": "x"}
    folders.describe(folder / "run", {**described, "options": options, "own_head": True})
    return folder / "run"
