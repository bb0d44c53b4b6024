"""Regression on pairs of texts: description, settings, decoding and scores."""

from workbench.base.i18n import N_
from workbench.tasks.heads.info import INPUT_FORM, PAIR_FORM
from workbench.tasks.regress.info import RegressInfo


class SimilarityInfo(RegressInfo):
    id = "similarity"
    title = N_("Similarity of pairs")
    short = N_("Score")
    predicts = N_("a number for each pair of texts")
    definition = N_(
        "A number per pair of texts. Pearson is the linear correlation of gold and predicted "
        "numbers, Spearman that of their ranks. MSE and MAE are the mean squared and the mean "
        "absolute error."
    )
    texts = 2
    for_pairs = ""
    options = (
        *(option for option in RegressInfo.options if option is not INPUT_FORM),
        PAIR_FORM,
    )


INFO = SimilarityInfo()
