"""Layer 3: what the application does, as functions for the command line, the window and programs.

Folders are named by their subject.
"""

from workbench.base.deprecation import former_modules

former_modules(
    __name__,
    corpus="workbench.operations.documents.corpus",
    labels="workbench.operations.schema.labels",
)
