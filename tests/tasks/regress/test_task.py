"""Numbers: outputs and loss as in transformers; heads of ours for other models."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
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
    setting = networks.Setting(task, (), options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def batch_of(task, model, *, golds=True):
    prepared = task.info.prepare(model.encoder.preparer, documents(task), 32)
    targets = task.targets(prepared, [NumberGold(row[2]) for row in PAIRS], (), {})
    features = Features(prepared, targets if golds else {})
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


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_other_models_have_one_output(family, tmp_path):
    task = Similarity()
    model = built(task, tiny_models.make(tmp_path / family, family))

    outputs = task.forward(model, batch_of(task, model)[1])
    outputs.losses["task"].total.backward()

    assert outputs.logits["logits"].shape == (3, 1)


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
