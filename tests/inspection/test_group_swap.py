"""Changes of scores between groups, by hand on a tiny run."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.inspection.test_layer_similarity import finished  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.group_swap.info import INFO  # noqa: E402
from workbench.inspection.group_swap.inspector import GroupSwapInspector, scored  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.fields import Answers, Prediction  # noqa: E402
from workbench.text.questions import Candidate, PredictedAnswer  # noqa: E402

DEFAULTS = {option.name: option.default for option in INFO.options}
TEXTS = ("He lost his bag.", "The tram was late.", "I thank her!", "She saw him.")


@pytest.fixture(scope="module")
def subject(tiny_run):
    return Subject(tiny_run("classify"), device="cpu")


def examine(subject, texts=TEXTS, **options):
    records = tuple(
        Record(Document(str(number), (("text", text),))) for number, text in enumerate(texts)
    )
    work = GroupSwapInspector().examine(subject, Dataset((), records), "", {**DEFAULTS, **options})
    return finished(work)


def test_changes_are_paired_differences_of_probabilities(subject):
    swapped = {
        "he": ["He lost his bag.", "I thank him!", "He saw him."],
        "she": ["She lost her bag.", "I thank her!", "She saw her."],
    }
    shares = np.stack(
        [
            [
                predict_text.fields[0].scores
                for predict_text in subject.predictor.predict_texts(texts)
            ]
            for texts in swapped.values()
        ]
    )

    result = examine(subject)

    assert (result.groups, result.read, result.documents) == (("he", "she"), 4, 3)
    labels = list(subject.labels)
    for effect in result.effects:
        group, label = list(swapped).index(effect.group), labels.index(effect.label)
        column = shares[group, :, label]
        assert effect.mean == pytest.approx(column.mean(), abs=1e-5)
        change = (column - shares[:, :, label].mean(0)).mean()
        assert effect.change == pytest.approx(change, abs=1e-5)
        assert effect.low - 1e-9 <= effect.change <= effect.high + 1e-9


def test_documents_are_listed_by_how_much_they_change(subject):
    result = examine(subject)

    assert {row.key for row in result.rows} == {"0", "2", "3"}
    spreads = [row.spread for row in result.rows]
    assert spreads == sorted(spreads, reverse=True) and spreads[0] > 0
    first = next(row for row in result.rows if row.key == "0")
    assert first.texts == ("He lost his bag.", "She lost her bag.")
    assert result.changed == sum(len(set(row.labels)) > 1 for row in result.rows)


def test_a_list_whose_words_do_not_occur_is_refused(subject):
    with pytest.raises(WorkbenchError, match="No document has a word of the list"):
        examine(subject, ("The tram was late.",))


def swapped_counts(subject):
    """Predictions of the three texts with a word of the list, for "he" and "she"."""
    versions = (
        ["He lost his bag.", "I thank him!", "He saw him."],
        ["She lost her bag.", "I thank her!", "She saw her."],
    )
    return [subject.predictor.predict_texts(texts) for texts in versions]


def test_spans_are_counted_by_label(tiny_run):
    subject = Subject(tiny_run("tag"), device="cpu")
    versions = swapped_counts(subject)

    result = examine(subject)

    assert result.scores == "count"
    for effect in result.effects:
        given = versions[("he", "she").index(effect.group)]
        spans = [span for item in given for span in item.spans if span.label == effect.label]
        assert effect.mean == pytest.approx(len(spans) / 3)
    assert sum(effect.mean for effect in result.effects) > 0
    labels = [[[span.label for span in item.spans] for item in given] for given in versions]
    assert result.changed == sum(he != she for he, she in zip(*labels, strict=True))


def test_numbers_and_several_labels_have_scores(tiny_run):
    number, labels = (Subject(tiny_run(task), device="cpu") for task in ("regress", "multilabel"))

    result = examine(number)
    wanted = [np.mean([item.number for item in given]) for given in swapped_counts(number)]
    assert result.scores == "value"
    assert [effect.mean for effect in result.effects] == pytest.approx(wanted, abs=1e-5)

    result = examine(labels)
    versions = swapped_counts(labels)
    assert result.scores == "probability"
    assert result.changed == sum(he.labels != she.labels for he, she in zip(*versions, strict=True))


def test_an_answer_at_the_same_words_is_the_same():
    def predicted(text, start, end):
        answer = PredictedAnswer(
            "who?", (Candidate(start, end, 0.5),), text[start:end], -1.0, 0.1, False
        )
        return Prediction((Answers((answer,)),))

    texts = ("he saw it", "she saw it", "she saw it")
    documents = [Document("", (("text", text),)) for text in texts]
    found = scored(
        [predicted(texts[0], 0, 2), predicted(texts[1], 0, 3), predicted(texts[2], 4, 7)],
        documents,
        (),
    )

    assert found.predicted == ("he", "she", "saw")
    assert (
        found.keys[0] == found.keys[1] != found.keys[2] and found.table[:, 0].tolist() == [0.5] * 3
    )
