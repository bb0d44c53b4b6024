"""Class weights and sampling from the counts of labels, and their effect on a batch."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from workbench.base.errors import SpecError
from workbench.tasks import spec as tasks
from workbench.tasks.losses.balance import Balance, TargetCounts, class_weights, sampling_weights
from workbench.tasks.losses.info import CLASS_WEIGHTS, check_labels, parse_class_weights
from workbench.training.batches import resampled

NAMES = ("x", "y", "z")
COUNTS = np.array([6, 3, 1])


def weights(setting, counts=COUNTS, **named):
    return class_weights(counts, NAMES, setting, **named)


def test_balanced_weights_are_those_of_scikit_learn():
    gold = [0] * 6 + [1] * 3 + [2]

    expected = compute_class_weight("balanced", classes=np.arange(3), y=gold)

    assert weights("balanced") == pytest.approx(expected) and weights("none") is None


@pytest.mark.parametrize("setting", ["sqrt", "effective", "effective:0.9"])
def test_other_rules_have_their_ratios_and_a_mean_of_one_over_the_targets(setting):
    beta = {"effective": 0.999, "effective:0.9": 0.9}.get(setting)
    rule = 1 / np.sqrt(COUNTS) if beta is None else (1 - beta) / (1 - beta**COUNTS)

    ours = weights(setting)

    assert ours / ours[0] == pytest.approx(rule / rule[0])
    assert ours @ COUNTS / COUNTS.sum() == pytest.approx(1)


def test_a_label_without_targets_has_weight_one_and_does_not_change_the_others():
    assert weights("balanced", np.array([6, 0, 2])) == pytest.approx([8 / 12, 1, 8 / 4])


def test_weights_by_hand_are_by_label_and_one_for_the_rest():
    assert weights("z = 2, x=0.5") == pytest.approx([0.5, 1, 2])
    assert parse_class_weights("a b=2, c=1e-1") == {"a b": 2.0, "c": 0.1}


@pytest.mark.parametrize("text", ["", "many", "x", "x=", "x=0", "x=-1", "x=nan", "effective:1"])
def test_other_texts_are_refused_with_the_form(text):
    with pytest.raises(SpecError, match="class_weights is") as error:
        CLASS_WEIGHTS.parse(text)
    assert "POS=2" in error.value.hint


def test_a_label_that_does_not_exist_is_named():
    check_labels({"class_weights": "x=2"}, NAMES)
    check_labels({}, NAMES)

    with pytest.raises(SpecError, match="'q'") as error:
        check_labels({"class_weights": "x=2, q=3"}, NAMES)
    assert "x, y, z" in error.value.hint


def test_weights_of_independent_labels_are_those_of_their_targets_against_the_others():
    others = np.array([4, 9, 0])

    assert weights("balanced", others=others) == pytest.approx([4 / 6, 9 / 3, 1])
    assert weights("sqrt", others=others) == pytest.approx([(4 / 6) ** 0.5, 3**0.5, 1])


def test_balanced_sampling_draws_as_many_of_every_class():
    counts = TargetCounts.of_classes(NAMES, [np.asarray(n) for n in [0] * 90 + [2] * 10]).counts

    drawn = resampled(sampling_weights(counts, "balanced"), np.random.default_rng(0))

    times = np.bincount(drawn, minlength=100)
    assert len(drawn) == 100 and 49 <= times[:90].sum() <= 51
    assert set(times[:90]) <= {0, 1} and set(times[90:]) <= {4, 5, 6}
    assert sampling_weights(counts, "plain") is None


def test_an_input_is_drawn_as_often_as_its_rarest_label_asks_for():
    counts = np.array([[3, 0], [1, 2], [1, 0], [0, 0]])  # in 3, in 1 and in none of the inputs

    assert sampling_weights(counts, "balanced") == pytest.approx([4 / 3, 4, 4 / 3, 4])
    assert sampling_weights(counts, "sqrt") ** 2 == pytest.approx([4 / 3, 4, 4 / 3, 4])


def test_numbers_are_balanced_by_bins_of_equal_width():
    values = [np.asarray(value, np.float32) for value in (0.0, 0.2, 0.3, 0.9, 5.0)]

    counts = TargetCounts.of_numbers(values)

    assert counts.names == ("0 – 0.5", "0.5 – 1", "4.5 – 5")
    assert counts.counts.sum(0).tolist() == [3, 1, 1]


def test_the_effect_is_the_share_of_targets_in_an_expected_batch():
    counts = TargetCounts.of_classes(("a", "b"), [np.asarray(n) for n in (0, 0, 0, 1)])
    options = {"class_weights": "a=0.5", "sampling": "balanced"}

    first, second = Balance.of(counts, options, independent=False).rows()

    assert first == {"label": "a", "count": 3, "plain": 0.75, "sampled": 0.5, "weight": 0.5}
    assert second == {"label": "b", "count": 1, "plain": 0.25, "sampled": 0.5, "weight": 1.0}
    assert Balance.of(None, options, independent=False).rows() == []


def test_every_task_offers_the_settings_that_its_targets_have():
    on_loss = {"focal_gamma", "label_smoothing"}
    every = {"class_weights", "sampling", *on_loss}
    expected = {
        "answer": {"sampling", *on_loss},
        "choice": on_loss,
        "coreference": set(),  # mentions are few among candidates of one label
        "prefer": {"label_smoothing"},
        "regress": {"sampling"},
        "relations": {"class_weights", *on_loss},  # `none_pairs` draws those without a relation
        "roles": {"sampling", *on_loss},
        "similarity": {"sampling"},
        "text2text": set(),
        "instruct": set(),
    }

    for info in tasks.all_tasks():
        offered = {option.name for option in info.options} & every
        assert offered == expected.get(info.id, every), info.id
