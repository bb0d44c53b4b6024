"""Published models: facts about their runs."""

from workbench.base.i18n import N_
from workbench.operations.runs.kinds.contract import RunKindInfo

INFO = RunKindInfo("published", N_("Published model"), "download", own_weights=False)
