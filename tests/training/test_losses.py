"""A loss is the sum over all targets divided by their number, on train and on dev alike.

Expected values: transformers' own model and tokenizer, one text at a time.
"""

import pytest
import torch
from tokenizers import Tokenizer
from transformers import AutoModelForTokenClassification

from tests.training.test_loop import kinds, train
from workbench.tasks import predictor
from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span
from workbench.training.events import Evaluated, Step

SHORT, LONG = "ada met bob", "the tram is late and the lift is full and the driver met ada again"
FIXED = {"learning_rate": 1e-8, "dropout": 0.0, "epochs": 1, "best_by": "last"}


@pytest.fixture
def uneven():
    """Texts of 3 and of 15 words, one name each: 8 in train, 6 in dev."""
    records = []
    for n, text in enumerate((SHORT, SHORT, SHORT, LONG) * 2 + (SHORT, LONG) * 3):
        start = text.index("ada")
        document = Document(str(n), (("text", text),), "train" if n < 8 else "dev", id=n + 1)
        spans = {"s": (Span(start, start + 3, "PER"),)}
        records.append(Record(document, {"s": "submitted"}, {}, spans))
    return Dataset((Layer("s", "span", (Label("PER"),)),), tuple(records))


def reference(folder, records):
    """Mean cross-entropy over the words of all records, each by its first subword."""
    model = AutoModelForTokenClassification.from_pretrained(folder / "model").eval()
    tokenizer = Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    number = model.config.label2id
    total, count = 0.0, 0
    for record in records:
        text, (name,) = record.document.text, record.spans["s"]
        encoded = tokenizer.encode(text)
        words = {0, *(at + 1 for at, letter in enumerate(text) if letter == " ")}
        for at, (start, end) in enumerate(encoded.offsets):
            if end > start and start in words:
                words.remove(start)
                tag = number["B-PER" if start == name.start else "O"]
                with torch.no_grad():
                    logits = model(torch.tensor([encoded.ids])).logits[0, at]
                total += float(torch.nn.functional.cross_entropy(logits, torch.tensor(tag)))
                count += 1
    return total / count


@pytest.mark.parametrize("tokens", [12, 40, 4096])
def test_the_dev_loss_of_tags_is_the_mean_over_all_words_whatever_the_batches(
    uneven, tiny_model, tmp_path, monkeypatch, tokens
):
    monkeypatch.setattr(predictor, "CPU_TOKENS", tokens)

    events, _result = train(uneven, tiny_model, tmp_path / "run", "tag", **FIXED)

    dev = [record for record in uneven.records if record.document.split == "dev"]
    expected = reference(tmp_path / "run", dev)
    assert kinds(events, Evaluated)[-1].loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("batch_size, accumulation", [(1, 1), (2, 2), (2, 4), (8, 1)])
def test_the_training_loss_of_tags_is_the_mean_over_all_words_whatever_the_batches(
    uneven, tiny_model, tmp_path, batch_size, accumulation
):
    events, result = train(
        uneven, tiny_model, tmp_path / "run", "tag", **FIXED,
        batch_size=batch_size, accumulation=accumulation,
    )  # fmt: skip

    train_records = [record for record in uneven.records if record.document.split == "train"]
    expected = reference(tmp_path / "run", train_records)
    assert result.loss == pytest.approx(expected, rel=1e-4)
    if batch_size * accumulation == 8:
        (step,) = kinds(events, Step)
        assert step.losses["task"] == pytest.approx(expected, rel=1e-4)
