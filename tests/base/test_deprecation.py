"""Plugins may use the former names of the interface; they are told the present ones."""

import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest

from workbench.exporters.model import verify
from workbench.importers import base as importers
from workbench.metrics import differences
from workbench.operations.documents import corpus
from workbench.operations.transfer import import_choice
from workbench.pretraining import results
from workbench.text import alignment
from workbench.text.fields import TokenScores
from workbench.text.labels import Layer
from workbench.text.spans import Span
from workbench.ui.panels.inspect import inspector_state

OFFSETS = ((0, 3), (4, 7))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: alignment.token_range(borders=OFFSETS, start=4, end=5), (1, 2)),
        (lambda: alignment.tags(borders=OFFSETS, spans=[Span(0, 3, "A")])[0], ["B-A", "O"]),
        (lambda: alignment.Borders, alignment.Offsets),
        (lambda: importers.span_borders(1, 2), (1, 2)),
        (lambda: differences.BORDER, "border"),
        (lambda: results.ShownUnit, results.ShownToken),
        (lambda: corpus.described_splits, import_choice.described_splits),
        (lambda: inspector_state.Shown, inspector_state.InspectorState),
        (lambda: verify.first_window, verify.every_window),
        (lambda: scores(borders=OFFSETS).offsets, OFFSETS),
        (lambda: scores(offsets=OFFSETS).borders, OFFSETS),
    ],
)
def test_a_former_name_works_with_a_warning(call, expected):
    with pytest.warns(DeprecationWarning, match="deprecated; use"):
        assert call() == expected


def test_present_and_unknown_names_are_not_touched(recwarn):
    assert alignment.token_range(OFFSETS, 4, 5) == (1, 2)
    assert scores(offsets=OFFSETS).offsets == OFFSETS
    with pytest.raises(AttributeError, match="no attribute 'Bounds'"):
        alignment.Bounds  # noqa: B018

    assert len(recwarn) == 0


def scores(**given):
    return TokenScores(pieces=(), ids=(), labels=(), scores=np.zeros((0, 0)), **given)


FORMER_NAMES = [
    ("workbench.exporters.data.base", "Plan", "ExportPlan"),
    ("workbench.inspection.base", "shown", "piece_text"),
    ("workbench.inspection.predicting", "Member", "EnsembleMember"),
    ("workbench.inspection.spec", "Answer", "Inspection"),
    ("workbench.inspection.spec", "given", "provided_outputs"),
    ("workbench.metrics.paired", "Difference", "PairedDifference"),
    ("workbench.metrics.span_matching", "WordCounts", "ConllCounts"),
    ("workbench.tasks.spec", "GIVEN", "FURTHER_OUTPUTS"),
    ("workbench.text.document", "asked", "with_questions"),
    ("workbench.text.queries.find", "Found", "TextMatches"),
    ("workbench.text.similar.near_duplicates", "Links", "DisjointSets"),
    ("workbench.text.queries.query_edit", "Place", "CaretPlace"),
    ("workbench.text.remarks", "Remark", "DocumentRemark"),
    ("workbench.text.rows", "Row", "StoredRow"),
    ("workbench.text.segmenters.base", "Advice", "SegmenterAdvice"),
    ("workbench.text.splits", "Item", "SplitItem"),
    ("workbench.text.document", "ASKED", "QUESTIONS"),
]


@pytest.mark.parametrize(("module", "former", "present"), FORMER_NAMES)
def test_a_renamed_class_or_function_is_imported_by_its_former_name(module, former, present):
    names = {}

    with pytest.warns(DeprecationWarning, match=f"{module}.{former} is deprecated; use {present}"):
        exec(f"from {module} import {former} as imported", names)

    assert names["imported"] is getattr(sys.modules[module], present)


FORMER_MODULES = [
    ("workbench.metrics.gap", "workbench.operations.evaluation.gap"),
    ("workbench.operations.corpus", "workbench.operations.documents.corpus"),
    ("workbench.operations.labels", "workbench.operations.schema.labels"),
    ("workbench.text.fastai_rules", "workbench.runtime.preparers.fastai_rules"),
    ("workbench.text.find", "workbench.text.queries.find"),
    ("workbench.text.groups", "workbench.inspection.group_swap.inspector"),
    ("workbench.text.joining", "workbench.importers.joining"),
    ("workbench.text.near_duplicates", "workbench.text.similar.near_duplicates"),
    ("workbench.text.patterns", "workbench.text.queries.patterns"),
    ("workbench.text.query", "workbench.text.queries.query"),
    ("workbench.text.pronouns", "workbench.importers.tables.gap"),
    ("workbench.text.redaction", "workbench.operations.documents.redaction"),
    ("workbench.ui.panels.inspect.shown", "workbench.ui.panels.inspect.inspector_state"),
    ("workbench.ui.panels.inspect.views.examined", "workbench.ui.panels.inspect.base"),
    ("workbench.ui.panels.inspect.views.option_field", "workbench.ui.panels.inspect.controls"),
]


@pytest.fixture(params=FORMER_MODULES, ids=lambda names: names[0])
def moved(request, monkeypatch):
    """A former and the present name of a module that is not yet imported by the former one."""
    former, present = request.param
    package, _dot, name = former.rpartition(".")
    monkeypatch.delitem(sys.modules, former, raising=False)
    monkeypatch.delattr(importlib.import_module(package), name, raising=False)
    yield former, present
    sys.modules.pop(former, None)
    vars(sys.modules[package]).pop(name, None)


@pytest.mark.parametrize(
    "form",
    [
        "import {module} as imported",
        "from {package} import {name} as imported",
        "from {module} import __name__ as imported",
    ],
)
def test_a_module_that_was_moved_is_imported_by_its_former_name(moved, form):
    former, present = moved
    package, _dot, name = former.rpartition(".")
    names = {}

    with pytest.warns(DeprecationWarning, match=f"{former} is deprecated; use {present}") as warned:
        exec(form.format(module=former, package=package, name=name), names)

    assert names["imported"] in (sys.modules[present], present)
    assert sys.modules[present].__spec__.name == present
    assert [warning.filename for warning in warned] == ["<string>"]


def test_a_refused_former_name_can_be_imported_later(moved):
    former, present = moved

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeprecationWarning):
            importlib.import_module(former)
    with pytest.warns(DeprecationWarning):
        assert importlib.import_module(former) is importlib.import_module(present)


def test_a_pickle_finds_a_value_by_its_former_names():
    pickled = pickle.dumps(Layer, protocol=0).replace(
        b"workbench.text.labels", b"workbench.operations.labels"
    )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert pickle.loads(pickled) is Layer


def test_an_unknown_module_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="workbench.operations.corpora"):
        importlib.import_module("workbench.operations.corpora")
