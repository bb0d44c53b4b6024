"""The words of a text, and the nearest words of the selected one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    CardBox,
    ChoicePart,
    RowBox,
    TablePart,
    TextEntryPart,
    TextPart,
    ViewContext,
    ViewSpec,
    title,
)
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.inspection.neighbours.info import Near, NearWord

SHOWN = 3  # nearest words in the list of words


def _nearest(near_word: NearWord) -> str:
    return ", ".join(near.word for near in near_word.neighbours[:SHOWN]) or "–"


def _origin(near_word: NearWord) -> str:
    if not near_word.form:
        return _("unknown")
    return near_word.form if near_word.in_vocabulary else _("n-grams")


def _first(view: ViewContext) -> str:
    """The first word with a vector."""
    words: tuple[NearWord, ...] = view.result.words
    return next((word.text for word in words if word.form), words[0].text)


def _heading(view: ViewContext) -> str:
    near_word = view.chosen("words")
    if near_word is None:
        return ""
    if not near_word.form:
        return _("“{word}” has no vector", word=near_word.text)
    if not near_word.in_vocabulary:
        return _("Nearest to “{word}” (vector composed of its n-grams)", word=near_word.text)
    return _("Nearest to “{word}”", word=near_word.form)


def _neighbours(view: ViewContext) -> tuple[Near, ...]:
    near_word = view.chosen("words")
    return near_word.neighbours if near_word is not None else ()


def _near_columns(view: ViewContext) -> list[Column]:
    def share(near: Near) -> float | None:
        """Length of a bar, relative to the nearest word; none for negative scores."""
        neighbours = _neighbours(view)
        best = neighbours[0].score if neighbours else 0.0
        if view.result is not None and view.result.is_distance:
            return best / near.score if near.score else 1.0
        return max(0.0, near.score / best) if best > 0 else None

    return [
        Column(_("Word"), lambda row: row.word, 130),
        Column(_("Score"), lambda row: row.score, kind=ValueKind.NUMBER, share=share),
    ]


def _size(view: ViewContext) -> str:
    n = view.result.size
    return ngettext("{n:,} word in the vocabulary", "{n:,} words in the vocabulary", n)


def _data(view: ViewContext) -> list[list[object]]:
    option = view.state.described("by")
    measures = dict(zip(option.choices, option.choice_titles, strict=True)) if option else {}
    rows: list[list[object]] = [[_("Word"), _("Neighbour"), _(measures[view.result.by])]]
    for word in view.result.words:
        rows += [[word.text, near.word, near.score] for near in word.neighbours]
    return rows


NEIGHBOURS = ViewSpec(
    cards=True,
    parts=(
        RowBox(
            TextEntryPart(
                _("Look up a word…"),
                lambda view, text: view.state.set_options(word=text.strip()),
                name=_("Look up a word"),
                cleared=True,
                stretch=1,
            ),
            ChoicePart(
                _("Measure"), "by", value=lambda view: view.result.by, titled=False, stretch=1
            ),
            gap=12,
        ),
        RowBox(
            CardBox(
                TablePart(
                    _("Words"),
                    [
                        Column(_("Word"), lambda row: row.text, 120),
                        Column(
                            _("Found as"),
                            _origin,
                            90,
                            hint=_("The form of the word that has a vector"),
                        ),
                        Column(_("Nearest words"), _nearest, None, prose=True),
                    ],
                    lambda view: view.result.words,
                    key=lambda row: row.text,
                    first=_first,
                    id="words",
                    stretch=1,
                ),
                margins=(4, 4, 4, 4),
                stretch=1,
            ),
            CardBox(
                title(_heading),
                TablePart(
                    _("Nearest words"),
                    _near_columns,
                    _neighbours,
                    key=lambda row: row.word,
                    stretch=1,
                ),
                TextPart(_size, "small", "muted"),
                stretch=1,
            ),
            gap=12,
            stretch=1,
        ),
    ),
    data=_data,
)
