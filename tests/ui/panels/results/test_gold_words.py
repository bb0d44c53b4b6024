"""Which gold labels, and which decisions of the run, a score was computed with."""

from dataclasses import replace
from types import SimpleNamespace

from workbench.operations.evaluation.scoring import Evaluation
from workbench.ui.panels.results.gold_words import differs, gold_text, redecided, today_text

THEN = Evaluation("dev", 4, "same", {"micro_f1": 0.5, "macro_f1": 0.4}, (), "")


def test_other_scores_with_equal_gold_are_attributed_to_thresholds_or_temperature():
    today = replace(THEN, scores={**THEN.scores, "micro_f1": 0.75})

    assert redecided(THEN, today)
    assert "The thresholds or the temperature have changed" in gold_text(
        today, "today", False, True
    )
    assert not redecided(THEN, THEN) and not redecided(None, today)
    assert "Nothing has changed" in gold_text(THEN, "today", False)


def test_other_gold_is_named_as_the_cause_of_other_scores():
    today = replace(THEN, fingerprint="other", scores={"micro_f1": 0.75})

    assert not redecided(THEN, today)
    assert "Documents or labels have changed" in gold_text(today, "today", True)


def test_scores_that_share_a_tile_are_both_shown_against_current_gold():
    found = SimpleNamespace(results=SimpleNamespace(today=THEN))

    both = today_text(found, ("micro_f1", "macro_f1"), None, changed=True)
    assert both == "original · current gold 50.0 · 40.0 (4 documents)"
    alone = today_text(found, ("micro_f1",), (0.25, 0.75), changed=True)
    assert alone == "original · current gold 50.0, 95%: 25.0 – 75.0 (4 documents)"


def test_scores_are_called_original_only_if_gold_or_decisions_have_changed():
    found = SimpleNamespace(results=SimpleNamespace(today=THEN))

    alone = today_text(found, ("micro_f1",), (0.25, 0.75), changed=False)
    assert alone == "95%: 25.0 – 75.0 (4 documents)"
    assert today_text(found, ("micro_f1",), None, changed=False) == "4 documents"
    assert not differs(THEN, THEN, {}) and not differs(None, THEN, {"micro_f1": 0.5})
    assert differs(None, THEN, {"micro_f1": 0.6}) and not differs(THEN, None, {"micro_f1": 0.6})
    assert differs(THEN, replace(THEN, fingerprint="other"), {})
    assert differs(THEN, replace(THEN, scores={"micro_f1": 0.6}), {})
