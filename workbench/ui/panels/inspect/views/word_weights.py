"""What each word adds to the logit of a class: painted on the text, and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

from workbench.base.i18n import _
from workbench.ui.panels.inspect.base import InspectorView
from workbench.ui.panels.inspect.views.attributions import painted
from workbench.ui.panels.inspect.views.figures import Figures
from workbench.ui.panels.inspect.views.target_names import target_name
from workbench.ui.style import formats
from workbench.ui.widgets.controls.field import TitledField, combo, fill
from workbench.ui.widgets.controls.words import words
from workbench.ui.widgets.layout import card, layout_of, line, row
from workbench.ui.widgets.tables.table import Column, Table
from workbench.ui.widgets.text.span_layout import starts_rtl
from workbench.ui.widgets.tokens.word_strip import WordStrip, strip_scrolled

if TYPE_CHECKING:
    from workbench.inspection.word_weights.info import FeatureWeight, WordWeights
    from workbench.ui.panels.inspect.inspector_state import InspectorState


class WordWeightsView(InspectorView):
    def __init__(self, state: InspectorState) -> None:
        super().__init__(state)
        self._target = combo(name=_("Class"))
        self._target.activated.connect(
            lambda _at: state.set_options(target=self._target.currentData())
        )
        self._strip = WordStrip(_("Words with their contributions"), tip=self._tip, see=self._see)
        self._scroll = strip_scrolled(self._strip)
        self._table = Table(
            _columns(), name=_("Words and word pairs"), key=lambda feature: feature.text
        )
        self._figures = Figures()
        legend = words(
            _("Blue raises the logit; orange with dashes lowers it."), "caption", "muted"
        )
        layout_of(self).addWidget(
            card(
                row(words(_("Weights of words"), weight=600), None, legend),
                TitledField(_("Class"), self._target),
                (self._scroll, 2),
                line(),
                (self._table, 4),
                line(),
                self._figures,
                gap=8,
            )
        )

    def clear(self) -> None:
        self._strip.set(())
        self._table.set_rows(())
        self._figures.set(())

    def show_result(self, result: WordWeights) -> None:
        named = [(target.id, target_name(target, ())) for target in result.targets]
        fill(self._target, named, result.target)
        most = max(map(abs, result.scores), default=0.0) or 1.0
        self._strip.set(
            [
                painted(at, word.text, result.scores[at] or None, most)
                for at, word in enumerate(result.words)
            ],
            rtl=starts_rtl(self.page.document.text if self.page.document else ""),
        )
        self._table.set_rows(result.features)
        self._figures.set(_figures(result))

    def data(self) -> list[list[object]]:
        titles = [_("Word or pair"), _("Count"), _("TF-IDF"), _("Weight"), _("Product")]
        features: tuple[FeatureWeight, ...] = self.state.result.features
        rows = [[item.text, item.count, item.value, item.weight, item.product] for item in features]
        return [[*titles], *rows]

    def _tip(self, number: int) -> str:
        result = self.state.result
        if result is None:
            return ""
        score = result.scores[number]
        return formats.decimal(score, 4, signed=True) if score else _("not in the training texts")

    def _see(self, area: QRectF) -> None:
        center = area.center()
        self._scroll.ensureVisible(int(center.x()), int(center.y()), 0, int(area.height() / 2) + 4)


def _columns() -> list[Column]:
    def signed(value: float) -> str:
        return formats.decimal(value, 3, signed=True)

    return [
        Column(
            _("Word or pair"), lambda item: item.text, None, sort=lambda item: item.text.casefold()
        ),
        Column(
            _("Count"),
            lambda item: formats.count(item.count),
            100,
            right=True,
            sort=lambda item: item.count,
            hint=_("Number of times it occurs in the text"),
        ),
        Column(
            _("TF-IDF"),
            lambda item: formats.decimal(item.value, 3),
            90,
            right=True,
            sort=lambda item: item.value,
            hint=_("Term frequency × inverse document frequency, L2-normalized"),
        ),
        Column(
            _("Weight"),
            lambda item: signed(item.weight),
            100,
            right=True,
            sort=lambda item: item.weight,
            hint=_("Learned in training, for the chosen class"),
        ),
        Column(
            _("Product"),
            lambda item: signed(item.product),
            100,
            right=True,
            sort=lambda item: item.product,
            hint=_("TF-IDF × weight: the contribution to the logit"),
        ),
    ]


def _figures(result: WordWeights) -> list[tuple[str, str]]:
    words_alone = result.score - result.intercept
    score = _("Logit") if not result.against else _("Log odds against {label}")
    return [
        (_("Sum of the products"), formats.decimal(words_alone, 3, signed=True)),
        (_("Intercept"), formats.decimal(result.intercept, 3, signed=True)),
        (score.format(label=result.against), formats.decimal(result.score, 3, signed=True)),
    ]
