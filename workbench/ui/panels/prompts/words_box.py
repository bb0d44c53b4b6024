"""The words and the description of each label in the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.prompts.draft import PromptDraft
from workbench.ui.panels.prompts.parts import Part
from workbench.ui.style import theme
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.layout import fill as fill_with
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.text.labels import Label

HEIGHT = 180  # pixels at 100%; more labels scroll


@dataclass(frozen=True)
class LabelWords:
    """A row. words: separated by commas, its name by default."""

    label: Label
    words: str
    description: str


class WordsBox(Part):
    """Folded at first: most prompts use the names of the labels."""

    def __init__(self, draft: PromptDraft):
        super().__init__()
        self.draft, self.states = draft, (draft,)
        columns = (
            Column(
                _("Label"),
                lambda row: row.label.name,
                130,
                chip=lambda row: (row.label.name, row.label, ""),
            ),
            Column(
                _("Words, with commas"),
                lambda row: row.words,
                tip=lambda row: row.words,
                edit=self._set_words,
            ),
            Column(
                _("Description"),
                lambda row: row.description,
                tip=lambda row: row.description,
                edit=self._describe,
            ),
        )
        self.table = Table(columns, name=_("Words of the labels"), key=lambda row: row.label.name)
        self.table.setFixedHeight(theme.px(HEIGHT))
        self.fold = Button("", "chevron-right", "quiet", small=True, on=self._toggle)
        self.table.hide()
        fill_with(self, self.fold, self.table, gap=4)

    def render_part(self, fields: frozenset[str]) -> None:
        if not concerns(fields, "words", "descriptions", "layer", "layers"):
            return
        spec, layer = self.draft.spec, self.draft.layer
        labels = layer.labels if layer is not None else ()
        edited = spec.words or spec.descriptions
        title = _("Words of the labels (edited)") if edited else _("Words of the labels")
        self.fold.set_text(title)
        self.setVisible(bool(labels))
        self.table.set_rows(
            [
                LabelWords(
                    label,
                    ", ".join(spec.words.get(label.name) or (label.name,)),
                    spec.descriptions.get(label.name) or label.description,
                )
                for label in labels
            ]
        )

    def _toggle(self) -> None:
        shown = self.table.isHidden()
        self.table.setVisible(shown)
        self.fold.set_icon("chevron-down" if shown else "chevron-right")

    def _set_words(self, row: Any, text: str) -> None:
        words = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
        rest = {name: it for name, it in self.draft.spec.words.items() if name != row.label.name}
        own = {row.label.name: words} if words and words != (row.label.name,) else {}
        self.draft.change(words={**rest, **own})

    def _describe(self, row: Any, text: str) -> None:
        own = self.draft.spec.descriptions
        rest = {name: it for name, it in own.items() if name != row.label.name}
        text = text.strip()
        if text and text != row.label.description:
            rest[row.label.name] = text
        self.draft.change(descriptions=rest)
