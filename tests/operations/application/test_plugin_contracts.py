"""The check of a plugin compares members, signatures and declarations with the contract."""

from dataclasses import dataclass
from functools import partial

import pytest

from workbench.base.manifest import Contribution
from workbench.base.options import Option
from workbench.base.registry import builtins
from workbench.inspection.spec import InspectorInfo
from workbench.operations.application import plugin_contracts


def fault(kind, instance, info=None, id="lines.x"):
    return plugin_contracts.fault(Contribution(kind, id, "X", "lines.code:X"), instance, info)


def derived(kind, id, *, of_info=None, of_object=None):
    """A contribution like a built-in one, of which some attributes are others."""
    base, instance = builtins().info(kind, id), builtins().get(kind, id)
    info = type("Info", (type(base),), {"id": "lines.x", **(of_info or {})})()
    return type("Made", (instance,), {"info": info, **(of_object or {})}), info


def no_arguments(self):
    return ()


@pytest.mark.parametrize(
    ("kind", "like", "of_info", "of_object", "says"),
    [
        ("baseline", "majority", {}, {}, ""),
        ("baseline", "majority", {}, {"logits": no_arguments}, "`logits` is called with (prepared"),
        (
            "baseline",
            "majority",
            {},
            {"fit": classmethod(lambda cls, documents, golds: cls())},
            "`fit` is called with (task, documents, golds, labels, seed=…)",
        ),
        ("baseline", "majority", {}, {"fit": classmethod(lambda cls, *a, **named: cls())}, ""),
        ("baseline", "majority", {"fits": no_arguments}, {}, "`fits` is called with (task)"),
        ("baseline", "majority", {"output": "ClassScore"}, {}, "`output` has 'ClassScore', which"),
        ("baseline", "majority", {"unit": "word"}, {}, "`unit` is 'word', expected item or token"),
        ("baseline", "majority", {"options": ("seed",)}, {}, "not all of the class Option"),
        ("task", "token", {}, {}, ""),
        ("task", "token", {"main": "kapa"}, {}, "`main` is 'kapa', expected a name of `scores`: "),
        ("task", "token", {"layer_kinds": ("tags",)}, {}, "`layer_kinds` has 'tags', expected one"),
        ("task", "token", {"outputs": ("Tags",)}, {}, "`outputs` has 'Tags', which is not a class"),
        ("task", "token", {"logits": {"logits": "words"}}, {}, "`logits` gives 'words' for"),
        ("task", "token", {"statistic": no_arguments}, {}, "`statistic` is called with (golds"),
        ("task", "token", {}, {"loss_targets": ("tags",)}, "It has no `loss_targets`: the name of"),
        ("task", "token", {"id": "lines.y"}, {}, "the id 'lines.y', but plugin.toml says"),
    ],
)  # fmt: skip
def test_what_cannot_be_called_or_does_not_exist_is_named(kind, like, of_info, of_object, says):
    instance, info = derived(kind, like, of_info=of_info, of_object=of_object)

    found = fault(kind, instance, info)

    assert says in found and bool(says) == bool(found)


class Exporter:
    def lost(self, layers):
        return ()

    def write(self, records, out):
        return 0


def test_a_method_of_a_class_without_a_base_is_compared_too():
    says = "`write` is called with (records, plan, out): too many positional"

    assert fault("exporter", Exporter).startswith(says)


def test_what_an_info_does_not_declare_is_named():
    instance, info = derived("baseline", "majority")
    missing = type("Bare", (type(info).__mro__[2],), {"id": "lines.x", "title": "X"})()
    instance.info = missing

    assert fault("baseline", instance, missing) == "Its info has no learns."


@dataclass(frozen=True)
class Result:
    number: int = 0


class Inspects:
    def run(self, subject, documents, options):
        return Result()


@pytest.mark.parametrize(
    ("info", "says"),
    [
        (InspectorInfo("lines.x", "X", Result), ""),
        (InspectorInfo("lines.y", "X", Result), "has the id 'lines.y', but plugin.toml says"),
        (InspectorInfo("lines.x", "X", dict), "`result` is <class 'dict'>, expected the dataclass"),
    ],
)
def test_the_info_of_an_inspector_has_its_id_and_a_dataclass(info, says):
    found = fault("inspector", Inspects, info)

    assert says in found and bool(says) == bool(found)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (
            Option("least", "whole", 1, "Least."),
            "'least' has the kind 'whole', expected one of int",
        ),
        (Option("least", "int", 0, "Least.", low=1), "default of an option does not fit: least is"),
        (Option("least", "int", None, "Least.", automatic="by size"), ""),
    ],
)
def test_an_option_has_a_known_kind_and_a_default_that_fits(option, says):
    found = fault("inspector", Inspects, InspectorInfo("lines.x", "X", Result, options=(option,)))

    assert says in found and bool(says) == bool(found)


def test_a_view_derives_from_the_base_and_shows_results(qapp):
    from workbench.ui.panels.inspect.base import InspectorView

    check = partial(plugin_contracts.view_fault, "inspector")
    other = type("Other", (), {"__init__": lambda self: None})
    base = "Derive it from workbench.ui.panels.inspect.base.InspectorView."
    assert check(other).startswith("Its view: It has no ") and check(other).endswith(base)
    bare = type("Bare", (InspectorView,), {})
    assert check(bare) == "Its view: It does not implement show_result."
    fine = type("Fine", (InspectorView,), {"show_result": lambda self, result: None})
    assert check(fine) == ""


def test_a_view_may_be_described(qapp):
    from workbench.ui.panels.inspect.parts import ViewSpec

    check = partial(plugin_contracts.view_fault, "inspector")
    assert check(ViewSpec()) == ""
    assert check("view") == "Its view: Describe it by ViewSpec, or derive it from InspectorView."


def test_the_widget_of_a_prediction_derives_from_its_base(qapp):
    from workbench.ui.panels.results.review.error_detail import PredictionWidget

    check = partial(plugin_contracts.view_fault, "prediction")
    assert check(type("Other", (), {})).startswith("Its view: It has no show_prediction. Derive")
    bare = type("Bare", (PredictionWidget,), {})
    assert check(bare) == "Its view: It does not implement show_prediction."
    assert check(3) == "Its view: Derive it from PredictionWidget."


class Examines:
    def examine(self, subject, data, task, options):
        yield 1.0


DOCUMENTS = Option("documents", "int", 1, "Number.")
LAYER = Option("layer", "text", "", "Layer.")


@pytest.mark.parametrize(
    ("examines", "options", "says"),
    [
        ("", (), "does not say what it examines"),
        ("texts", (), "has no option 'documents'"),
        ("labels", (DOCUMENTS,), "has no option 'layer'"),
        ("labels", (DOCUMENTS, LAYER), ""),
    ],
)
def test_an_inspector_of_a_project_has_the_options_that_select_its_documents(
    examines, options, says
):
    info = InspectorInfo("lines.x", "X", Result, options=options, examines=examines)

    found = fault("inspector", Examines, info)

    assert says in found and bool(says) == bool(found)


def test_the_built_in_contributions_conform():
    found = {}
    for entry in builtins().everything():
        info = builtins().info(entry.kind, entry.id) if "info" in entry.options else None
        instance = builtins().get(entry.kind, entry.id)
        found[entry.kind, entry.id] = plugin_contracts.fault(entry, instance, info)

    assert len(found) > 100 and {id: fault for id, fault in found.items() if fault} == {}
