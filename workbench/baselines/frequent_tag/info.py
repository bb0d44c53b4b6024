"""The most frequent tag of each word."""

from workbench.base.i18n import N_
from workbench.baselines.spec import TAG_COUNTS, BaselineInfo


class FrequentTagInfo(BaselineInfo):
    id = "frequent_tag"
    title = N_("Most frequent tag per word")
    quick = True
    learns = N_(
        "The most frequent tag of each word in the training documents; for words that do not "
        "occur there, the most frequent tag of all."
    )
    unit = "token"
    gives = (TAG_COUNTS,)


INFO = FrequentTagInfo()
