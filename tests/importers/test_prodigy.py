import json

import pytest

from workbench.importers.base import Options
from workbench.importers.prodigy import ProdigyImporter
from workbench.importers.source import Source
from workbench.text.spans import Span


def lines(*rows):
    return "\n".join(json.dumps(one) for one in rows) + "\n"


TOKENS = [
    {"text": "Ada", "start": 0, "end": 3, "id": 0},
    {"text": "met", "start": 4, "end": 7, "id": 1},
]


def test_accept_submits_ignore_discards_reject_brings_the_text_alone(read):
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    found = read(
        lines(
            *(
                {"text": "Ada met", "tokens": TOKENS, "spans": spans, "answer": one}
                for one in ("accept", "ignore", "reject")
            )
        ),
        "prodigy",
    )

    assert [one.states for one in found.records] == [
        {"spans": "submitted"},
        {"spans": "discarded"},
        {},
    ]
    assert found.records[0].spans == {"spans": (Span(0, 3, "PER"),)} and not found.records[2].spans
    assert "1 task was rejected" in found.remarks[0]


def test_tokens_are_kept_and_checked_against_the_text(read):
    wrong = [{"text": "Eve", "start": 0, "end": 3, "id": 0}]
    found = read(
        lines(
            {"text": "Ada met", "tokens": TOKENS, "spans": []},
            {"text": "Ada met", "tokens": wrong, "spans": []},
        ),
        "prodigy",
    )

    assert found.records[0].document.tokens == {"text": ((0, 3), (4, 7))}
    assert found.skipped == [(2, "the token 'Eve' is not at 0–3, where the text has 'Ada'")]


def test_choices_and_binary_labels_are_classes(read):
    choice = {
        "text": "a",
        "options": [{"id": "X"}, {"id": "Y"}],
        "accept": ["Y"],
        "answer": "accept",
    }
    found = read(
        lines(
            choice,
            {"text": "b", "label": "X", "answer": "accept"},
            {"text": "c", "label": "X", "answer": "reject"},
        ),
        "prodigy",
    )

    assert [one.marks for one in found.records] == [{"class": ("Y",)}, {"class": ("X",)}, {}]


def test_real_files_come_in_whole(read, data_folder):
    folder = data_folder / "datasets/tool-exports/prodigy"

    found = read(folder / "annotated_news_headlines-ORG-PERSON-LOCATION-ner.jsonl")

    assert len(found.records) == 200 and not found.skipped
    assert all(one.document.tokens for one in found.records)


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
