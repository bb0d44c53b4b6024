import pytest

from workbench.metrics import definitions
from workbench.metrics.report import intervals
from workbench.tasks import spec as tasks
from workbench.tasks.answer.info import AnswerGold, GoldAnswer
from workbench.tasks.classify.info import ClassGold
from workbench.tasks.coreference.info import ChainGold
from workbench.tasks.heads.info import SpanGold
from workbench.tasks.multilabel.info import LabelsGold
from workbench.tasks.regress.info import NumberGold
from workbench.tasks.relations.info import RelationGold
from workbench.tasks.text2text.info import TextGold
from workbench.text.fields import (
    Answers,
    Chains,
    ClassScores,
    LabelScores,
    Number,
    PredictedAnswer,
    Prediction,
    Relations,
    SpanScores,
    WordTag,
    WordTags,
    Written,
)
from workbench.text.questions import Candidate
from workbench.text.relations import Relation
from workbench.text.spans import Span

SPANS = Prediction((WordTags((WordTag(0, 3, "A", 0.9),)), SpanScores((Span(0, 3, "A"),))))
ADA = PredictedAnswer("Who?", (Candidate(0, 3, 0.9),), "Ada", -2.0, 0.1, False)
TEXT = TextGold("Late"), Prediction((Written("late", 0.5),))
RELATION = Relation("A", Span(0, 3, "X"), Span(4, 7, "X"), 0.9)
CASES = {
    "text2text": TEXT,
    "instruct": TEXT,
    "classify": (ClassGold("A"), Prediction((ClassScores(("A", "B"), (0.9, 0.1)),))),
    "pairs": (ClassGold("A"), Prediction((ClassScores(("A", "B"), (0.1, 0.9)),))),
    "multilabel": (LabelsGold(("A",)), Prediction((LabelScores(("A",), (0.9,), (0.5,)),))),
    "tag": (SpanGold((Span(0, 3, "A"),)), SPANS),
    "token": (SpanGold((Span(0, 3, "A"),)), SPANS),
    "spans": (SpanGold((Span(0, 3, "A"),)), SPANS),
    "roles": (RelationGold((RELATION,)), Prediction((Relations((RELATION,)),))),
    "relations": (RelationGold((RELATION,)), Prediction((Relations((RELATION,)),))),
    "choice": (ClassGold("A"), Prediction((ClassScores(("A", "B"), (0.9, 0.1)),))),
    "prefer": (ClassGold("A"), Prediction((ClassScores(("A", "B"), (0.9, 0.1)),))),
    "regress": (NumberGold(1.0), Prediction((Number(0.5),))),
    "similarity": (NumberGold(1.0), Prediction((Number(0.5),))),
    "answer": (
        AnswerGold((GoldAnswer("Who?", ((0, 3),), ("Ada",)),)),
        Prediction((Answers((ADA,)),)),
    ),
    "coreference": (
        ChainGold(((Span(0, 3, "A"), Span(9, 12, "A")),)),
        Prediction((Chains((Span(0, 3, "A", chain=1), Span(9, 12, "A", chain=1))),)),
    ),
}


@pytest.mark.parametrize("task", CASES)
def test_every_score_has_a_definition_and_those_of_the_task_are_among_them(task):
    info, (gold, prediction) = tasks.info(task), CASES[task]

    found = intervals(info.statistic([gold], [prediction], ("A", "B")), 1, rounds=10)

    assert (
        {score.name for score in info.scores} <= set(found.scores) <= set(definitions.DEFINITIONS)
    )
    assert CASES.keys() == {task.id for task in tasks.all_tasks() if "." not in task.id}
    plain = info.score([gold], [prediction])
    undefined = {name for name in plain if found.scores[name].value is None}
    assert undefined <= {"pearson", "spearman"}  # of a single document
    known = {name: value for name, value in plain.items() if name not in undefined}
    assert known == pytest.approx({name: found.scores[name].value for name in known})
    for name in found.scores:
        assert definitions.title(name) != name and "Zero division" in definitions.sentence(name)


def test_an_unknown_score_is_shown_by_words_made_from_its_name():
    assert definitions.title("within_one_step") == "Within one step"
    assert definitions.title("chrF++") == "chrF++"
    assert definitions.sentence("within_one_step") == ""
