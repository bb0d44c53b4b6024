"""Changes of scores between groups, by hand on a tiny run."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.inspection.test_layer_similarity import finished  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.group_swap.info import INFO  # noqa: E402
from workbench.inspection.group_swap.inspector import GroupSwapInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402

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
            [one.fields[0].scores for one in subject.predictor.predict_texts(texts)]
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
