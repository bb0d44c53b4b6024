"""What can be inspected, and gold beside an answer."""

import pytest

from workbench.inspection.spec import Answer
from workbench.operations import inspect
from workbench.text.document import Document
from workbench.text.spans import Span


def test_runs_come_before_pretrained_models_newest_first(project, trained):
    found = inspect.choices(project)

    assert (
        found[0].run == trained.id
        and found[0].task == "classify"
        and found[0].title == "first · topic · starter"
    )
    assert [one.task for one in found[1:]] == ["masked", "causal"]


def test_without_a_project_the_pretrained_models_are_there():
    assert {one.title for one in inspect.choices(None)} == {
        "starter-bert · masked words",
        "starter-gpt · next words",
    }


def test_gold_is_flat_and_says_whether_it_counts(project, add_layer, add_documents):
    add_layer("entities", "span", ("PER", "LOC"))
    spans = [(0, 12, "PER"), (0, 3, "PER")]
    (id,) = add_documents([("Ada Lovelace met Bob", "dev", "draft", "entities", spans)])
    choice = inspect.Choice("run 1", "x", "/x", "tag", 1, "entities")
    layers = {
        one.name: one
        for one in __import__("workbench.storage.labels", fromlist=["layers"]).layers(project.db)
    }

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "layer", lambda project, choice: layers[choice.layer])
        gold = inspect.gold(project, choice, id)

    assert gold.spans == (Span(0, 12, "PER"),) and gold.left_out == 1 and not gold.submitted
    answer = Answer(
        "tag", "bert", spans=(Span(0, 12, "PER", score=0.5), Span(17, 20, "PER", score=0.4))
    )
    assert [one.kind for one in inspect.compare(gold, answer)] == ["agreed", "extra"]


def test_unknown_words_are_told_above_a_tenth():
    assert inspect.unknown_warning(Answer("tag", "bert", unknown=0.1), "m") == ""
    assert "30% of these words" in inspect.unknown_warning(Answer("tag", "bert", unknown=0.3), "m")


def test_only_a_tagger_of_imported_tokens_warns_of_raw_text(tmp_path):
    (tmp_path / "glossbench.json").write_text('{"tokens": {"documents": 9, "of": 9, "alike": 0.8}}')
    tagger, classifier = (
        inspect.Choice(task, task, str(tmp_path), task, 1) for task in ("tag", "classify")
    )

    assert "20% are not cut" in inspect.token_warning(tagger, inspect.typed("a text"))
    assert inspect.token_warning(classifier, inspect.typed("a text")) == ""
    with_tokens = Document("1", (("text", "a"),), tokens={"text": ((0, 1),)})
    assert inspect.token_warning(tagger, with_tokens) == ""
    pretrained = inspect.Choice("m", "m", str(tmp_path), "masked")
    assert inspect.token_warning(pretrained, inspect.typed("a text")) == ""


def test_a_run_asks_for_the_texts_of_its_task_and_a_pretrained_model_for_one():
    def texts(task, run=None):
        return inspect.Choice("k", "t", "/x", task, run).texts

    assert [texts("classify", 1), texts("pairs", 1), texts("tag", 1)] == [1, 2, 1]
    assert [texts("masked"), texts("causal"), texts("none")] == [1, 1, 1]


def test_a_document_without_a_class_has_no_gold(project, add_layer, add_documents, monkeypatch):
    layer = add_layer("topic", "class", ("praise", "complaint"))
    (id,) = add_documents([("late again", "dev", "draft", "topic", [])])
    monkeypatch.setattr(inspect, "layer", lambda project, choice: layer)

    gold = inspect.gold(project, inspect.Choice("run 1", "x", "/x", "classify", 1, "topic"), id)

    assert gold == inspect.Gold(None, (), False, 0)


def test_a_document_is_asked_about_with_its_own_tokens(project):
    document = inspect.typed("one two", "three")

    assert inspect.request(document, start=4) == {
        "texts": {"text": "one two", "text_b": "three"},
        "tokens": {},
        "top": 5,
        "start": 4,
    }


def test_an_answer_survives_the_way_to_the_window():
    from workbench.inspection.spec import TokenRow, WordRow

    token = TokenRow("late", "late", 7, 0, 4, "text", 0, best=(("O", 0.5),), own=0.25)
    answer = Answer(
        "tag",
        "bert",
        (token,),
        (WordRow(0, 4, "text", "late"),),
        (("a", 0.5),),
        (Span(0, 4, "T", score=0.5),),
        labels=("T",),
    )

    import json

    assert Answer.from_json(json.loads(json.dumps(answer.to_json()))) == answer
