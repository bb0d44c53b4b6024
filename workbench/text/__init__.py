"""Layer 1: documents, labels, spans and predictions as frozen values. numpy and regex only."""

from workbench.base.deprecation import former_modules

former_modules(
    __name__,
    fastai_rules="workbench.runtime.preparers.fastai_rules",
    groups="workbench.inspection.group_swap.inspector",
    pronouns="workbench.importers.tables.gap",
    redaction="workbench.operations.documents.redaction",
)
