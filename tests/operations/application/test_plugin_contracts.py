"""The check of a plugin compares signatures and declarations with the contract."""

from types import SimpleNamespace

import pytest

from workbench.base.registry import builtins
from workbench.operations.application import plugin_contracts
from workbench.tasks.spec import ScoreInfo

LIGHT = ("importer", "segmenter", "exporter", "strategy", "baseline", "backend")


class Exporter:
    def lost(self, layers):
        return ()

    def write(self, records, out):
        return 0


class Fitted:
    def fit(self, documents, golds):
        return self


class AnyArguments:
    @classmethod
    def fit(cls, *given, **named):
        return cls()


@pytest.mark.parametrize(
    ("kind", "made", "says"),
    [
        ("exporter", Exporter, "`write` is called with (records, plan, out): too many positional"),
        ("baseline", Fitted, "`fit` is called with (task, documents, golds, labels, seed=…)"),
        ("baseline", AnyArguments, ""),
    ],
)
def test_a_method_that_cannot_be_called_as_it_will_be_is_named(kind, made, says):
    found = plugin_contracts.fault(kind, made, None)

    assert says in found and bool(says) == bool(found)


def task(**changes):
    declared = {
        "scores": (ScoreInfo("kappa"), ScoreInfo("accuracy")),
        "main": "kappa",
        "second": "accuracy",
        "layer_kinds": ("tag",),
        "outputs": ("WordTags",),
        "logits": {"logits": "token"},
    }
    return SimpleNamespace(**{**declared, **changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, ""),
        ({"main": "kapa"}, "`main` is 'kapa', expected a name of `scores`: kappa, accuracy."),
        ({"layer_kinds": ("tags",)}, "`layer_kinds` has 'tags', expected one of class, multi"),
        ({"outputs": ("TokenTags",)}, "`outputs` has 'TokenTags', which is not a class of"),
        ({"logits": {"logits": "words"}}, "`logits` gives 'words' for 'logits', expected item"),
    ],
)
def test_the_declarations_of_a_task_name_what_exists(changes, says):
    made = type("Made", (), {"loss_targets": {"task": "tags"}})

    found = plugin_contracts.fault("task", made, task(**changes))

    assert says in found and bool(says) == bool(found)


def examiner(examines, *names):
    return SimpleNamespace(examines=examines, options=[SimpleNamespace(name=n) for n in names])


@pytest.mark.parametrize(
    ("info", "says"),
    [
        (examiner(""), "does not say what it examines"),
        (examiner("texts"), "has no option 'documents'"),
        (examiner("labels", "documents"), "has no option 'layer'"),
        (examiner("labels", "documents", "layer"), ""),
    ],
)
def test_an_inspector_of_a_project_has_the_options_that_select_its_documents(info, says):
    found = plugin_contracts.fault("inspector", type("Made", (), {}), info)

    assert says in found and bool(says) == bool(found)


def test_the_built_in_contributions_conform():
    found = {}
    for kind in LIGHT:
        for entry in builtins().all(kind):
            made = builtins().get(kind, entry.id)
            info = builtins().info(kind, entry.id) if "info" in entry.options else None
            found[kind, entry.id] = plugin_contracts.fault(kind, made, info)
    for entry in builtins().all("task"):
        info = builtins().info("task", entry.id)
        made = type("Made", (), {"loss_targets": {}})
        found["task", entry.id] = plugin_contracts.fault("task", made, info)

    assert len(found) > 40 and {id: fault for id, fault in found.items() if fault} == {}
