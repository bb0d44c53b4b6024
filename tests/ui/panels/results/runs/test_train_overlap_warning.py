"""The caution about scored documents that were in the training data."""

from workbench.operations.runs.trained_on import TrainedOn
from workbench.ui.panels.results.runs.details import TrainOverlap
from workbench.ui.panels.results.runs.train_overlap_warning import TrainOverlapWarning

SEEN = (TrainedOn(3, "k3", moved=True), TrainedOn(5, "k5", moved=False))


def test_it_names_the_exact_numbers_and_leads_to_the_documents(qtbot):
    shown = []
    callout = TrainOverlapWarning(lambda ids, caption: shown.append((ids, caption)))
    qtbot.addWidget(callout)

    callout.show_systems(
        [TrainOverlap("first", "dev", SEEN, 12), TrainOverlap("second", "dev", (), 12)]
    )
    assert "The texts of 2 of 12 dev documents were in" in callout._words.text()
    callout._show()
    assert shown == [((3, 5), "training data of first")]

    callout.show_systems([TrainOverlap(name, "dev", SEEN[:1], 12) for name in ("a", "b", "c")])
    assert "of 3 systems: a (1), b (1), c (1)" in callout._words.text()
    callout.show_systems([TrainOverlap("first", "dev", (), 12)])
    assert callout.isHidden()
