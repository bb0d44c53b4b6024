"""Limits for rendering the prompts of one document, and the errors when they are exceeded."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base.i18n import N_
from workbench.runtime.chat_template import TemplateError

SECONDS = 1.0  # processor time for the prompts of one document; typical templates take 0.001 s
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
        hint = N_("Check for texts or lists that grow in a loop.")
        if line is None:
            text = N_("The template needs too much memory (limit {n} MB).")
        else:
            text = N_("The template needs too much memory (limit {n} MB). It was at line {line}.")
        return TemplateError(text, hint=hint, line=line, n=self.megabytes)
