"""Names of what a run predicts about a text, for lists to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.base.i18n import _
from workbench.ui.style import formats

if TYPE_CHECKING:
    from workbench.inspection.attributions.info import Target
    from workbench.inspection.spec import WordRow


def target_name(target: Target, words: Sequence[WordRow]) -> str:
    """A target as text: its words, its label, its probability."""
    if target.value is not None:
        return _("Number: {value}", value=formats.decimal(target.value, 3))
    if target.question:
        return _answer_name(target)
    share = formats.points(target.share, 0)
    label = target.label or _("no label")
    target_words = words[target.first : target.last + 1]
    if target.first < 0:
        return f"{label}, {share}%"
    return f"{' '.join(word.text for word in target_words)}: {label}, {share}%"


def _answer_name(target: Target) -> str:
    """An answer, its start or its end, with its question."""
    message = {
        "start": _("Start of “{answer}”, {share}% · {question}"),
        "end": _("End of “{answer}”, {share}% · {question}"),
        "answer": _("“{answer}”, {share}% · {question}"),
    }[target.id.partition(":")[0]]
    answer = target.label or _("no answer in the text")
    share = formats.points(target.share, 0)
    return message.format(answer=answer, share=share, question=target.question)
