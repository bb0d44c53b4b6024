"""Default learning rates: their numbers stand in one module, which has the rule as well."""

import ast

import pytest

from tests.source import CODE, trees
from workbench.base import learning_rates

OWNER = CODE / "base" / "learning_rates.py"
RATES = ("learning_rate", "adapt_rate", "rate_factor")


def numbers(node):
    """The numbers of a value, but 0 and 1, which stand for no rate and no factor."""
    values = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
    return [value for value in values if isinstance(value, float) and value not in (0.0, 1.0)]


def stated(tree):
    """Lines of the default learning rates of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            if any(name.lower() in RATES for name in names) and numbers(node.value):
                yield node.lineno
        elif isinstance(node, ast.keyword) and node.arg in RATES and numbers(node.value):
            yield node.value.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Option":
            first, *_kind, default = [*node.args[:3], ast.Constant("")][:3]
            if getattr(first, "value", "") in RATES and numbers(default):
                yield node.lineno


def test_default_learning_rates_stand_in_one_module():
    found = [
        f"{path}:{line}" for path, tree in trees().items() if path != OWNER for line in stated(tree)
    ]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "learning_rate = 3e-4",
        "LEARNING_RATE = 0.02",
        "learning_rate: float = 1e-4",
        "adapt_rate = 0.004",
        "ObjectiveInfo(learning_rate=(5e-5, 1e-3))",
        'Option("learning_rate", "float", 0.05, "Learning rate.")',
    ],
)
def test_a_default_learning_rate_elsewhere_is_found(line):
    assert list(stated(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["learning_rate: float = 0.0", 'Option("learning_rate", "float", None, "Rate.", low=1)']
)
def test_no_rate_and_an_automatic_one_are_no_defaults(line):
    assert list(stated(ast.parse(line))) == []


def rate(**given):
    usual = {"task": 1e-4, "method": 0.0, "factor": 1.0, "model": 0.0, "width": 384}
    return learning_rates.fine_tuning(**{**usual, "steps": 100, "labels": 2, **given})


def test_the_rate_of_the_model_comes_before_that_of_the_method_and_of_the_task():
    assert (rate(), rate(method=3e-3), rate(method=3e-3, model=0.02)) == (1e-4, 3e-3, 0.02)


def test_many_labels_raise_the_rate_and_width_and_a_long_run_lower_it():
    assert (rate(labels=77), rate(labels=77, width=768)) == (3e-4, 1e-4)
    assert (rate(width=768), rate(steps=500), rate(factor=10.0)) == (5e-5, 5e-5, 1e-3)


def test_a_pretraining_takes_the_rate_for_its_weights():
    rates = learning_rates.MASKED

    assert [learning_rates.pretraining(rates, is_random=new) for new in (False, True)] == [*rates]
