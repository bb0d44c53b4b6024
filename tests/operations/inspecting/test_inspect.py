"""What can be inspected, and gold beside an answer."""

import json

import pytest

from tests.starters import STARTERS
from workbench.base.errors import ModelError, SpecError
from workbench.inspection.spans.info import PredictedSpans
from workbench.inspection.spec import Inspection, TokenRow, WordRow
from workbench.inspection.token_scores.info import TokenLabels
from workbench.operations.inspecting import inspect, inspect_host
from workbench.text.document import Document
from workbench.text.spans import Span


def test_runs_come_before_pretrained_models_newest_first(project, trained):
    choices = inspect.choices(project)

    assert (
        choices[0].run == trained.id
        and choices[0].task == "classify"
        and choices[0].title == "first · topic · starter"
    )
    assert [choice.key for choice in choices[1:]] == [f"model {name}" for name in STARTERS]


def test_without_a_project_the_pretrained_models_are_there():
    titles = {choice.title for choice in inspect.choices(None)}

    assert {"starter-bert · masked words", "starter-gpt · next words", "starter-vectors"} <= titles
    assert len(titles) == len(STARTERS)


def test_gold_is_flat_and_says_whether_it_counts(project, add_layer, add_documents):
    add_layer("entities", "span", ("PER", "LOC"))
    spans = [(0, 12, "PER"), (0, 3, "PER")]
    (id,) = add_documents([("Ada Lovelace met Bob", "dev", "draft", "entities", spans)])
    choice = inspect.InspectableModel("run 1", "x", "/x", "tag", 1, "entities")
    layers = {
        layer.name: layer
        for layer in __import__("workbench.storage.labels.labels", fromlist=["layers"]).layers(
            project.db
        )
    }

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "layer", lambda project, choice: layers[choice.layer])
        gold = inspect.gold(project, choice, id)

    assert gold.spans == (Span(0, 12, "PER"),) and gold.left_out == 1 and not gold.submitted
    spans = (Span(0, 12, "PER", score=0.5), Span(17, 20, "PER", score=0.4))
    assert [difference.kind for difference in inspect.compare(gold, spans)] == ["agreed", "extra"]


def test_unknown_words_are_reported_above_a_tenth():
    assert inspect.unknown_warning(Inspection("subwords", None, 0.1), "m") == ""
    assert "30% of these words" in inspect.unknown_warning(Inspection("subwords", None, 0.3), "m")


def test_only_a_tagger_of_imported_tokens_warns_of_raw_text(tmp_path):
    (tmp_path / "glossbench.json").write_text('{"tokens": {"documents": 9, "of": 9, "alike": 0.8}}')
    tagger, classifier = (
        inspect.InspectableModel(task, task, str(tmp_path), task, 1) for task in ("tag", "classify")
    )

    assert "20% of them differ" in inspect.token_warning(tagger, inspect.typed("a text"))
    assert inspect.token_warning(classifier, inspect.typed("a text")) == ""
    with_tokens = Document("1", (("text", "a"),), tokens={"text": ((0, 1),)})
    assert inspect.token_warning(tagger, with_tokens) == ""
    pretrained = inspect.InspectableModel("m", "m", str(tmp_path))
    assert inspect.token_warning(pretrained, inspect.typed("a text")) == ""


def test_a_run_asks_for_the_texts_of_its_task_and_a_pretrained_model_for_one():
    def texts(task, run=None):
        return inspect.InspectableModel("k", "t", "/x", task, run).texts

    assert [texts("classify", 1), texts("pairs", 1), texts("tag", 1)] == [1, 2, 1]
    assert texts("") == 1


def test_a_document_without_a_class_has_no_gold(project, add_layer, add_documents, monkeypatch):
    layer = add_layer("topic", "class", ("praise", "complaint"))
    (id,) = add_documents([("late again", "dev", "draft", "topic", [])])
    monkeypatch.setattr(inspect, "layer", lambda project, choice: layer)

    gold = inspect.gold(
        project, inspect.InspectableModel("run 1", "x", "/x", "classify", 1, "topic"), id
    )

    assert gold == inspect.DocumentGold(None, (), False, 0)


def test_a_document_is_asked_about_with_its_own_tokens():
    document = Document("1", (("text", "one two"),), tokens={"text": ((0, 3), (4, 7))})

    assert inspect_host.request("vocabulary", document, options={"start": 4}) == {
        "inspector": "vocabulary",
        "documents": [{"texts": {"text": "one two"}, "tokens": {"text": [[0, 3], [4, 7]]}}],
        "options": {"start": 4},
    }


def test_several_documents_are_refused_where_an_inspector_looks_at_one():
    with pytest.raises(SpecError, match="vocabulary supports only one document at a time"):
        inspect_host.request("vocabulary", inspect.typed("a"), inspect.typed("b"))


def test_an_option_that_does_not_fit_is_refused_before_a_model_is_loaded():
    with pytest.raises(SpecError, match="top is '0', expected a whole number from 1"):
        inspect_host.request("vocabulary", inspect.typed("a"), options={"top": 0})


def test_an_answer_survives_the_way_to_the_window():
    token = TokenRow("late", "late", 7, 0, 4, "text", 0, best=(("O", 0.5),), own=0.25)
    result = TokenLabels((token,), (WordRow(0, 4, "text", "late"),), True, ("T",))
    spans = PredictedSpans((Span(0, 4, "T", score=0.5),), ("T",))

    for answer in (Inspection("token_scores", result, 0.5, 3.0), Inspection("spans", spans)):
        assert Inspection.from_plain(json.loads(json.dumps(answer.to_plain()))) == answer
    assert Inspection("token_scores", result).cut and not Inspection("spans", spans).cut


# ---------------------------------------------------------------- which inspectors fit


def offered(choice):
    return [offer.id for offer in inspect.offers(choice) if not offer.refused]


def test_a_language_model_begins_with_the_words_that_it_expects():
    choices = [choice for choice in inspect.choices(None) if choice.title.endswith("words")]

    assert len(choices) >= 3
    for choice in choices:
        assert inspect.first(inspect.offers(choice)) == "vocabulary"
        assert {"subwords", "vocabulary"} <= set(offered(choice))


def test_a_run_is_offered_what_its_task_predicts_and_its_encoder_gives(tiny_model):
    choices = {
        task: inspect.InspectableModel("run 1", "x", str(tiny_model), task, 1)
        for task in ("tag", "classify", "pairs")
    }

    assert {"subwords", "token_scores", "spans"} <= set(offered(choices["tag"]))
    assert not {"class_scores", "vocabulary"} & set(offered(choices["tag"]))
    for task in ("classify", "pairs"):
        assert inspect.first(inspect.offers(choices[task])) == "class_scores"
    assert inspect.first(inspect.offers(choices["tag"])) == "token_scores"


def test_what_does_not_fit_says_why():
    choice = inspect.InspectableModel("model m", "m", "/m", gives=("states",))
    refused = {offer.id: offer.refused for offer in inspect.offers(choice)}

    assert refused["subwords"] == ""
    assert refused["class_scores"] == "This model does not provide: a class label."
    assert inspect.first(inspect.offers(choice)) == "subwords"


def test_a_folder_is_that_of_a_run_or_of_a_pretrained_model(tmp_path):
    (tmp_path / "glossbench.json").write_text('{"task": "tag"}')

    assert inspect.of_folder(str(tmp_path)).task == "tag"
    assert inspect.of_folder("starter-bert").task == ""
    (tmp_path / "glossbench.json").write_text("[")
    with pytest.raises(ModelError, match="glossbench.json cannot be read"):
        inspect.of_folder(str(tmp_path))
