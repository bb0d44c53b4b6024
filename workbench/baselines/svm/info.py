"""TF-IDF with a linear support vector machine."""

from workbench.base.i18n import N_
from workbench.baselines.spec import FEATURE_WEIGHTS, BaselineInfo


class SvmInfo(BaselineInfo):
    id = "svm"
    title = N_("TF-IDF + linear SVM")
    quick = True
    learns = N_(
        "A linear support vector machine on TF-IDF of words and word pairs (scikit-learn, C = 1). "
        "Its probabilities are the softmax of the margins and not calibrated."
    )
    gives = (FEATURE_WEIGHTS,)


INFO = SvmInfo()
