import json

import pytest

from workbench.importers.base import Options
from workbench.importers.json.prodigy import ProdigyImporter
from workbench.importers.source import Source
from workbench.text.spans import Span


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows) + "\n"


TOKENS = [
    {"text": "Ada", "start": 0, "end": 3, "id": 0},
    {"text": "met", "start": 4, "end": 7, "id": 1},
]


def test_accept_submits_ignore_discards_reject_brings_the_text_alone(read):
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    records = read(
        lines(
            *(
                {"text": "Ada met", "tokens": TOKENS, "spans": spans, "answer": item}
                for item in ("accept", "ignore", "reject")
            )
        ),
        "prodigy",
    )

    assert [record.states for record in records.records] == [
        {"spans": "submitted"},
        {"spans": "discarded"},
        {},
    ]
    assert (
        records.records[0].spans == {"spans": (Span(0, 3, "PER"),)} and not records.records[2].spans
    )
    assert "1 task was rejected" in records.remarks[0]


def test_tokens_are_kept_and_checked_against_the_text(read):
    wrong = [{"text": "Eve", "start": 0, "end": 3, "id": 0}]
    records = read(
        lines(
            {"text": "Ada met", "tokens": TOKENS, "spans": []},
            {"text": "Ada met", "tokens": wrong, "spans": []},
        ),
        "prodigy",
    )

    assert records.records[0].document.tokens == {"text": ((0, 3), (4, 7))}
    assert records.skipped == [(2, "the span 0–3 covers 'Ada', but the file says 'Eve'")]


def test_choices_and_binary_labels_are_classes(read):
    choice = {
        "text": "a",
        "options": [{"id": "X"}, {"id": "Y"}],
        "accept": ["Y"],
        "answer": "accept",
    }
    records = read(
        lines(
            choice,
            {"text": "b", "label": "X", "answer": "accept"},
            {"text": "c", "label": "X", "answer": "reject"},
        ),
        "prodigy",
    )

    assert [record.marks for record in records.records] == [
        {"class": ("Y",)},
        {"class": ("X",)},
        {},
    ]


def test_real_files_come_in_whole(read, data_folder):
    folder = data_folder / "datasets/tool-exports/prodigy"

    records = read(folder / "annotated_news_headlines-ORG-PERSON-LOCATION-ner.jsonl")

    assert len(records.records) == 200 and not records.skipped
    assert all(record.document.tokens for record in records.records)


@pytest.mark.parametrize("name", ["spans", "accept", "label", "text", "answer", "tokens", "meta"])
@pytest.mark.parametrize("value", [1.5, True, "word", [1.5], [None], [[]], {"a": {}}, None])
def test_a_preview_shows_odd_values_and_reading_reports_them(tmp_path, name, value):
    path = tmp_path / "t.jsonl"
    path.write_text(lines({"text": "a", "answer": "accept", name: value}))
    source, reader = Source(path), ProdigyImporter()

    table = reader.preview(source, Options(), 20)

    assert [row.line for row in table.rows] == [1]
    assert all(isinstance(cell, str) for cell in table.rows[0].cells)
    assert len(list(reader.read(source, Options()))) == 1
