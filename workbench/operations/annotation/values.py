"""Numbers and written texts of documents. Every call is one undo step."""

from __future__ import annotations

import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _, ngettext
from workbench.operations.annotation.annotate import check_layer, reopen_empty, start_draft
from workbench.project.project import Project
from workbench.storage.annotation import annotations as annotation_rows
from workbench.storage.annotation import document_values
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.labels import NUMBERS, WRITTEN
from workbench.text.scale import Scale


def set_number(
    project: Project, document_id: int, layer_id: int, value: float, *, origin: object = None
) -> None:
    """Give the document a number. Raises WorkbenchError if it is not on the scale of the layer."""
    layer = labels.layer(project.db, layer_id)
    check_layer(documents.get(project.db, document_id), layer, NUMBERS)
    scale = Scale.of(layer.options)
    if not scale.holds(value):
        message = _("{value:g} is not on the scale of {layer}, {minimum:g} to {maximum:g}.")
        raise WorkbenchError(
            message.format(
                value=value, layer=layer.name, minimum=scale.minimum, maximum=scale.maximum
            ),
            hint=_("The scale can be changed on the Labels page."),
        )
    title = _("Set {layer} to {value:g}", layer=layer.name, value=value)
    _set_value(project, document_id, layer_id, value, title, origin)


def write_text(
    project: Project, document_id: int, layer_id: int, text: str, *, origin: object = None
) -> None:
    """Store the text written for a document as it is; a blank one removes it."""
    layer = labels.layer(project.db, layer_id)
    check_layer(documents.get(project.db, document_id), layer, WRITTEN)
    if not text.strip():
        clear_value(project, document_id, layer_id, origin=origin)
        return
    title = _("Write {layer}", layer=layer.name)
    _set_value(project, document_id, layer_id, text, title, origin)


def _set_value(
    project: Project,
    document_id: int,
    layer_id: int,
    value: float | str,
    title: str,
    origin: object,
) -> None:
    with project.edit(title, origin=origin):
        who, source = project.gold(layer_id), project.source("person")
        document_values.set_value(
            project.db, document_id, layer_id, value, annotator_id=who, source_id=source
        )
        start_draft(project, document_id, layer_id)


def clear_value(
    project: Project, document_id: int, layer_id: int, *, origin: object = None
) -> None:
    """Remove the number or the written text; the state changes as in `clear_class`."""
    db, who = project.db, project.gold(layer_id)
    name = labels.layer(db, layer_id).name
    with project.edit(_("Clear {layer}", layer=name), origin=origin):
        document_values.clear_value(db, document_id, layer_id, who)
        annotation_rows.reset_untouched(db, [document_id], layer_id, who)
        reopen_empty(project, document_id, layer_id)


# ---------------------------------------------------------------- scale and statistics

BINS = 10  # ranges of a histogram, at most


def typed_scale(minimum: str, maximum: str, step: str) -> Scale:
    """The scale from typed numbers, with a point or a comma.

    Raises WorkbenchError if they are not numbers or not a scale.
    """
    try:
        scale = Scale(*(float(number.replace(",", ".")) for number in (minimum, maximum, step)))
    except ValueError as error:
        message = _("Not numbers: {minimum}, {maximum}, {step}.")
        raise WorkbenchError(
            message.format(minimum=minimum, maximum=maximum, step=step),
            hint=_("Write digits, such as 0, 5 and 0.5."),
        ) from error
    _check_scale(scale)
    return scale


def _check_scale(scale: Scale) -> None:
    if scale.problem:
        raise WorkbenchError(
            _(
                "{minimum:g} to {maximum:g} in steps of {step:g} is not a scale.",
                minimum=scale.minimum,
                maximum=scale.maximum,
                step=scale.step,
            ),
            hint=_("The maximum must exceed the minimum; a step must fit between them."),
        )


def set_scale(project: Project, layer_id: int, scale: Scale, *, origin: object = None) -> None:
    """Change the scale of a layer. Raises WorkbenchError if stored numbers are not on it."""
    layer = labels.layer(project.db, layer_id)
    _check_scale(scale)
    outside = [
        number
        for number in document_values.every_number(project.db, layer_id)
        if not scale.holds(number)
    ]
    if outside:
        message = ngettext(
            "{n} number of {layer} is not on this scale, such as {value:g}.",
            "{n} numbers of {layer} are not on this scale, such as {value:g}.",
            len(outside),
        )
        raise WorkbenchError(
            message.format(n=len(outside), layer=layer.name, value=outside[0]),
            hint=_("Choose a wider scale, or change these numbers first."),
        )
    title = _("Change the scale of {layer}", layer=layer.name)
    with project.edit(title, origin=origin):
        labels.update_layer(project.db, layer_id, options={**layer.options, **scale.options})


@dataclass(frozen=True)
class ValueStatistics:
    """Statistics of the values of a layer: numbers, or lengths of written texts in characters.

    bins: (from, to, documents) of ranges of equal width; only the last includes its end.
    """

    count: int = 0
    mean: float = 0.0
    deviation: float = 0.0
    low: float = 0.0
    high: float = 0.0
    bins: tuple[tuple[float, float, int], ...] = ()


def summary(project: Project, layer_id: int) -> ValueStatistics:
    """Statistics of a layer of numbers or of written texts."""
    layer = labels.layer(project.db, layer_id)
    if layer.traits.record == NUMBERS:
        numbers: Sequence[float] = document_values.numbers(project.db, layer_id)
        scale = Scale.of(layer.options)
        return _statistics(numbers, scale.minimum, scale.maximum)
    numbers = document_values.lengths(project.db, layer_id)
    return _statistics(numbers, 0, max(numbers, default=0))


def _statistics(ascending: Sequence[float], start: float, end: float) -> ValueStatistics:
    if not ascending:
        return ValueStatistics()
    start, end = min(start, ascending[0]), max(end, ascending[-1])
    width = (end - start) / BINS
    edges = [start + number * width for number in range(BINS)] if width else [start]
    places = [*(bisect_left(ascending, edge) for edge in edges), len(ascending)]
    ends = [*edges[1:], end]
    return ValueStatistics(
        len(ascending),
        statistics.fmean(ascending),
        statistics.pstdev(ascending),
        ascending[0],
        ascending[-1],
        tuple(
            (edge, stop, last - first)
            for edge, stop, first, last in zip(edges, ends, places, places[1:], strict=False)
        ),
    )
