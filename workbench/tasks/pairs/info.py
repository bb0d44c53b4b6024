"""Sentence pair classification: description, settings, decoding and scores."""

from workbench.base.i18n import N_
from workbench.tasks.classify.info import ClassifyInfo
from workbench.tasks.heads.info import INPUT_FORM, PAIR_FORM


class PairsInfo(ClassifyInfo):
    id = "pairs"
    title = N_("Sentence pair")
    short = N_("Pairs")
    predicts = N_("classes of sentence pairs")
    definition = N_(
        "One class per pair. Macro F1 is the mean of the F1 of every label that is gold or "
        "predicted."
    )
    texts = 2
    for_pairs = ""
    options = (
        *(option for option in ClassifyInfo.options if option is not INPUT_FORM),
        PAIR_FORM,
    )


INFO = PairsInfo()
