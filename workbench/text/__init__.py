"""Layer 1: documents, labels, spans and predictions as frozen values. numpy and regex only."""

from workbench.base.deprecation import former_modules

former_modules(
    __name__,
    fastai_rules="workbench.runtime.preparers.fastai_rules",
    find="workbench.text.queries.find",
    groups="workbench.inspection.group_swap.inspector",
    joining="workbench.importers.joining",
    near_duplicates="workbench.text.similar.near_duplicates",
    patterns="workbench.text.queries.patterns",
    pronouns="workbench.importers.tables.gap",
    query="workbench.text.queries.query",
    redaction="workbench.operations.documents.redaction",
    typed="workbench.text.document",
)
