"""What the features of a word add to a tag of a CRF, and the strongest features of the tag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from workbench.base.i18n import _, ngettext
from workbench.text.schemes import split_tag
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.figures import Figures
from workbench.ui.style import formats, theme
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import Elided, words
from workbench.ui.widgets.layout import card, column, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.tag_features.info import (
        TagFeature,
        TagFeatures,
        TaggedWord,
        TagTransition,
    )
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class TagFeaturesView(InspectorView):
    """Above: the words with their tags, of which one is explained. Below: its features, and those
    of the tag in the whole model.
    """

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._tag = combo(name=_("Tag"))
        self._tag.activated.connect(lambda _at: state.set_options(tag=self._tag.currentData()))
        self._strip = WordStrip(_("Words with tags"), tip=self._tip, see=self._see)
        self._strip.chosen.connect(lambda number: state.set_options(word=number, tag=""))
        self._scroll = strip_scrolled(self._strip)
        self._of_word, self._of_tag = (
            Elided("", "small", weight=600),
            Elided("", "small", weight=600),
        )
        self._count = words("", "caption", "muted")
        self._own = _table(_("Features of the word"))
        self._strongest = _table(_("Strongest features of the tag"))
        self._figures = Figures()
        hint = words(_("Click a word to explain its tag."), "caption", "muted")
        layout_of(self).addWidget(
            card(
                row(words(_("Weights of features"), weight=600), None, hint),
                TitledField(_("Tag"), self._tag),
                (self._scroll, 2),
                line(),
                (
                    row(
                        (column(self._of_word, (self._own, 1), gap=4), 1),
                        (
                            column(
                                row((self._of_tag, 1), self._count), (self._strongest, 1), gap=4
                            ),
                            1,
                        ),
                        gap=16,
                    ),
                    4,
                ),
                line(),
                self._figures,
                gap=8,
            )
        )

    def clear(self) -> None:
        self._strip.set(())
        for table in (self._own, self._strongest):
            table.set_rows(())
        for text in (self._of_word, self._of_tag, self._count):
            text.setText("")
        self._figures.set(())

    def show_result(self, result: TagFeatures) -> None:
        fill(self._tag, [(tag, tag) for tag in result.tags], result.tag)
        text = self.page.document.text if self.page.document else ""
        painted = [self._painted(at, word) for at, word in enumerate(result.words)]
        self._strip.set(painted, rtl=starts_rtl(text))
        self._strip.choose(result.word)
        word = result.words[result.word]
        message = _("“{word}” for {tag}", word=word.text, tag=result.tag)
        self._of_word.setText(message)
        self._of_tag.setText(_("{tag} in the whole model", tag=result.tag))
        count = ngettext("{n} feature", "{n} features", result.of, n=formats.count(result.of))
        self._count.setText(count)
        self._own.set_rows(result.features)
        self._strongest.set_rows(result.strongest)
        self._figures.set(_figures(result))

    def data(self) -> list[list[object]]:
        """The features of the word for the tag, then the strongest ones of the tag."""
        result: TagFeatures = self.state.result
        word = result.words[result.word].text
        rows: list[list[object]] = [[_("Word"), _("Tag"), _("Feature"), _("Weight")]]
        rows += [[word, result.tag, item.text, item.weight] for item in result.features]
        rows += [[word, result.tag, _step(step), step.weight] for step in result.steps]
        return rows + [["", result.tag, item.text, item.weight] for item in result.strongest]

    def _painted(self, number: int, word: TaggedWord) -> StripWord:
        parts, known = split_tag(word.tag), self.page.labels
        label = known.get(word.tag) or known.get(parts[1] if parts else "")
        if label is None:
            return StripWord(number, word.text)
        colours = theme.label_colours(label)
        return StripWord(
            number,
            word.text,
            ground=colours.fill,
            rule=colours.line,
            caption=word.tag,
            ink_caption=colours.line,
        )

    def _tip(self, number: int) -> str:
        result = self.state.result
        if result is None:
            return ""
        word = result.words[number]
        return _(
            "{tag}: sum of the weights {score}",
            tag=word.tag,
            score=formats.decimal(word.score, 3, signed=True),
        )

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)


def _table(name: str) -> Table:
    columns = [
        Column(
            _("Feature"),
            lambda item: item.text,
            None,
            sort=lambda item: item.text.casefold(),
            tip=lambda item: item.text,
        ),
        Column(
            _("Weight"),
            lambda item: formats.decimal(item.weight, 3, signed=True),
            100,
            right=True,
            sort=lambda item: item.weight,
            hint=_("Learned in training, for the chosen tag"),
        ),
    ]
    return Table(columns, name=name, key=_feature_text)


def _feature_text(item: TagFeature) -> str:
    return item.text


def _step(step: TagTransition) -> str:
    return _("{before} → {after}", before=step.before, after=step.after)


def _figures(result: TagFeatures) -> list[tuple[str, str]]:
    figures = [(_("Sum of the features"), formats.decimal(result.score, 3, signed=True))]
    for step in result.steps:
        weight = formats.decimal(step.weight, 3, signed=True)
        figures.append((_step(step), weight if step.allowed else _("not allowed")))
    if all(step.allowed for step in result.steps):
        total = result.score + sum(step.weight for step in result.steps)
        figures.append((_("Total"), formats.decimal(total, 3, signed=True)))
    return figures
