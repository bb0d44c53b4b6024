"""The Quality part of Results, without widgets."""

import json
from dataclasses import replace

import pytest

from tests.held import Held
from tests.ui.panels.results.test_state import state  # noqa: F401 (a fixture)
from workbench.operations.runs import calibration, run_folders
from workbench.ui.panels.results.quality.state import QualityState


def test_quality_follows_the_run_while_it_is_visible(state):  # noqa: F811
    quality = QualityState(state.selection, state.browser.show)
    assert quality.loaded is None
    quality.watch(True)

    loaded = quality.loaded
    assert len(loaded.evidence) == 6 and loaded.training is None
    assert loaded.slices.score == "accuracy" and quality.label == "good"
    assert loaded.calibrated.temperature > 0 and not loaded.calibrated.can_scale  # no model folder
    for curve, bins in enumerate(loaded.calibrated.documents):  # without and with temperature
        used = [at for at, ids in enumerate(bins) if ids]
        quality.open_bin(curve, used[-1])
        assert state.browser.filters.documents == frozenset(bins[used[-1]])
    quality.open_wrong(2.0)
    state.browser.show_documents()
    assert len(state.context.gone[-1][1]["ids"]) == 3  # gold "good", never predicted above 1
    assert state.browser.filters.label == ""  # an error of one class is one of another


def test_of_two_loads_the_later_one_is_shown_whichever_ends_first(state):  # noqa: F811
    held = Held(state.context)
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)
    quality.add_slice("fine")
    held.answer(1, 0)

    assert "fine" in quality.problem  # too few documents match for a slice


def test_a_point_of_a_label_with_a_threshold_leads_to_errors_of_that_label(state):  # noqa: F811
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)
    curves = tuple(replace(curve, threshold=0.5) for curve in quality.loaded.curves)
    quality.update(loaded=replace(quality.loaded, curves=curves))

    quality.open_wrong(2.0)
    assert state.browser.filters.label == quality.label == "good"


def test_a_temperature_is_set_and_undone(state):  # noqa: F811
    folder = run_folders.model(state.project, state.selection.run.id)
    folder.mkdir(parents=True)
    described = {"task": "classify", "labels": ["good", "bad"]}
    (folder / "glossbench.json").write_text(json.dumps(described))
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)

    def in_use():
        return calibration.temperature(state.project, state.selection.run)

    quality.use_temperature(True)
    fitted = in_use()
    assert fitted != 1.0 and fitted == pytest.approx(quality.loaded.calibrated.temperature)
    [(title, back, again)] = state.context.steps
    assert title == "Change temperature" and "is applied to" in state.context.notes[-1]
    back()
    assert in_use() == 1.0
    again()
    assert in_use() == fitted and len(state.context.steps) == 1


def test_the_charts_of_one_run_are_not_left_on_the_page_of_another(state, monkeypatch):  # noqa: F811
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)
    assert quality.loaded is not None
    other = next(run.id for run in state.selection.runs if run.id != state.selection.run.id)
    state.selection.choose((other,))
    monkeypatch.setattr(quality, "load", lambda: None)

    quality.follow()
    assert quality.loaded is None


def test_a_slice_is_added_by_an_expression_and_a_wrong_one_is_reported(state):  # noqa: F811
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)

    quality.add_slice("number [0-4]")
    assert "matches number [0-4]" in [row.name for row in quality.loaded.slices.rows]
    assert not quality.add_slice("(")
    assert "is not a regular expression" in quality.problem
    assert quality.add_slice("nowhere at all")
    assert "matches fewer than 5 documents" in quality.problem
    assert quality.add_slice("number [1-5]") and not quality.problem
    assert "matches number [1-5]" in [row.name for row in quality.loaded.slices.rows]
    assert quality.patterns == ("number [0-4]", "number [1-5]")


def test_an_added_slice_is_removed_again_and_an_error_goes_while_typing(state):  # noqa: F811
    quality = QualityState(state.selection, state.browser.show)
    quality.watch(True)
    quality.add_slice("number [0-4]")
    before = quality.loaded.slices.tested

    quality.remove_slice("label: good")
    quality.remove_slice("matches number [0-4]")

    assert quality.patterns == () and quality.loaded.slices.tested == before - 1
    quality.add_slice("(")
    quality.typing()
    assert quality.problem == ""
