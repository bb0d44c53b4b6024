"""Numbers: outputs and loss as in transformers; heads of ours for other models."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import SpecError  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.base import Batch, Features, collate  # noqa: E402
from workbench.tasks.regress.info import NumberGold  # noqa: E402
from workbench.tasks.regress.task import Regress  # noqa: E402
from workbench.tasks.similarity.task import Similarity  # noqa: E402
from workbench.text.document import Document  # noqa: E402

CPU = torch.device("cpu")
PAIRS = (
    ("the tram was late", "the bus was late", 3.5),
    ("ada met bob in paris", "thank you", 0.0),
    ("thank you !", "thank you", 4.75),
)


def documents(task):
    named = ("text", "text_b")[: task.info.texts]
    rows = enumerate(PAIRS)
    return [Document(str(n), tuple(zip(named, row[:2], strict=False))) for n, row in rows]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("regress") / "bert", "bert")


def built(task, folder, **options):
    setting = networks.Setting.new(task, (), golds(), options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def golds():
    return [NumberGold(row[2]) for row in PAIRS]


def batch_of(task, model):
    prepared = task.info.prepare(model.encoder.preparer, documents(task), 32)
    features = Features(prepared, task.targets(prepared, golds(), (), {}))
    return prepared, collate(features, range(len(PAIRS)), encoder=model.encoder, device=CPU)


@pytest.mark.parametrize("task", [Regress(), Similarity()], ids=["single", "pairs"])
def test_outputs_and_loss_are_those_of_transformers(task, folder, tmp_path):
    model = built(task, folder)
    torch.nn.init.normal_(model.encoder.model.classifier.weight, std=50.0)
    networks.save(model, tmp_path)
    theirs = transformers.BertForSequenceClassification.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sides = list(zip(*(row[: task.info.texts] for row in PAIRS), strict=True))
    with_types = {"return_token_type_ids": True, "return_tensors": "pt"}
    inputs = tokenizer(*map(list, sides), padding=True, **with_types)
    labels = torch.tensor([row[2] for row in PAIRS])

    outputs = task.forward(model, batch_of(task, model)[1])
    with torch.no_grad():
        wanted = theirs(**inputs, labels=labels)

    assert theirs.config.problem_type == "regression" and theirs.config.num_labels == 1
    assert torch.allclose(outputs.logits["logits"], wanted.logits, atol=1e-6)
    loss = outputs.losses["task"]
    assert float((loss.total / loss.count).detach()) == pytest.approx(float(wanted.loss), abs=1e-6)


@pytest.mark.parametrize(("family", "options"), [("gpt2", {}), ("t5", {"pooling": "mean"})])
def test_other_models_have_one_output(family, options, tmp_path):
    task = Similarity()
    model = built(task, tiny_models.make(tmp_path / family, family), **options)

    outputs = task.forward(model, batch_of(task, model)[1])
    outputs.losses["task"].total.backward()

    assert outputs.logits["logits"].shape == (3, 1)


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_an_encoder_decoder_learns_numbers_as_text(family, tmp_path):
    task = Similarity()
    folder = tiny_models.make(tmp_path / family, family, layers=1)
    model = built(task, folder, number_step=0.5)
    theirs = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    _prepared, batch = batch_of(task, model)
    outputs = task.forward(model, batch)

    assert model.encoder.outputs == tuple(f"{n / 2:.1f}" for n in range(11))  # to 5: 4.75 is below
    assert outputs.logits["logits"].shape == (3, 11)
    losses = []
    for row, text in enumerate(("3.5", "0.0", "4.5")):  # of 4.5 and 5.0, both as near, the first
        ids = tokenizer(text, return_tensors="pt").input_ids
        inputs = {name: array[row : row + 1] for name, array in batch.inputs.items()}
        with torch.no_grad():
            losses.append(float(theirs(**inputs, labels=ids).loss) * ids.shape[1])
    assert outputs.losses["task"].total.item() == pytest.approx(sum(losses), rel=1e-4)


def test_numbers_written_by_a_saved_model_are_those_of_its_best_text(tmp_path):
    task = Regress()
    model = built(task, tiny_models.make(tmp_path / "t5", "t5", layers=1))
    prepared, batch = batch_of(task, model)
    with torch.no_grad():
        logits = model(batch.inputs)["logits"].numpy()
    setting = networks.Setting.new(task, (), golds(), {}, 1)
    decoder = {**setting.stored(model)}

    networks.save(model, tmp_path / "saved")
    description = {"labels": [], "options": {}, "decoder": decoder}
    again = networks.load(tmp_path / "saved", networks.Setting.trained(task, description)).eval()

    assert decoder == task.decoder(again, {}) and len(decoder["label_texts"]) == 25
    rows = [{"logits": row} for row in logits]
    found = [item.number for item in task.info.decode(rows, prepared, (), decoder)]
    assert found == [float(decoder["label_texts"][best]) for best in logits.argmax(-1)]
    with torch.no_grad():
        assert torch.allclose(again(batch.inputs)["logits"], torch.from_numpy(logits), atol=1e-6)


def test_a_step_with_too_many_numbers_is_an_error():
    with pytest.raises(SpecError, match="from 0 to 4.75 in steps of 0.01 are more than 200"):
        Regress().label_texts(golds(), {"number_step": 0.01})


def test_it_learns_three_numbers(folder):
    task = Regress()
    model = built(task, folder, pooling="mean").train()
    prepared, batch = batch_of(task, model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)

    for _step in range(120):
        optimizer.zero_grad()
        task.forward(model, Batch(*batch)).losses["task"].total.backward()
        optimizer.step()

    with torch.no_grad():
        logits = model.eval()(batch.inputs)["logits"].numpy()
    rows = [{"logits": np.asarray(row)} for row in logits]
    found = task.info.decode(rows, prepared, (), {})
    assert [item.number for item in found] == pytest.approx([row[2] for row in PAIRS], abs=0.3)
