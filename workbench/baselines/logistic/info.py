"""TF-IDF with logistic regression."""

from workbench.base.i18n import N_
from workbench.baselines.spec import FEATURE_WEIGHTS, BaselineInfo


class LogisticInfo(BaselineInfo):
    id = "logistic"
    title = N_("TF-IDF + logistic regression")
    learns = N_("Logistic regression on TF-IDF of words and word pairs (scikit-learn, C = 10).")
    gives = (FEATURE_WEIGHTS,)


INFO = LogisticInfo()
