"""Shows the statistics and the words with most subwords; runs in the window."""

from __future__ import annotations

from workbench.text.columns import ValueKind
from workbench.ui.panels.inspect.parts import (
    OptionsPart,
    TablePart,
    TextPart,
    ViewContext,
    ViewSpec,
)
from workbench.ui.widgets.tables.table import Column


def _figures(view: ViewContext) -> str:
    result = view.result
    return (
        f"{result.fertility:.2f} subwords per word ({result.subwords:,} for {result.words:,} "
        f"words). {result.continued:.0%} of the words are split, {result.unknown:.0%} are "
        "unknown."
    )


VIEW = ViewSpec(
    controls=[OptionsPart()],
    parts=[
        TextPart(_figures, "body", wrap=True, select=True),
        TablePart(
            "Words with most subwords",
            [
                Column("Word", lambda item: item.word, None),
                Column("Subwords", lambda item: item.subwords, 90, kind=ValueKind.COUNT),
                Column("Count", lambda item: item.count, 90, kind=ValueKind.COUNT),
            ],
            lambda view: view.result.most_split,
            key=lambda item: item.word,
            id="words",
        ),
    ],
    data="words",
)
