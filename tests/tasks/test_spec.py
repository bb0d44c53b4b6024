"""What the light half of the tasks promises the upper layers: which there are, what they learn."""

import pytest

from workbench.base.errors import SpecError
from workbench.tasks import spec
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document
from workbench.text.fields import Prediction
from workbench.text.labels import Layer
from workbench.text.questions import Question
from workbench.text.segment import tokens_of
from workbench.text.spans import Span

DOCUMENT = Document("a", (("text", "Ada met Bob."),))
CHOOSING = Document("b", (("text", "Ada met"), ("choice_1", "Bob."), ("choice_2", "a.")))
ALL = [info.id for info in spec.all_tasks()]


def ids(tasks):
    return [info.id for info in tasks]


def test_a_layer_is_learned_by_the_task_of_its_kind_and_number_of_texts():
    assert ids(spec.fitting(Layer("c", "class"))) == ["classify"]
    assert ids(spec.fitting(Layer("p", "class", texts=2))) == ["pairs"]
    assert ids(spec.fitting(Layer("m", "multi"))) == ["multilabel"]
    assert ids(spec.fitting(Layer("s", "span"))) == ["tag", "spans"]
    assert ids(spec.fitting(Layer("t", "tag"))) == ["token"]
    assert ids(spec.fitting(Layer("o", "choice", texts=CHOICES))) == ["choice"]
    assert ids(spec.fitting(Layer("r", "relation"))) == ["relations", "roles"]
    assert spec.fitting(Layer("s", "span", texts=2)) == ()


def test_tasks_are_those_of_the_registry_in_its_order(registry):
    assert tuple(ALL) == registry.ids("task")
    assert all(spec.info(id) is registry.info("task", id) for id in ALL)


def test_an_unknown_task_names_the_known_ones():
    with pytest.raises(SpecError, match="'nonsense'") as caught:
        spec.info("nonsense")

    ids = [task.id for task in spec.all_tasks()]
    assert caught.value.hint == f"Known: {', '.join(ids)}." and {"tag", "instruct"} < {*ids}


def test_a_task_of_a_plugin_that_is_not_enabled_names_the_plugin():
    with pytest.raises(SpecError, match="no task 'lines.ordered'.*plugin lines, which adds it"):
        spec.info("lines.ordered")


def test_only_submitted_documents_are_used_and_a_class_needs_a_mark():
    tag, classify = spec.info("tag"), spec.info("classify")

    assert spec.usable(tag, Record(DOCUMENT, {"s": "submitted"}), "s")
    assert not spec.usable(tag, Record(DOCUMENT, {"s": "draft"}), "s")
    assert not spec.usable(classify, Record(DOCUMENT, {"c": "submitted"}), "c")
    assert not spec.usable(classify, Record(DOCUMENT, {"c": "draft"}, {"c": ("x",)}), "c")
    assert spec.usable(classify, Record(DOCUMENT, {"c": "submitted"}, {"c": ("x",)}), "c")


@pytest.mark.parametrize("task", ALL)
def test_a_task_describes_itself_in_terms_that_exist(task):
    from workbench.text import fields

    info = spec.info(task)

    scores = [score.name for score in info.scores]
    assert info.main in scores and info.second in scores and len(set(scores)) == len(scores)
    assert next(score for score in info.scores if score.name == info.main).selects
    assert all(issubclass(getattr(fields, name), fields.Field) for name in info.outputs)
    assert set(info.logits.values()) <= {"item", "token", "choice", "text"}
    assert info.title and info.short and info.definition and info.why_unusable()


@pytest.mark.parametrize("task", ALL)
def test_scoring_gives_the_scores_that_the_task_lists(task):
    info = spec.info(task)

    word = next(iter(tokens_of(DOCUMENT)))
    document = CHOOSING if info.texts == CHOICES else DOCUMENT
    asked = {"l": (Question("Who?", (word,)),)}
    spans = {"l": (Span(*word, "x"),)}
    states, marks, numbers = {"l": "submitted"}, {"l": ("1",)}, {"l": 1.0}
    values = {"numbers": numbers, "written": {"l": "late"}}
    record = Record(document, states, marks, spans, questions=asked, **values)

    result = info.score([info.gold(record, "l")], [Prediction()])
    assert set(result) == {score.name for score in info.scores}


@pytest.mark.parametrize("task", ALL)
def test_a_prediction_of_nothing_suggests_nothing(task):
    assert spec.info(task).answers(Prediction()) == []


def test_scores_that_fit_several_tasks_have_the_order_of_the_task_of_their_run():
    """A classifier that was scored with these two only; token tags have both as well."""
    assert spec.score_names({"accuracy", "macro_f1"}, "classify") == ("macro_f1", "accuracy")
    assert spec.score_names({"accuracy", "macro_f1"}, "token") == ("accuracy", "macro_f1")
    assert spec.score_names({"span_f1", "token_accuracy"}, "not installed")[0] == "span_f1"


def test_a_task_with_predictions_of_its_own_kind_gives_scores_unless_it_denies_it():
    class Ranked(type(spec.info("classify"))):
        outputs = ("Ranking",)

    class Unscored(Ranked):
        scored = False

    assert Ranked().provides({}) == ("Ranking", spec.SCORES)
    assert Unscored().provides({}) == ("Ranking",)


def test_a_difference_that_rounds_to_zero_is_not_negative():
    assert spec.score_text("accuracy", -0.0004, signed=True) == "+0.0"
    assert spec.score_text("mae", -0.0004) == "0.000"
    assert spec.score_text("accuracy", -0.401, signed=True) == "-40.1"
