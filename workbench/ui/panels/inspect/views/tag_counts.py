"""How often the words of the text had which tag in training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.base.i18n import _, ngettext
from workbench.text.schemes import split_tag
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.style import formats
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.tag_counts.info import TagCounts, WordCounts
    from workbench.ui.panels.inspect.inspector_state import InspectorState

MAX_COUNTS = 6  # counts of a word that are written out


class TagCountsView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._table = Table(_columns(self), name=_("Words with their tags"), key=lambda word: word)
        layout_of(self).addWidget(
            card(row(words(_("Counts of tags"), weight=600), None, self._note), (self._table, 1))
        )

    def clear(self) -> None:
        self._table.set_rows(())
        self._note.setText("")

    def show_result(self, result: TagCounts) -> None:
        self._table.set_rows(result.words)
        unknown = sum(not word.known for word in result.words)
        message = ngettext(
            "{n} word is not in the training documents",
            "{n} words are not in the training documents",
            unknown,
        )
        self._note.setText(message.format(n=unknown) if unknown else "")

    def data(self) -> list[list[object]]:
        titles = [_("Word"), _("Start"), _("End"), _("Tag"), _("Count"), _("Known")]
        rows: list[list[object]] = [[*titles]]
        for word in self.state.result.words:
            for tag, count in word.counts:
                rows.append([word.text, word.start, word.end, tag, count, word.known])
        return rows


def _columns(view: TagCountsView) -> list[Column]:
    def chip(word: WordCounts) -> tuple[str, Any, str] | None:
        parts = split_tag(word.tag)
        label = view.page.labels.get(word.tag) or view.page.labels.get(parts[1] if parts else "")
        return (word.tag, label, "") if label is not None else None

    return [
        Column(_("Word"), lambda word: word.text, 180),
        Column(
            _("Tag"),
            lambda word: word.tag,
            150,
            chip=chip,
            hint=_("The most frequent tag, which is predicted"),
        ),
        Column(
            _("Known"),
            lambda word: _("yes") if word.known else _("no"),
            80,
            hint=_("Whether the word occurs in the training documents"),
        ),
        Column(
            _("Share, %"),
            lambda word: formats.points(_share(word)),
            160,
            share=_share,
            hint=_("Of the most frequent tag among all tags of the word"),
        ),
        Column(_("Counts"), _counts, None, tip=_counts, prose=True),
    ]


def _share(word: WordCounts) -> float:
    total = sum(count for _tag, count in word.counts)
    return word.counts[0][1] / total if total else 0.0


def _counts(word: WordCounts) -> str:
    tags = [f"{tag} {formats.count(count)}" for tag, count in word.counts[:MAX_COUNTS]]
    if len(word.counts) > MAX_COUNTS:
        tags.append("…")
    text = ", ".join(tags)
    return text if word.known else _("all words: {counts}", counts=text)
