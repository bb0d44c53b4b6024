"""What rendering one document's prompts may take, and the errors of a template that takes more."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.prompting.base import TemplateError

SECONDS = 2.0  # of processor time for the prompts of one document; a usual one takes 0.001
MEGABYTES = 512


@dataclass(frozen=True)
class Messages:
    """The errors, for limits in seconds and megabytes."""

    seconds: float
    megabytes: int

    def time(self, line: int | None = None) -> TemplateError:
        hint = N_("Check its loops and macros, and filters on long lists.")
        if line is None:
            text = N_("The template takes too long (limit {n:g} s).")
        else:
            text = N_("The template takes too long (limit {n:g} s). It was at line {line}.")
        return TemplateError(text, hint=hint, line=line, n=self.seconds)

    def memory(self, line: int | None = None) -> TemplateError:
        hint = N_("Check what makes its texts or lists grow.")
        if line is None:
            text = N_("The template needs too much memory (limit {n} MB).")
        else:
            text = N_("The template needs too much memory (limit {n} MB). It was at line {line}.")
        return TemplateError(text, hint=hint, line=line, n=self.megabytes)
