from workbench.metrics.evaluation import UNKNOWN, Measured
from workbench.ui.style.interval_text import interval_text, named_interval, pair_of


def test_an_interval_has_the_unit_of_its_score():
    assert interval_text((0.5, 0.75), "accuracy") == "50.0 – 75.0"
    assert interval_text((0.5, 0.75), "pronoun_bias") == "0.500 – 0.750"


def test_an_unknown_interval_is_not_named():
    assert pair_of(UNKNOWN) is None and pair_of(Measured(1.0, 0.5, 1.0)) == (0.5, 1.0)
    assert (interval_text(None), named_interval(None)) == ("–", "")
    assert named_interval((0.5, 0.75)) == "95%: 50.0 – 75.0"
