"""How much each word moves a score: painted on the text, and as bars.

For attributions, and for words that are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from workbench.base.events import concerns
from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.figures import Figures
from workbench.ui.panels.inspect.views.target_names import target_name
from workbench.ui.style import formats, theme
from workbench.ui.widgets.charts.signed_bars import SignedBars
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row, scrolled
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import StripWord, WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.attributions.info import Attributions
    from workbench.ui.panels.inspect.inspector_state import InspectorState

NAMED = 0.15  # fraction of the largest value from which the number is below the word
PALE = 0.02  # fraction below which a word has no ground
OPTIONS = {"method": _("Method"), "score": _("Score")}


class AttributionsView(InspectorView):
    """A word that is selected marks its bar; one that is opened becomes the target."""

    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._note = words("", "caption", "muted")
        self._target = combo(name=_("Target"))
        self._target.activated.connect(self._take_target)
        self._choices = {}
        known = {option.name: option for option in (state.info.options if state.info else ())}
        titles = {name: title for name, title in OPTIONS.items() if name in known}
        for name, title in titles.items():
            option = known[name]
            pairs = zip(option.choices, map(_, option.choice_titles), strict=True)
            box = combo([*pairs], name=title)
            box.activated.connect(
                lambda _at, name=name, box=box: self._take(name, box.currentData())
            )
            self._choices[name] = box
        self._strip = WordStrip(_("Words with attributions"), tip=self._tip, see=self._see)
        self._strip.opened.connect(self._explain)
        self._scroll = strip_scrolled(self._strip)
        self._bars = SignedBars(_("Attributions of the words, largest first"))
        self._bars.chosen.connect(self._strip.choose)
        self._strip.chosen.connect(self._bars.choose)
        self._bar_scroll = scrolled(self._bars)
        self._figures = Figures()
        fields = [TitledField(_("Target"), self._target)]
        fields += [TitledField(title, self._choices[name]) for name, title in titles.items()]
        legend = words(
            _("Blue raises the score; orange with dashes lowers it."), "caption", "muted"
        )
        title = _(state.info.title) if state.info is not None else ""
        top = row(words(title, weight=600), self._note, None, legend)
        layout_of(self).addWidget(
            card(
                top,
                row(*((item, 1) for item in fields), gap=12),
                (self._scroll, 3),
                line(),
                (self._bar_scroll, 4),
                line(),
                self._figures,
                gap=8,
            )
        )

    def show_state(self, fields: frozenset[str]) -> None:
        super().show_state(fields)
        if concerns(fields, "options"):
            for name, box in self._choices.items():
                box.setCurrentIndex(max(0, box.findData(self.state.option(name))))

    def clear(self) -> None:
        self._strip.set(())
        self._bars.set(())
        self._figures.set(())
        self._note.setText("")

    def show_result(self, result: Attributions) -> None:
        named = [(target.id, target_name(target, result.words)) for target in result.targets]
        fill(self._target, named, result.target)
        if (kind := self._choices.get("score")) is not None:
            kind.setEnabled(all(target.value is None for target in result.targets))
        known = [score for score in result.scores if score is not None]
        most = max(map(abs, known), default=0.0) or 1.0
        self._strip.set(
            [
                painted(at, word.text, result.scores[at], most)
                for at, word in enumerate(result.words)
            ],
            rtl=starts_rtl(self.page.document.text if self.page.document else ""),
        )
        pairs = [
            (at, result.words[at].text, score)
            for at, score in enumerate(result.scores)
            if score is not None
        ]
        self._bars.set(sorted(pairs, key=lambda pair: -abs(pair[2])))
        self._figures.set(_figures(result))
        ms = self.state.answer.milliseconds if self.state.answer else 0
        parts = [_("{ms:.0f} ms", ms=ms)]
        if result.temperature != 1:
            message = _(
                "without the temperature of predictions ({value:.2f})", value=result.temperature
            )
            parts.append(message)
        self._note.setText(" · ".join(parts))

    def data(self) -> list[list[object]]:
        result = self.state.result
        rows: list[list[object]] = [[_("Word"), _("Start"), _("End"), _("Attribution")]]
        for word, score in zip(result.words, result.scores, strict=True):
            rows.append([word.text, word.start, word.end, "" if score is None else score])
        return rows

    def _tip(self, number: int) -> str:
        result = self.state.result
        score = result.scores[number] if result is not None else None
        return "" if score is None else formats.decimal(score, 4, signed=True)

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)

    # ---------------------------------------------------------------- actions

    def _take(self, name: str, value: object) -> None:
        self.state.set_options(**{name: value})

    def _take_target(self, _index: int) -> None:
        self.state.set_options(target=self._target.currentData())

    def _explain(self, number: int) -> None:
        """The tag of a word becomes the target, where the model gives words tags."""
        result = self.state.result
        own = (target.id for target in result.targets if target.first == target.last == number)
        if (target := next(own, "")) and target != result.target:
            self.state.set_options(target=target)


def painted(at: int, word: str, score: float | None, most: float) -> StripWord:
    """A word with the ground and the caption of its score; `most`: the largest of all."""
    if score is None:
        return StripWord(at, word, ink="faint")
    share = score / most
    if abs(share) < PALE:
        return StripWord(at, word)
    digits = 2 if most >= 0.1 else 3 if most >= 0.01 else 4
    caption = formats.decimal(score, digits, signed=True) if abs(share) >= NAMED else ""
    lowers = score < 0
    return StripWord(
        at,
        word,
        theme.diverging(share),
        rule="warn" if lowers else "",
        dashed=lowers,
        caption=caption,
        bold=abs(share) >= 0.5,
    )


def _figures(result: Attributions) -> list[tuple[str, str]]:
    figures = [
        (_("F(x), the score"), formats.decimal(result.score, 3)),
        (_("Sum of attributions"), formats.decimal(result.total, 3, signed=True)),
    ]
    if result.baseline is not None and result.delta is not None:
        difference = result.score - result.baseline
        figures += [
            (_("F(x) − F(baseline)"), formats.decimal(difference, 3, signed=True)),
            (_("Convergence delta"), formats.decimal(result.delta, 4, signed=True)),
        ]
    if result.steps is not None:
        figures.append((_("Steps"), formats.count(result.steps)))
    return figures
