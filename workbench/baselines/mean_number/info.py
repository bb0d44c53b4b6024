"""The mean of the numbers in training for every document."""

from workbench.base.i18n import N_
from workbench.baselines.spec import BaselineInfo


class MeanInfo(BaselineInfo):
    id = "mean_number"
    title = N_("Mean")
    quick = True
    learns = N_("Predicts the mean of the numbers of the training documents for every text.")
    constant = True
    fits_decoder = False
    output = "Number"


INFO = MeanInfo()
