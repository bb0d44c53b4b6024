"""A linear-chain CRF over features of words."""

from workbench.base.i18n import N_
from workbench.baselines.spec import TAG_FEATURES, TRANSITIONS, BaselineInfo


class FeatureCrfInfo(BaselineInfo):
    id = "feature_crf"
    title = N_("CRF on word features")
    learns = N_(
        "A linear-chain conditional random field over words, prefixes, suffixes, shapes and two "
        "neighbours on each side (CRFsuite, c1 = c2 = 0.1)."
    )
    unit = "token"
    gives = (TAG_FEATURES, TRANSITIONS)


INFO = FeatureCrfInfo()
