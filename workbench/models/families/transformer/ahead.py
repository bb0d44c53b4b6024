"""Imports what loading any transformer takes, for a worker that waits for its first job."""

from __future__ import annotations

from workbench.models.families.transformer import family, library

library.import_models()

__all__ = ["family"]
