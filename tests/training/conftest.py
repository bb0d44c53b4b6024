"""Small data sets that a tiny model can learn by heart."""

import pytest

from workbench.text.dataset import Dataset, Record
from workbench.text.document import Document
from workbench.text.labels import Label, Layer
from workbench.text.spans import Span

SPLITS = ["train"] * 16 + ["dev"] * 4 + ["test"] * 4


@pytest.fixture
def classes():
    """24 documents: those with "late" are bad, those with "thank" are good."""
    texts = [
        f"the tram {number} is {'late' if number % 2 else 'full thank you'}" for number in range(24)
    ]
    records = [
        Record(
            Document(str(n), (("text", text),), SPLITS[n], id=n + 1),
            {"c": "submitted"},
            {"c": ("bad" if n % 2 else "good",)},
        )
        for n, text in enumerate(texts)
    ]
    return Dataset((Layer("c", "class", (Label("good"), Label("bad"))),), tuple(records))


@pytest.fixture
def pairs():
    """24 pairs: equal or not."""
    records = []
    for n in range(24):
        texts = (
            ("text", "the tram is late"),
            ("text_b", "the tram is late" if n % 2 else "bob met ada"),
        )
        records.append(
            Record(
                Document(str(n), texts, SPLITS[n], id=n + 1),
                {"p": "submitted"},
                {"p": ("same" if n % 2 else "other",)},
            )
        )
    return Dataset((Layer("p", "class", (Label("same"), Label("other")), texts=2),), tuple(records))


@pytest.fixture(scope="session")
def tags():
    """24 documents with a name at one of two places."""
    records = []
    for n in range(24):
        text = "ada met the tram in paris" if n % 2 else "the tram met bob in harbour gate"
        spans = (
            (Span(0, 3, "PER"), Span(20, 25, "LOC"))
            if n % 2
            else (Span(13, 16, "PER"), Span(20, 32, "LOC"))
        )
        records.append(
            Record(
                Document(str(n), (("text", text),), SPLITS[n], id=n + 1),
                {"s": "submitted"},
                {},
                {"s": spans},
            )
        )
    return Dataset((Layer("s", "span", (Label("PER"), Label("LOC"))),), tuple(records))
