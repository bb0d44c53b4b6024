"""Exports of models that write texts are compared with what transformers generates."""

import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import ExportFailed  # noqa: E402
from workbench.exporters.model import base, proof, verify  # noqa: E402
from workbench.exporters.model.adapter import exporter as adapter  # noqa: E402
from workbench.exporters.model.spec import check_fit, loading_code  # noqa: E402
from workbench.models import folder as folders  # noqa: E402
from workbench.models import spec  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.training.methods.lora.method import Lora  # noqa: E402
from workbench.training.spec import defaults  # noqa: E402

TEXTS = ("the tram was late", "thank you !", "ada met bob in paris " * 20)


@pytest.fixture
def run(tmp_path):
    """run(task, kind, method) → the model folder of a run with random weights."""

    def make(task, kind, method="full"):
        start, folder = tiny_models.make(tmp_path / kind, kind), tmp_path / "run" / "model"
        folder.mkdir(parents=True)
        options = {**defaults(task, method), "answer_length": 5}
        setting = networks.Setting(networks.task_of(task), (), options, 1)
        model = networks.build(spec.read_folder(start), setting, LoadOptions(seed=1))
        if method == "lora":
            tuned = Lora(model, options)
            tuned.prepare()
            for name, parameter in model.named_parameters():
                if "lora_B" in name:
                    torch.nn.init.normal_(parameter)
            tuned.save(folder)
        else:
            networks.save(model, folder)
        described = {"task": task, "labels": [], "max_length": 64, "options": options}
        folders.describe(folder, {**described, "own_head": model.own_head})
        return folder

    return make


def finished(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def documents(predictor):
    rows = [Document("", (("text", text),), id=n) for n, text in enumerate(TEXTS, 1)]
    return [*rows, *proof.extremes(predictor.info, rows, predictor.max_length)]


@pytest.mark.parametrize(
    ("task", "kind"), [("instruct", "gpt2"), ("text2text", "t5"), ("text2text", "bart")]
)
def test_a_folder_writes_in_transformers_what_it_writes_here(run, task, kind, tmp_path):
    folder = run(task, kind)
    predictor = Predictor.load(folder, "cpu")
    base.save_model(predictor, folder, tmp_path / "out")

    found = finished(verify.check_folder(predictor, tmp_path / "out", documents(predictor)))

    assert found.texts >= 2 and found.equal_labels == 1.0 and found.largest_difference < 1e-4


def test_an_adapter_writes_in_peft_what_the_run_writes(run, tmp_path):
    folder = run("instruct", "gpt2", "lora")
    predictor = Predictor.load(folder, "cpu")
    adapter.write(predictor, folder, tmp_path / "out")

    model = adapter.load(folder, tmp_path / "out", verify.library_class(predictor))
    ask = verify.asking(predictor, model, folder)
    found = finished(
        verify.check_folder(predictor, tmp_path / "out", documents(predictor), ask=ask)
    )

    assert found.equal_labels == 1.0 and found.largest_difference < 1e-4


def test_formats_of_a_single_pass_are_refused_and_code_generates(run):
    folder = run("instruct", "gpt2")

    for format in ("onnx", "plain", "server", "browser", "spacy"):
        with pytest.raises(ExportFailed) as caught:
            check_fit(folder, [format])
        assert "hf" in str(caught.value.hint)
    assert 'pipeline("text-generation"' in loading_code("hf", folder, "instruct")
    assert "AutoModelForSeq2SeqLM" in loading_code("hf", folder, "text2text")
