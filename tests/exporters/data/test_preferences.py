"""Preferences as `trl` reads them."""

import json

import pytest

from workbench.importers.base import Options, Row
from workbench.importers.detect import importer
from workbench.importers.source import Source
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, choice_names, with_choices
from workbench.text.labels import Label, Layer

BETTER = Layer("better", "preference", tuple(map(Label, choice_names(3))), CHOICES)


def record(best, *answers, text="When?"):
    document = with_choices("k", text, answers)
    return Record(document, {"better": "submitted"}, {"better": (best,)} if best else {})


def test_the_marked_answer_is_the_chosen_one(write):
    written = write("preferences", [record("2", "Often.", "At 7.")], [BETTER])

    assert [json.loads(line) for line in written.text.splitlines()] == [
        {"id": "k", "prompt": "When?", "chosen": "At 7.", "rejected": "Often."}
    ]


def test_the_best_of_several_answers_is_written_with_each_other_one(write):
    written = write("preferences", [record("2", "Often.", "At 7.", "No.")], [BETTER])

    rows = [json.loads(line) for line in written.text.splitlines()]
    assert [(row["id"], row["chosen"], row["rejected"]) for row in rows] == [
        ("k-1", "At 7.", "Often."),
        ("k-3", "At 7.", "No."),
    ]
    assert written.count == 1


def test_ties_are_omitted_and_counted(write):
    written = write("preferences", [record("", "Often.", "At 7.")], [BETTER])

    assert written.text == "" and written.count == 0
    assert written.warnings == ("1 document has no preferred answer and was omitted.",)


def test_chat_messages_are_written(write):
    text = "User: Hi\n\nAssistant: Yes?\n\nUser: When?"
    written = write("preferences-chat", [record("1", "At 7.", "No.", text=text)], [BETTER])

    row = json.loads(written.text)
    assert row["prompt"][2] == {"role": "user", "content": "When?"} and len(row["prompt"]) == 3
    assert row["chosen"] == [{"role": "assistant", "content": "At 7."}]


def test_what_is_written_is_read_back(back):
    records = [record("2", "Often.", "At 7."), record("1", "A", "B", text="User: x\n\nUser: y")]

    for old in records:
        (new,) = back("preferences", [old], [BETTER])
        assert new.document.text == old.document.text
        best = new.document.choices[int(new.marks["preference"][0]) - 1]
        assert best == old.document.choices[int(old.marks["better"][0]) - 1]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_a_table_holds_preferences_ties_and_open_documents(format, write, tmp_path):
    pending = Record(with_choices("k", "Who?", ("Ada.", "tie")))
    records = [record("2", "Often.", "At 7."), record("", "A", "B"), pending]
    path = tmp_path / f"preferences.{format}"
    path.write_text(write(format, records, [BETTER]).text, newline="")

    items = list(importer(format).read(Source(path), Options()))

    (layer,) = [item for item in items if isinstance(item, Layer)]
    assert (layer.name, layer.kind) == ("better", "preference")
    read = [item.record for item in items if isinstance(item, Row)]
    assert [one.marks.get("better", ()) for one in read] == [("2",), (), ()]
    assert [one.states.get("better") for one in read] == ["submitted", "submitted", None]
    assert [one.document.choices for one in read] == [one.document.choices for one in records]
