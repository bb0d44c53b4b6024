"""Multiple choice: scores as in transformers, a softmax over the choices of each document."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import ExportSpec, loading_code  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import card as card_of  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.base import Batch, Features, collate  # noqa: E402
from workbench.tasks.choice.info import INFO  # noqa: E402
from workbench.tasks.choice.task import Choice  # noqa: E402
from workbench.tasks.classify.info import ClassGold  # noqa: E402
from workbench.tasks.predictor import LossSum, Predictor, infer  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402

CPU = torch.device("cpu")
LABELS = ("1", "2", "3")


def document(key, text, *choices, question=""):
    named = tuple((f"choice_{number}", choice) for number, choice in enumerate(choices, 1))
    asked = (("question", question),) if question else ()
    return Document(key, (("text", text), *asked, *named))


TWO = document("a", "the tram was late", "thank you", "the bus")
THREE = document("b", "ada met bob in paris", "a ticket", "to the harbour gate and north", "late")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("choice") / "bert", "bert")


def built(folder, **options):
    setting = networks.Setting(Choice(), LABELS, options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def features(model, documents, golds=()):
    prepared = INFO.prepare(model.encoder.preparer, documents, 32)
    targets = Choice().targets(prepared, [ClassGold(gold) for gold in golds], LABELS, {})
    return Features(prepared, targets if golds else {})


def test_scores_and_loss_are_those_of_transformers(folder, tmp_path):
    model = built(folder)
    torch.nn.init.normal_(model.encoder.model.classifier.weight, std=100.0)
    networks.save(model, tmp_path)
    theirs = transformers.BertForMultipleChoice.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    documents = [THREE, document("c", "full", "the lift", "in paris , ada", "thank you !")]
    first = [item.text for item in documents for _choice in item.choices]
    second = [choice for item in documents for choice in item.choices]
    inputs = tokenizer(first, second, padding=True, return_token_type_ids=True, return_tensors="pt")
    rows = {name: table.view(2, 3, -1) for name, table in inputs.items()}

    given = collate(features(model, documents, "31"), range(2), encoder=model.encoder, device=CPU)
    ours = Choice().forward(model, given)
    with torch.no_grad():
        wanted = theirs(**rows, labels=torch.tensor([2, 0]))

    assert torch.allclose(ours.logits["logits"].view(2, 3), wanted.logits, atol=1e-6)
    loss = ours.losses["task"]
    assert float((loss.total / loss.count).detach()) == pytest.approx(float(wanted.loss), abs=1e-6)


def test_missing_choices_take_no_part_in_the_softmax(folder):
    model = built(folder)
    found = features(model, [TWO, THREE], "12")

    together, alone = LossSum(), LossSum()
    for chosen, sums in (([0, 1], together), ([0], alone), ([1], alone)):
        batch = collate(found, chosen, encoder=model.encoder, device=CPU)
        with torch.no_grad():
            sums.add(Choice().forward(model, batch).losses)

    assert together.means()["task"] == pytest.approx(alone.means()["task"], abs=1e-6)


def test_batches_hold_all_choices_of_a_document(folder):
    model = built(folder)
    found = features(model, [TWO, THREE] * 3, "121212")
    longest = max(map(len, found.prepared.inputs[2:5]))
    losses = LossSum()

    work = infer(Choice(), model, found, losses=losses, tokens=3 * longest)
    done = list(work)

    assert found.lengths.tolist()[1] == 3 * longest
    assert done[:3] == [3, 6, 9] and done[-1] == 15  # long documents alone in their batch
    assert losses.counts["task"] == 6


@pytest.mark.parametrize("family", ["gpt2", "t5"])
def test_other_models_score_choices_with_a_head_of_ours(family, tmp_path):
    """GPT-1: [start] context [delimiter] choice [extract], Radford et al. 2018, section 3.3."""
    form = {"input_form": "gpt1"} if family == "gpt2" else {}
    model = built(tiny_models.make(tmp_path / family, family), **form)
    found = features(model, [TWO, THREE], "23")

    batch = collate(found, [0, 1], encoder=model.encoder, device=CPU)
    outputs = Choice().forward(model, batch)
    outputs.losses["task"].total.backward()

    assert outputs.logits["logits"].shape == (5, 1)
    assert all(p.grad is not None for p in model.head.parameters())
    if form:
        ids, tokenizer = found.prepared.inputs[0].ids, model.encoder.tokenizer
        assert ids[-1] != ids[0] and tokenizer.delimiter in ids.tolist()


def test_it_learns_eight_documents(folder):
    model = built(folder).train()
    words = "tram bus late full ticket lift harbour gate".split()
    documents = [document(w, f"the {w}", "paris", w, "ada met") for w in words]
    batch = collate(
        features(model, documents, "2" * 8), range(8), encoder=model.encoder, device=CPU
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    for _step in range(30):
        optimizer.zero_grad()
        Choice().forward(model, Batch(*batch)).losses["task"].total.backward()
        optimizer.step()

    predictions = predicted(model.eval(), documents)
    assert [prediction.label for prediction in predictions] == ["2"] * 8


def predicted(model, documents):
    found = features(model, documents)
    work = infer(Choice(), model, found)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return INFO.decode(end.value, found.prepared, LABELS, {})


def test_a_published_head_predicts_as_it_is(folder, tmp_path):
    networks.save(built(folder), tmp_path)
    (card, documents) = card_of(tmp_path), [TWO, THREE]

    published = Predictor.load(tmp_path, "cpu").predict(documents)

    assert card.task == "choice" and card.usable
    assert [len(item.classes.labels) for item in published] == [2, 3]
    for ours, theirs in zip(predicted(built(folder), documents), published, strict=True):
        assert ours.classes.scores == pytest.approx(theirs.classes.scores, abs=1e-6)
    assert card_of(folder).task == ""


def test_an_export_is_verified_choice_by_choice(folder, tmp_path):
    """The graph of a choice is that of a class; converting it takes seconds and is left out."""
    (tmp_path / "run").mkdir()
    networks.save(built(folder), tmp_path / "run")
    texts = tmp_path / "texts.jsonl"
    dataset.write(texts, (), [Record(item) for item in (TWO, THREE)], ids=True)
    spec = ExportSpec(str(tmp_path / "run"), str(texts), str(tmp_path / "out"), ("hf",))

    job = run.export(spec.to_json(), tmp_path)
    while True:
        try:
            next(job)
        except StopIteration as end:
            check = end.value["check"]
            break

    assert (check["texts"], check["extremes"], check["equal_labels"]) == (9, 7, 1.0)
    code = loading_code("hf", tmp_path / "out" / "hf", "choice")
    assert "choice 2" in code
    exported = Predictor.load(tmp_path / "out" / "hf", "cpu")
    asked = [(item.text, *item.choices) for item in (TWO, THREE)]
    labels = [item.label for item in predicted(built(folder), [TWO, THREE])]
    assert [predict_text.label for predict_text in exported.predict_texts(asked)] == labels


def test_smoothing_spreads_over_the_choices_that_a_document_has(folder):
    model, task = built(folder), Choice()
    found = features(model, [TWO, THREE], "12")
    batch = collate(found, [0, 1], encoder=model.encoder, device=CPU)
    task.balance(found.targets, LABELS, {"label_smoothing": 0.1})

    outputs = task.forward(model, batch)

    scores = outputs.logits["logits"].squeeze(-1)
    losses = torch.nn.CrossEntropyLoss(label_smoothing=0.1, reduction="sum")
    expected = losses(scores[None, :2], torch.tensor([0])) + losses(
        scores[None, 2:], torch.tensor([1])
    )
    assert outputs.losses["task"].total.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
