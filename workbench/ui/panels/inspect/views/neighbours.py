"""The words of a text, and the nearest words of the selected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.style import formats
from workbench.ui.widgets.controls.field import choose, combo
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, row
from workbench.ui.widgets.tables.table import Column, Table

if TYPE_CHECKING:
    from workbench.inspection.neighbours.info import Near, NearWord, NearWords

SHOWN = 3  # nearest words in the list of words


class NeighboursView(InspectorView):
    """Left: the words of the text. Right: the nearest words of the selected one, with bars."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        options = state.info.options if state.info is not None else ()
        option = next(option for option in options if option.name == "by")
        titles = map(_, option.choice_titles)
        self._by = combo([*zip(option.choices, titles, strict=True)], name=_("Measure"))
        self._by.currentIndexChanged.connect(self._measured)
        self._typed = QLineEdit()
        self._typed.setPlaceholderText(_("Look up a word…"))
        self._typed.setAccessibleName(_("Look up a word"))
        self._typed.setClearButtonEnabled(True)
        self._typed.returnPressed.connect(self._look_up)
        self._typed.textChanged.connect(self._changed)
        self._words = Table(_word_columns(), name=_("Words"), key=lambda row: row.text)
        self._words.chosen.connect(self._show_chosen)
        self._near = Table(_near_columns(self), name=_("Nearest words"), key=lambda row: row.word)
        self._title = words("", weight=600)
        self._note = words("", "small", "muted")
        layout_of(self).addWidget(row((self._typed, 1), (self._by, 1), gap=12))
        left = card((self._words, 1), margins=(4, 4, 4, 4))
        right = card(self._title, (self._near, 1), self._note, gap=8)
        layout_of(self).addWidget(row((left, 1), (right, 1), gap=12), 1)

    def clear(self) -> None:
        self._words.set_rows(())
        self._near.set_rows(())
        self._title.setText("")
        self._note.setText("")

    def show_result(self, result: NearWords) -> None:
        choose(self._by, result.by)
        chosen = self._words.chosen_rows()
        self._words.set_rows(result.words)
        note = ngettext(
            "{n:,} word in the vocabulary", "{n:,} words in the vocabulary", result.size
        )
        self._note.setText(note)
        names = [word.text for word in result.words]
        if names:
            before = chosen[0].text if chosen and chosen[0].text in names else ""
            known = next((word.text for word in result.words if word.form), names[0])
            self._words.choose({before or known})
        self._show_chosen()

    def data(self) -> list[list[object]]:
        rows: list[list[object]] = [[_("Word"), _("Neighbour"), self._by.currentText()]]
        for word in self.state.result.words:
            rows += [[word.text, near.word, near.score] for near in word.neighbours]
        return rows

    def _show_chosen(self) -> None:
        chosen = self._words.chosen_rows()
        self._near.set_rows(chosen[0].neighbours if chosen else ())
        self._title.setText(_heading(chosen[0]) if chosen else "")

    def share(self, near: Near) -> float | None:
        """Length of a bar, relative to the nearest word; none for negative scores."""
        rows = self._near.rows()
        best = rows[0].score if rows else 0.0
        if self.state.result is not None and self.state.result.is_distance:
            return best / near.score if near.score else 1.0
        return max(0.0, near.score / best) if best > 0 else None

    # ---------------------------------------------------------------- actions

    def _measured(self) -> None:
        self.state.set_options(by=self._by.currentData())

    def _look_up(self) -> None:
        self.state.set_options(word=self._typed.text().strip())

    def _changed(self, text: str) -> None:
        if not text:
            self._look_up()


def _heading(near_word: NearWord) -> str:
    if not near_word.form:
        return _("“{word}” has no vector", word=near_word.text)
    if not near_word.in_vocabulary:
        return _("Nearest to “{word}” (vector composed of its n-grams)", word=near_word.text)
    return _("Nearest to “{word}”", word=near_word.form)


def _word_columns() -> list[Column]:
    def nearest(near_word: NearWord) -> str:
        return ", ".join(near.word for near in near_word.neighbours[:SHOWN]) or "–"

    def origin(near_word: NearWord) -> str:
        if not near_word.form:
            return _("unknown")
        return near_word.form if near_word.in_vocabulary else _("n-grams")

    return [
        Column(_("Word"), lambda row: row.text, 120),
        Column(_("Found as"), origin, 90, hint=_("The form of the word that has a vector")),
        Column(_("Nearest words"), nearest, None, prose=True),
    ]


def _near_columns(view: NeighboursView) -> list[Column]:
    return [
        Column(_("Word"), lambda row: row.word, 130),
        Column(_("Score"), lambda row: formats.decimal(row.score, 3), None, share=view.share),
    ]
