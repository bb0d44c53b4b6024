"""Text to text: the loss is that of transformers, and the texts are those that it generates."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import ModelError  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.runtime.predictor import last  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.base import Features, collate  # noqa: E402
from workbench.tasks.predictor import infer  # noqa: E402
from workbench.tasks.text2text.info import TextGold  # noqa: E402
from workbench.tasks.text2text.task import TextToText  # noqa: E402
from workbench.text.document import Document  # noqa: E402

CPU = torch.device("cpu")
PAIRS = (
    ("the tram was late", "late tram"),
    ("ada met bob in paris", "ada, bob"),
    ("thank you", "!"),
)


def documents():
    return [Document(str(n), (("text", text),)) for n, (text, _gold) in enumerate(PAIRS)]


def golds():
    return [TextGold(gold) for _text, gold in PAIRS]


def built(folder, task, **options):
    setting = networks.Setting.new(task, (), golds(), options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


@pytest.fixture(params=["t5", "bart"])
def folder(request, tmp_path):
    return tiny_models.make(tmp_path / "model", request.param)


def test_gold_texts_that_are_longer_than_the_model_can_write_are_cut_and_counted(folder):
    task = TextToText()
    model = built(folder, task)
    prepared = task.info.prepare(model.encoder.preparer, documents(), 32)
    room, texts = model.encoder.max_length, golds()
    assert [*map(len, task.targets(prepared, texts, (), {})["answer"])] and task.notice() == ""

    texts[1] = TextGold("ada met bob " * room)
    answers = task.targets(prepared, texts, (), {})["answer"]

    assert len(answers[1]) == room and task.notice().startswith("The gold text of 1 training")


def test_the_loss_is_that_of_transformers(folder):
    task = TextToText()
    model = built(folder, task)
    prepared = task.info.prepare(model.encoder.preparer, documents(), 32)
    features = Features(prepared, task.targets(prepared, golds(), (), {}))
    batch = collate(features, range(len(PAIRS)), encoder=model.encoder, device=CPU)

    outputs = task.forward(model, batch)

    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    with torch.no_grad():
        wanted = theirs(**batch.inputs, labels=batch.targets["answer"]).loss
    loss = outputs.losses["task"]
    assert float((loss.total / loss.count).detach()) == pytest.approx(float(wanted), abs=1e-5)
    assert outputs.logits == {} and int(loss.count) == sum(map(len, features.targets["answer"]))


def test_texts_are_those_that_transformers_generates_and_do_not_depend_on_the_batch(folder):
    task = TextToText()
    model = built(folder, task, answer_length=6)
    prepared = task.info.prepare(model.encoder.preparer, documents(), 32)

    together = last(infer(task, model, Features(prepared, {})))
    written = task.info.decode(together, prepared, (), {})

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    for number, (text, _gold) in enumerate(PAIRS):
        ids = theirs.generate(
            **tokenizer(text, return_tensors="pt"),
            max_new_tokens=6, do_sample=False, num_beams=1, forced_eos_token_id=None,
        )  # fmt: skip
        assert written[number].written == tokenizer.decode(ids[0], skip_special_tokens=True).strip()
        alone = last(infer(task, model, Features(prepared.only(number), {})))[0]
        assert np.array_equal(alone["characters"], together[number]["characters"])
        assert np.allclose(alone["probability"], together[number]["probability"], atol=1e-5)


def test_a_model_that_writes_nothing_is_refused(tmp_path):
    folder = tiny_models.make(tmp_path / "bert", "bert")

    with pytest.raises(ModelError, match="writes no texts"):
        built(folder, TextToText())
