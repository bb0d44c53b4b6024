"""An inspector from a plugin: its figures, by hand, and on the command line."""

import json

import pytest

from workbench.cli.main import main
from workbench.inspection.subject import Subject
from workbench.text.document import Document


@pytest.fixture
def report(enabled, tiny_model):
    """`report(text, …)` → the figures of the documents, with the tiny model's vocabulary."""
    enabled("subword_report")

    def run(*texts, **options):
        from subword_report.inspector import FertilityInspector

        documents = [Document("", (("text", text),)) for text in texts]
        return FertilityInspector().run(Subject(tiny_model), documents, {"words": 20, **options})

    return run


def test_subwords_are_counted_for_every_word_of_all_documents(report):
    result = report("the bus", "the the")

    assert (result.documents, result.words) == (2, 4)
    assert result.subwords == sum(word.subwords * word.count for word in result.most_split)
    assert result.fertility == pytest.approx(result.subwords / 4)


def test_a_word_equals_what_the_tokenizer_makes_of_it(report, tiny_model):
    from workbench.runtime.tokenizer import Tokenizer

    words = ["bus", "unbelievable", "late"]
    backend = Tokenizer.load(tiny_model).backend
    expected = {word: len(backend.encode(word, add_special_tokens=False).ids) for word in words}

    assert {word.word: word.subwords for word in report(" ".join(words)).most_split} == expected


def test_words_without_an_entry_are_unknown_and_signs_are_no_words(report):
    result = report("bus 漢 !")

    assert result.words == 2 and result.unknown == 0.5


def test_nothing_gives_zeros(report):
    result = report("")

    assert (result.words, result.fertility, result.continued, result.unknown) == (0, 0.0, 0.0, 0.0)


def test_the_command_line_reports_a_text(enabled, forked_workers, tiny_model, capfd):
    enabled("subword_report")

    code = main(
        [
            *("inspect", str(tiny_model), "--inspector", "subword-report.fertility"),
            *("--text", "the bus", "--set", "words=1", "--json"),
        ]
    )

    out = capfd.readouterr().out
    assert code == 0, out
    assert json.loads(out)["result"]["words"] == 2
