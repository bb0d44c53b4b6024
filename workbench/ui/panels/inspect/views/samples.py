"""Sampled continuations of a text; those that the user keeps stay with their settings.

Enter or a double-click keeps a sample, Delete removes one that was kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.base.i18n import _, ngettext
from workbench.ui.panels.inspect.parts import (
    ButtonPart,
    CardBox,
    EntryPart,
    RowBox,
    TablePart,
    ViewContext,
    ViewSpec,
    caption,
    title,
)
from workbench.ui.style import formats
from workbench.ui.widgets.tables.table import Column

if TYPE_CHECKING:
    from workbench.inspection.samples.info import SampledText
    from workbench.operations.inspecting.retained_samples import KeptSample

TITLES = {
    "count": _("Samples"),
    "length": _("Tokens"),
    "seed": _("Seed"),
    "temperature": _("Temperature"),
    "top_k": _("Top-k (0: all)"),
    "top_p": _("Top-p"),
}
SETTINGS = tuple(name for name in TITLES if name != "count")


def _note(view: ViewContext) -> str:
    if view.state.continuing:
        return ngettext("{n} more token…", "{n} more tokens…", view.result.rest)
    return view.duration


def _again(view: ViewContext) -> None:
    """Sample again with the next seed."""
    view.state.set_options(seed=int(view.state.option("seed")) + 1)


def _data(view: ViewContext) -> list[list[object]]:
    head = [_("Sample"), _("Number of tokens"), _("Log p")]
    rows: list[list[object]] = [[*head, *(TITLES[name] for name in SETTINGS)]]
    settings = [view.state.option(name) for name in SETTINGS]
    samples = view.result.samples
    return rows + [[item.text, item.tokens, item.logprob, *settings] for item in samples]


# ---------------------------------------------------------------- kept samples


def _keep(view: ViewContext, pair: tuple[int, SampledText] | None) -> None:
    if pair is not None:
        view.page.keep_sample(pair[1].text, {name: view.state.option(name) for name in SETTINGS})
        view.renew()


def _drop(view: ViewContext) -> None:
    for pair in view.chosen_rows("kept"):
        view.page.drop_sample(pair[1])
    view.renew()


def _kept_title(view: ViewContext) -> str:
    return ngettext("{n} kept sample", "{n} kept samples", len(view.page.kept_samples()))


def _any_kept(view: ViewContext) -> bool:
    return bool(view.page.kept_samples())


def _prompt_and_sample(pair: tuple[int, KeptSample]) -> str:
    return " ".join(f"{pair[1].prompt} {pair[1].text}".split())


def _settings(pair: tuple[int, KeptSample]) -> str:
    return " · ".join(
        f"{TITLES[name]} {formats.significant(value)}"
        for name, value in pair[1].settings.items()
        if name in TITLES and isinstance(value, int | float)
    )


_SAMPLES = TablePart(
    _("Samples"),
    [
        Column(
            _("Sample"),
            lambda pair: " ".join(pair[1].text.split()),
            None,
            prose=True,
            tip=lambda pair: pair[1].text,
        ),
        Column(
            _("Log p"),
            lambda pair: formats.decimal(pair[1].logprob, 2),
            80,
            right=True,
            hint=_("Mean natural log-probability per token"),
        ),
    ],
    lambda view: enumerate(view.result.samples),
    key=lambda pair: pair[0],
    opened=_keep,
    stretch=1,
    id="samples",
)
_KEPT = TablePart(
    _("Kept samples"),
    [
        Column(
            _("Text and sample"),
            _prompt_and_sample,
            None,
            prose=True,
            tip=lambda pair: f"{pair[1].prompt}\n{pair[1].text}",
        ),
        Column(_("Model"), lambda pair: pair[1].model, 150),
        Column(_("Settings"), _settings, 260, tip=_settings, prose=True),
    ],
    lambda view: enumerate(view.page.kept_samples()),
    key=lambda pair: pair[0],
    removed=_drop,
    always=True,
    stretch=1,
    id="kept",
)
SAMPLES = ViewSpec(
    cards=True,
    parts=(
        CardBox(
            RowBox(
                title(_("Samples")),
                caption(_note),
                None,
                ButtonPart(
                    _("Stop"),
                    lambda view: view.state.stop(),
                    "square",
                    visible=lambda view: view.state.continuing,
                ),
                ButtonPart(_("Sample again"), _again, "rotate-ccw"),
                ButtonPart(_("Keep"), lambda view: _keep(view, view.chosen("samples")), "check"),
            ),
            RowBox(*(EntryPart(name, title, stretch=1) for name, title in TITLES.items())),
            _SAMPLES,
            stretch=3,
        ),
        CardBox(
            title(_("Kept samples: none yet. Enter keeps a sample.")),
            visible=lambda view: not _any_kept(view),
            always=True,
        ),
        CardBox(
            RowBox(
                title(_kept_title, always=True),
                None,
                ButtonPart(_("Remove"), _drop, "trash-2", always=True),
            ),
            _KEPT,
            visible=_any_kept,
            always=True,
            stretch=2,
        ),
    ),
    data=_data,
)
