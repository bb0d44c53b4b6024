"""Losses with weights, focal factor and smoothing, compared with those of torch and torchvision."""

import pytest

torch = pytest.importorskip("torch")
from torch.nn import functional as F  # noqa: E402

from workbench.base.errors import SpecError  # noqa: E402
from workbench.tasks.losses.criterion import IGNORED, Criterion  # noqa: E402

WEIGHTS = (0.5, 2.0, 1.5)


def classes(seed=0):
    torch.manual_seed(seed)
    return torch.randn(6, 3, requires_grad=True), torch.tensor([0, 2, IGNORED, 1, 1, 0])


def labels(seed=0):
    torch.manual_seed(seed)
    return torch.randn(4, 3, requires_grad=True), torch.randint(0, 2, (4, 3)).float()


def mean(loss):
    return loss.total / loss.count


def assert_equal(logits, ours, theirs):
    """The values and the gradients."""
    torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=1e-5, atol=1e-7)
    (mine,), (other,) = (torch.autograd.grad(value, logits) for value in (ours, theirs))
    torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("weights", [(), WEIGHTS])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_mean_of_classes_is_the_cross_entropy_loss_of_torch(weights, smoothing):
    logits, gold = classes()
    weight = torch.tensor(weights) if weights else None
    theirs = torch.nn.CrossEntropyLoss(weight=weight, label_smoothing=smoothing)

    ours = Criterion(weights, smoothing=smoothing).classes(logits, gold)

    assert_equal(logits, mean(ours), theirs(logits, gold))


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_the_focal_loss_of_classes_is_that_of_the_formula(gamma):
    logits, gold = classes()
    p = logits.softmax(-1)[[0, 1, 3, 4, 5], gold[gold >= 0]]

    ours = Criterion(gamma=gamma).classes(logits, gold)

    assert_equal(logits, mean(ours), (-((1 - p) ** gamma) * p.log()).mean())


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_a_certain_target_has_a_finite_gradient(gamma):
    logits = torch.tensor([[80.0, -80.0]], requires_grad=True)
    gold, one = torch.tensor([0]), torch.tensor([[1.0, 0.0]])

    criterion = Criterion(gamma=gamma)
    for loss in (criterion.classes(logits, gold), criterion.labels(logits, one)):
        (gradient,) = torch.autograd.grad(loss.total, logits)
        assert float(loss.total.detach()) == pytest.approx(0, abs=1e-6)
        assert gradient.isfinite().all()


def test_bfloat16_scores_are_computed_in_float32():
    logits, gold = classes()
    low = logits.detach().bfloat16()

    criterion = Criterion(WEIGHTS, 2.0, 0.1)
    loss, exact = criterion.classes(low, gold), criterion.classes(low.float(), gold)

    assert loss.total.dtype == torch.float32
    assert float(loss.total) == float(exact.total)


def test_smoothing_spreads_only_over_allowed_classes():
    scores, gold = torch.tensor([[1.0, 0.0, -1e4], [0.0, 0.0, 0.0]]), torch.tensor([0, 1])
    allowed = torch.tensor([[True, True, False], [True, True, True]])

    ours = Criterion(smoothing=0.1).classes(scores, gold, allowed=allowed)

    expected = F.cross_entropy(scores[:1, :2], gold[:1], label_smoothing=0.1) + F.cross_entropy(
        scores[1:], gold[1:], label_smoothing=0.1
    )
    assert float(ours.total) == pytest.approx(float(expected), rel=1e-5)


def test_texts_that_are_written_have_weights_but_no_smoothing():
    scores, gold = torch.tensor([[-3.0, -1.0], [-0.5, -7.0]]), torch.tensor([0, 1])

    loss = Criterion((2.0, 1.0)).classes(scores, gold, normalized=True)

    assert (float(loss.total), float(loss.count)) == (13.0, 3.0)
    with pytest.raises(SpecError, match="label_smoothing"):
        Criterion(smoothing=0.1).classes(scores, gold, normalized=True)


@pytest.mark.parametrize("weights", [(), WEIGHTS])
def test_the_mean_of_labels_is_the_binary_loss_of_torch(weights):
    logits, gold = labels()
    weight = torch.tensor(weights) if weights else None

    ours = Criterion(weights).labels(logits, gold)

    assert_equal(logits, mean(ours), torch.nn.BCEWithLogitsLoss(pos_weight=weight)(logits, gold))


def test_smoothed_labels_are_targets_between_one_and_zero():
    logits, gold = labels()

    ours = Criterion(smoothing=0.1).labels(logits, gold)

    soft = F.binary_cross_entropy_with_logits(logits, gold * 0.9 + 0.05)
    assert_equal(logits, mean(ours), soft)


def sigmoid_focal_loss(inputs, targets, alpha, gamma):
    """As torchvision 0.20, ops/focal_loss.py, with reduction "mean"."""
    p = torch.sigmoid(inputs)
    ce_loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return loss.mean()


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_the_focal_loss_of_labels_is_that_of_torchvision(gamma):
    logits, gold = labels()

    plain = Criterion(gamma=gamma).labels(logits, gold)
    weighted = Criterion((3.0,) * 3, gamma).labels(logits, gold)  # α = 3 / 4, times 4

    assert_equal(logits, mean(plain), sigmoid_focal_loss(logits, gold, -1, gamma))
    assert_equal(logits, mean(weighted), 4 * sigmoid_focal_loss(logits, gold, 0.75, gamma))
