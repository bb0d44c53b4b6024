"""Direct preference optimization: log-probabilities as transformers gives them, the published loss
by hand and as in trl, and pairs that are learned.
"""

import copy
import json
import math

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from tests.training.test_loop import finish  # noqa: E402
from workbench.base.errors import ExportFailed  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import (  # noqa: E402
    ExportSpec,
    check_fit,
    exporter_info,
    loading_code,
)
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import card as card_of  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.runtime.predictor import last  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.base import Batch, Features, collate  # noqa: E402
from workbench.tasks.classify.info import ClassGold  # noqa: E402
from workbench.tasks.predictor import Predictor, infer  # noqa: E402
from workbench.tasks.prefer.info import INFO, REFERENCE  # noqa: E402
from workbench.tasks.prefer.task import Prefer, preferred  # noqa: E402
from workbench.tasks.references import FILE, References  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import CHOICES, choice_names, with_choices  # noqa: E402
from workbench.text.labels import Label, Layer  # noqa: E402
from workbench.training import loop, view  # noqa: E402
from workbench.training.events import LogMessage  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

CPU = torch.device("cpu")
LABELS = ("1", "2")
PROMPTS = ("When does it run?", "Where does the tram stop, and when?", "Is it late?")
FAST = {
    "epochs": 10,
    "best_by": "last",
    "batch_size": 4,
    "device": "cpu",
    "precision": "fp32",
    "dropout": 0.0,
}


def pair(number):
    """A prompt with two answers, the second of them is preferred."""
    prompt = f"{PROMPTS[number % 3]} {number}"
    return with_choices(f"p{number}", prompt, (f"no {number} idea", f"at {number} o'clock"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("prefer") / "gpt2", "gpt2")


def built(folder, **options):
    setting = networks.Setting(Prefer(), LABELS, options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def features(model, documents, golds=(), references=()):
    prepared = INFO.prepare(model.encoder.preparer, documents, 64)
    if references:
        known = References("", "", 64)
        values = iter(references)
        for number, document in enumerate(documents):
            known.values[document.text_hash] = [next(values) for _item in prepared.of(number)]
        prepared = known.attached(prepared, REFERENCE)
    targets = Prefer().targets(prepared, [ClassGold(gold) for gold in golds], LABELS, {})
    return Features(prepared, targets if golds else {})


def test_logits_are_the_log_probabilities_of_transformers(folder):
    model, theirs = built(folder), transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    documents = [pair(0), pair(1)]
    items = features(model, documents)

    logits = last(infer(Prefer(), model, items))

    for encoded, values in zip(items.prepared.inputs, logits, strict=True):
        ids = torch.tensor(encoded.ids.astype("int64"))[None]
        with torch.no_grad():
            logs = theirs(ids).logits.log_softmax(-1)[0, :-1].gather(-1, ids[0, 1:, None])[:, 0]
        expected = logs[torch.tensor(encoded.text[1:] == 1)].sum()
        assert float(values["logits"][0]) == pytest.approx(float(expected), rel=1e-5)


def test_the_loss_is_the_published_one():
    """By hand: β = 0.5, gains 1 and -1 → margin 1, -log σ(1) = 0.3133; with a smoothing of 0.1
    0.9 · 0.3133 + 0.1 · 1.3133 = 0.4133. A third answer with a gain of 0 gives a margin of 0.5.
    """
    logits = {"logits": torch.tensor([[-9.0], [-11.0], [-10.0], [-4.0], [-6.0]])}
    targets = {
        "right": torch.tensor([1.0, 0, 0, 0, 1]),
        "document": torch.tensor([7, 7, 7, 8, 8]),
        REFERENCE: torch.tensor([-10.0, -10, -10, -5, -5]),
    }
    task, plain = Prefer(), []
    for smoothing in (0.0, 0.1):
        task.balance({}, LABELS, {"beta": 0.5, "label_smoothing": smoothing})
        plain.append(task.losses(None, logits, targets)["task"])

    def loss(margin):
        return math.log(1 + math.exp(-margin))

    first = loss(1.0) + loss(0.5) + loss(-1.0)
    assert float(plain[0].total) == pytest.approx(first, rel=1e-5) and float(plain[0].count) == 3
    smoothed = 0.9 * first + 0.1 * (loss(-1.0) + loss(-0.5) + loss(1.0))
    assert float(plain[1].total) == pytest.approx(smoothed, rel=1e-5)
    assert loss(1.0) == pytest.approx(0.3133, abs=1e-4)


def test_each_other_answer_is_compared_with_the_preferred_one():
    gains = torch.tensor([1.0, 4.0, 2.0, 5.0, 3.0])
    right = torch.tensor([0.0, 1, 0, 1, 0])
    document = torch.tensor([3, 3, 3, 0, 0])

    assert preferred(gains, right, document).tolist() == [3.0, 2.0, 2.0]


def test_loss_and_gradient_are_those_of_trl(folder, tmp_path, monkeypatch):
    """trl smooths labels only in other losses, see the test by hand."""
    pytest.importorskip("trl", reason="trl is not installed")
    from datasets import Dataset as Rows
    from datasets.table import InMemoryTable
    from trl import DPOConfig, DPOTrainer

    documents, beta = [pair(0), pair(1), pair(2)], 0.3
    model = built(folder)
    items = features(model, documents)
    reference = [float(v["logits"][0]) for v in last(infer(Prefer(), model, items))]
    base = copy.deepcopy(model.encoder.model)
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    theirs = copy.deepcopy(model.encoder.model)
    ids = [encoded.ids.tolist() for encoded in items.prepared.inputs]
    starts = [int((encoded.text != 1).sum()) for encoded in items.prepared.inputs]
    rows = [
        {
            "prompt_ids": ids[at][: starts[at]],
            "chosen_ids": ids[at + 1][starts[at + 1] :],
            "rejected_ids": ids[at][starts[at] :],
        }
        for at in range(0, len(ids), 2)
    ]
    monkeypatch.setattr(DPOTrainer, "_prepare_dataset", lambda _self, rows, *_more: rows)
    trainer = DPOTrainer(
        theirs,
        ref_model=base,
        args=DPOConfig(
            output_dir=str(tmp_path), beta=beta, report_to=[], use_cpu=True,
            bf16=False, gradient_checkpointing=False, disable_dropout=True,
        ),
        train_dataset=Rows(InMemoryTable.from_pylist(rows), fingerprint="rows"),
        processing_class=transformers.AutoTokenizer.from_pretrained(folder, pad_token="<|end|>"),
    )  # fmt: skip
    expected = trainer.compute_loss(theirs, trainer.data_collator(rows))
    theirs.zero_grad()
    expected.backward()

    task = Prefer()
    task.balance({}, LABELS, {"beta": beta, "label_smoothing": 0.0})
    learned = features(model, documents, "222", reference)
    batch = collate(learned, range(3), encoder=model.encoder, device=CPU)
    loss = task.forward(model, batch).losses["task"]
    (loss.total / loss.count).backward()

    assert float((loss.total / loss.count).detach()) == pytest.approx(
        float(expected.detach()), rel=1e-5
    )
    others = dict(theirs.named_parameters())
    for name, parameter in model.encoder.model.named_parameters():
        assert torch.allclose(parameter.grad, others[name].grad, rtol=1e-3, atol=1e-6), name


@pytest.fixture
def pairs():
    """26 prompts, of which 20 are for training; each is answered better by its second answer."""
    splits = ["train"] * 20 + ["dev"] * 6
    records = [
        Record(pair(number), {"better": "submitted"}, {"better": ("2",)})
        for number in range(len(splits))
    ]
    for number, record in enumerate(records):
        object.__setattr__(record.document, "split", splits[number])
        object.__setattr__(record.document, "id", number + 1)
    layer = Layer("better", "preference", tuple(map(Label, choice_names(2))), CHOICES)
    return Dataset((layer,), tuple(records))


def train(data, model, folder, **options):
    folder.mkdir(exist_ok=True)
    spec = TrainSpec("prefer", "better", str(model), "tiny", 1, {**FAST, **options})
    return finish(loop.train(spec, data, folder))


@pytest.mark.parametrize("method", ["full", "lora"])
def test_preferred_answers_of_20_pairs_become_more_probable(pairs, folder, tmp_path, method):
    documents = [record.document for record in pairs.records]
    before = last(infer(Prefer(), built(folder), features(built(folder), documents)))

    events, result = train(pairs, folder, tmp_path / "run", method=method, learning_rate=3e-3)

    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    after = predictor.logits(predictor.prepare(documents))
    gaps = [
        [float(logits[at + 1]["logits"][0] - logits[at]["logits"][0]) for at in range(0, 52, 2)]
        for logits in (before, after)
    ]
    assert all(later > earlier for earlier, later in zip(*(g[:20] for g in gaps), strict=True))
    dev = result.evaluations["dev"]
    assert dev.scores["accuracy"] == 1.0 and dev.scores["reward_margin"] > 0.05
    margins = [0.1 * (later - earlier) for earlier, later in zip(*gaps, strict=True)]
    assert dev.scores["reward_margin"] == pytest.approx(sum(margins[20:]) / 6, rel=1e-3)
    lines = [str(event) for event in events if isinstance(event, LogMessage)]
    assert any("reference log-probabilities of 26 documents" in line for line in lines)
    predictions = predictor.predict(documents[20:])
    assert [prediction.label for prediction in predictions] == ["2"] * 6


def test_references_are_those_of_the_initial_weights_and_are_stored(pairs, folder, tmp_path):
    train(pairs, folder, tmp_path / "run", epochs=1)

    stored = References.read(tmp_path / "run")
    model = built(folder)
    document = pairs.records[25].document
    logits = last(infer(Prefer(), model, features(model, [document])))

    assert len(stored.values) == 26 and stored.start == str(folder)
    expected = [float(values["logits"][0]) for values in logits]
    assert stored.values[document.text_hash] == pytest.approx(expected, rel=1e-5)


def test_other_documents_are_compared_with_the_model_that_was_started_from(pairs, folder, tmp_path):
    train(pairs, folder, tmp_path / "run", epochs=1, learning_rate=3e-3)
    other = with_choices("other", "Who drives it?", ("nobody", "a driver of the tram", "ada"))
    place = tmp_path / "run"

    predictor = Predictor.load(place / "model", "cpu")
    (prediction,) = predictor.predict([other])

    model = built(folder)
    before, after = (
        [float(values["logits"][0]) for values in logits]
        for logits in (
            last(infer(Prefer(), model, features(model, [other]))),
            predictor.logits(predictor.prepare([other])),
        )
    )
    gains = torch.tensor(after) - torch.tensor(before)
    expected = (0.1 * gains).softmax(-1).tolist()
    assert prediction.classes.scores == pytest.approx(expected, rel=1e-3)

    raw = json.loads((place / FILE).read_text())
    (place / FILE).write_text(json.dumps({**raw, "start": str(tmp_path / "gone")}))
    (alone,) = Predictor.load(place / "model", "cpu").predict([other])
    expected = (0.1 * torch.tensor(after)).softmax(-1).tolist()
    assert alone.classes.scores == pytest.approx(expected, rel=1e-3)


def test_a_batch_without_references_has_the_gradient_of_the_first_step(folder):
    """At the initial weights every margin is 0: the loss is log 2, and its gradient is there."""
    model = built(folder)
    batch = collate(
        features(model, [pair(0), pair(1)], "22"), range(2), encoder=model.encoder, device=CPU
    )

    loss = Prefer().forward(model, Batch(*batch)).losses["task"]
    loss.total.backward()

    assert float(loss.total.detach()) == pytest.approx(2 * math.log(2), rel=1e-5)
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_an_exported_folder_gives_the_log_probabilities_to_transformers(pairs, folder, tmp_path):
    train(pairs, folder, tmp_path / "run", epochs=1, learning_rate=3e-3)
    model, texts = tmp_path / "run" / "model", tmp_path / "texts.jsonl"
    dataset.write(texts, (), pairs.records[20:], ids=True)

    spec = ExportSpec(str(model), str(texts), str(tmp_path / "out"), layer="better")
    assert spec.formats == ("hf",)  # of the default ones, hf and onnx
    _events, result = finish(run.export(spec.to_json(), tmp_path))

    check = result["check"]
    # the references stay in the folder of the run, but the comparison has them
    assert check["score"]["value"] == 1.0 and check["change"]["value"] == 0.0
    assert check["equal_labels"] == 1.0 and check["largest_difference"] < 1e-3
    assert "text-generation" in loading_code("hf", tmp_path / "out" / "hf", "prefer")
    assert "ONNX" in exporter_info("onnx").unfit(model)
    with pytest.raises(ExportFailed, match="no graph"):
        check_fit(model, ("onnx_int8",))


def test_a_run_continues_texts_as_any_language_model(pairs, folder, tmp_path):
    train(pairs, folder, tmp_path / "run", epochs=1)

    card = card_of(tmp_path / "run" / "model")

    assert card.usable and "next_lm" in card.gives and card.task == "prefer"


def test_the_first_batch_shows_the_answers_as_what_is_learned(pairs, folder, tmp_path):
    spec = TrainSpec("prefer", "better", str(folder), "tiny", 1, dict(FAST))
    dataset.write(tmp_path / "data.jsonl", pairs.layers, pairs.records, ids=True)
    params = {"spec": spec.to_json(), "data": str(tmp_path / "data.jsonl")}

    _events, batch = finish(view.show_batch(params, tmp_path))

    row = batch["rows"][0]
    learned = [unit["input"] for unit in row["units"] if unit["target"]]
    assert learned and len(learned) < len(row["units"]) and learned[-1] == "<|end|>"
