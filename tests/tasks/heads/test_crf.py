"""The likelihood of a CRF equals that over all sequences, in batches, with gaps and in parts."""

import itertools

import numpy as np
import pytest
import torch

from workbench.runtime import decoding
from workbench.runtime.crf import Transitions
from workbench.tasks.base import IGNORED
from workbench.tasks.heads.crf import CrfHead

TAGS = decoding.bio_tags(["A"])
WHOLE, MIDDLE = [1, 1], [0, 0]


@pytest.fixture
def head():
    torch.manual_seed(0)
    made = CrfHead(4, len(TAGS), constraints=decoding.bio_constraints(TAGS))
    for name in ("start", "step", "end"):
        torch.nn.init.normal_(getattr(made, name))
    return made


def likelihood(head, emissions, tags, edges=WHOLE):
    """Negative log-likelihood of one sequence by enumeration of all."""
    start = (head.start + head.first_allowed) * edges[0] if edges[0] else torch.zeros(len(TAGS))
    end = head.end if edges[1] else torch.zeros(len(TAGS))
    step = head.step + head.step_allowed

    def score(path):
        total = start[path[0]] + end[path[-1]] + sum(emissions[t, y] for t, y in enumerate(path))
        return total + sum(step[a, b] for a, b in itertools.pairwise(path))

    every = [score(path) for path in itertools.product(range(len(TAGS)), repeat=len(emissions))]
    return float((torch.logsumexp(torch.stack(every), 0) - score(tags)).detach())


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_the_loss_of_a_sequence_equals_brute_force(head, length):
    torch.manual_seed(length)
    emissions = torch.randn(length, len(TAGS))
    tags = [1, 2, 0, 1, 2][:length]

    total, count = head.loss(emissions[None], torch.tensor([tags]), torch.tensor([WHOLE]))

    assert float(total.detach()) == pytest.approx(likelihood(head, emissions, tags), rel=1e-5)
    assert int(count) == length


def test_units_without_a_tag_are_passed_over_and_rows_of_a_batch_are_added(head):
    torch.manual_seed(1)
    emissions = torch.randn(3, 6, len(TAGS))
    none = IGNORED
    tags = torch.tensor([[none, 1, none, 2, 0, none], [none, 2, 2, none, none, none], [none] * 6])

    total, count = head.loss(emissions, tags, torch.tensor([WHOLE, MIDDLE, WHOLE]))

    expected = likelihood(head, emissions[0, [1, 3, 4]], [1, 2, 0])
    expected += likelihood(head, emissions[1, [1, 2]], [2, 2], MIDDLE)
    assert float(total.detach()) == pytest.approx(expected, rel=1e-5) and int(count) == 5


def test_gradients_are_finite_and_forbidden_transitions_get_none(head):
    emissions = torch.randn(1, 3, len(TAGS), requires_grad=True)

    total, _count = head.loss(emissions, torch.tensor([[1, 2, 0]]), torch.tensor([WHOLE]))
    total.backward()

    gradients = [emissions.grad, head.start.grad, head.step.grad, head.end.grad]
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    assert float(head.step.grad[TAGS.index("O"), TAGS.index("I-A")]) == 0
    assert float(head.step.grad[TAGS.index("B-A"), TAGS.index("I-A")]) < 0


def test_the_partition_equals_that_of_the_numpy_runtime(head):
    emissions = torch.randn(7, len(TAGS))
    tags = torch.tensor([[0, 1, 2, 2, 0, 1, 0]])

    total, _count = head.loss(emissions[None], tags, torch.tensor([WHOLE]))

    exported = Transitions.from_json(head.transitions(), TAGS, decoding.bio_constraints(TAGS))
    rows, path = emissions.numpy().astype(np.float64), tags[0].numpy()
    gold = exported.start[path[0]] + exported.end[path[-1]] + rows[np.arange(7), path].sum()
    gold += exported.step[path[:-1], path[1:]].sum()
    assert float(total.detach()) == pytest.approx(exported.log_partition(rows) - gold, rel=1e-5)
