"""Which gold labels, and which decisions of the run, a score was computed with."""

from dataclasses import replace
from types import SimpleNamespace

from workbench.metrics.evaluation import Evaluation
from workbench.ui.panels.results.runs.gold_text import differs, gold_text, redecided, today_text

ORIGINAL = Evaluation("dev", 4, "same", {"micro_f1": 0.5, "macro_f1": 0.4}, ())


def test_other_scores_with_equal_gold_are_attributed_to_thresholds_or_temperature():
    today = replace(ORIGINAL, scores={**ORIGINAL.scores, "micro_f1": 0.75})

    assert redecided(ORIGINAL, today)
    assert "The thresholds or the temperature have changed" in gold_text(
        today, "today", False, True
    )
    assert not redecided(ORIGINAL, ORIGINAL) and not redecided(None, today)
    assert "Nothing has changed" in gold_text(ORIGINAL, "today", False)


def test_other_gold_is_named_as_the_cause_of_other_scores():
    today = replace(ORIGINAL, fingerprint="other", scores={"micro_f1": 0.75})

    assert not redecided(ORIGINAL, today)
    assert "Documents or labels have changed" in gold_text(today, "today", True)


def test_scores_that_share_a_tile_are_both_shown_against_current_gold():
    found = SimpleNamespace(results=SimpleNamespace(current=ORIGINAL))

    both = today_text(found, ("micro_f1", "macro_f1"), None, changed=True)
    assert both == "original · current gold 50.0 · 40.0 (4 documents)"
    alone = today_text(found, ("micro_f1",), (0.25, 0.75), changed=True)
    assert alone == "original · current gold 50.0, 95%: 25.0 – 75.0 (4 documents)"


def test_scores_are_called_original_only_if_gold_or_decisions_have_changed():
    found = SimpleNamespace(results=SimpleNamespace(current=ORIGINAL))

    alone = today_text(found, ("micro_f1",), (0.25, 0.75), changed=False)
    assert alone == "95%: 25.0 – 75.0 (4 documents)"
    assert today_text(found, ("micro_f1",), None, changed=False) == "4 documents"
    assert not differs(ORIGINAL, ORIGINAL) and not differs(ORIGINAL, None)
    assert differs(ORIGINAL, replace(ORIGINAL, fingerprint="other"))
    assert differs(ORIGINAL, replace(ORIGINAL, scores={"micro_f1": 0.6}))
    alone = Evaluation("dev", scores={"micro_f1": 0.5})
    assert not differs(alone, ORIGINAL) and not differs(None, ORIGINAL)
    assert differs(replace(alone, scores={"micro_f1": 0.6}), ORIGINAL)


def test_documents_without_an_answer_are_counted_beside_the_score():
    unread = SimpleNamespace(results=SimpleNamespace(current=replace(ORIGINAL, no_answer=3)))

    text = today_text(unread, ("micro_f1",), (0.25, 0.75), changed=False)

    assert text == "95%: 25.0 – 75.0 (4 documents, 3 without an answer)"
