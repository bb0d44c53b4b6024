"""The most frequent class for every document."""

from workbench.base.i18n import N_
from workbench.baselines.spec import BaselineInfo


class MajorityInfo(BaselineInfo):
    id = "majority"
    title = N_("Majority class")
    quick = True
    learns = N_("Predicts the class distribution of the training documents for every text.")
    constant = True
    fits_decoder = False


INFO = MajorityInfo()
