"""Whether what a task of a plugin returns is what its contract says. Without torch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.base.errors import SpecError, brief
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin
from workbench.tasks.spec import TaskInfo
from workbench.text import fields, result_view
from workbench.text.document import TEXT
from workbench.text.fields import ClassScores, Field, LabelScores, Number, Prediction

if TYPE_CHECKING:
    from workbench.runtime.inputs import Prepared
    from workbench.text.document import Document

PER_TOKEN = "token"  # value of `TaskInfo.logits`


class _Task(Protocol):
    """What `targets` needs of a `tasks.base.Task`, which imports this module."""

    info: TaskInfo
    loss_targets: Mapping[str, str]

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[Any],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]: ...


def _broken(info: TaskInfo, fault: str) -> SpecError:
    message = _("The task {task} does not follow its contract: {fault}.", task=info.id, fault=fault)
    return SpecError(message, hint=contract_hint(info.id))


def targets(
    task: _Task,
    prepared: Prepared,
    golds: Sequence[Any],
    labels: Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, list[np.ndarray]]:
    """The targets of the task. Raises SpecError if they are not one array per input."""
    by_name = task.targets(prepared, golds, labels, options)
    if not needed_plugin(task.info.id):
        return by_name
    if not isinstance(by_name, Mapping):
        fault = _("`targets` returned {kind}, expected a dict of lists")
        raise _broken(task.info, fault.format(kind=type(by_name).__name__))
    for name in set(task.loss_targets.values()) - set(by_name):
        fault = _("`targets` returned no {name!r}, which `loss_targets` names")
        raise _broken(task.info, fault.format(name=name))
    for name, rows in by_name.items():
        if len(rows) != len(prepared.inputs):
            fault = _(
                "number of rows of {name!r} from `targets`: {n}, expected {count}, one per input"
            )
            raise _broken(
                task.info, fault.format(n=len(rows), name=name, count=len(prepared.inputs))
            )
    return by_name


def ensure_named(head: object, logits: object) -> None:
    """Raises SpecError unless a head of our own, or of a plugin, returned logits by name."""
    if not isinstance(logits, Mapping):
        message = _("The head {head} returned {kind}, expected a dict of tensors by name.")
        name, kind = type(head).__qualname__, type(logits).__name__
        raise SpecError(message.format(head=name, kind=kind))


def ensure_logits(info: TaskInfo, logits: Mapping[str, Any], mask: Any) -> None:
    """mask (B, T) of the inputs, or None. Raises SpecError if names or shapes differ."""
    if not needed_plugin(info.id):
        return
    if set(logits) != set(info.logits):
        fault = _("the head returned {found}, but `logits` of the task names {expected}")
        names = [", ".join(map(repr, sorted(names))) for names in (logits, info.logits)]
        raise _broken(info, fault.format(found=names[0] or "–", expected=names[1]))
    for name, axis in info.logits.items() if mask is not None else ():
        shape = tuple(mask.shape) if axis == PER_TOKEN else tuple(mask.shape)[:1]
        actual = tuple(logits[name].shape)
        if actual[: len(shape)] != shape:
            fault = _("the logits {name!r} have the shape {found}, expected {expected}, …")
            expected = str(shape).strip("(),")
            raise _broken(info, fault.format(name=name, found=actual, expected=expected))


def ensure_losses(info: TaskInfo, losses: Mapping[str, tuple[Any, Any]]) -> None:
    """Raises SpecError unless they are totals and counts by name."""
    if not needed_plugin(info.id):
        return
    if not isinstance(losses, Mapping) or not all(
        isinstance(loss, tuple) and len(loss) == 2 for loss in losses.values()
    ):
        fault = _("`losses` returned {kind}, expected names with Loss(total, count)")
        raise _broken(info, fault.format(kind=type(losses).__name__))


def decode(
    info: TaskInfo,
    logits: Sequence[Mapping[str, np.ndarray]],
    prepared: Prepared,
    labels: Sequence[str],
    decoder: Mapping[str, Any],
) -> list[Prediction]:
    """The predictions that the task decodes.

    Raises SpecError unless there is one for each document, with the fields that `outputs` names.
    """
    predictions = info.decode(logits, prepared, labels, decoder)
    if not needed_plugin(info.id):
        return predictions
    documents = prepared.documents
    if len(predictions) != len(documents):
        fault = _("number of predictions from `decode`: {n}, expected {count}, one per document")
        raise _broken(info, fault.format(n=len(predictions), count=len(documents)))
    for prediction, document in zip(predictions, documents, strict=True):
        if fault := _fault(info, prediction, document, labels):
            shapes = ", ".join(
                f"{name} {np.shape(values)}" for name, values in logits[0].items() if len(logits)
            )
            fault = _(
                "`decode` returned {fault}; the logits of the first input: {shapes}",
                fault=fault,
                shapes=shapes,
            )
            raise _broken(info, fault)
    return predictions


def _fault(info: TaskInfo, prediction: Any, document: Document, labels: Sequence[str]) -> str:
    """What is wrong with a prediction, "" if nothing is."""
    if not isinstance(prediction, Prediction):
        return _("{kind}, expected a Prediction", kind=type(prediction).__name__)
    for name in info.outputs:
        kind = fields.named(name)
        if kind is not None and kind.key and prediction.get(kind) is None:
            return _("no {name}, which `outputs` names", name=name)
    faults = (_fault_of_field(field, document, labels) for field in prediction.fields)
    return next(filter(None, faults), "") or _fault_of_view(prediction, labels)


def _fault_of_view(prediction: Prediction, labels: Sequence[str]) -> str:
    """Whether the view of a plugin's kind can read the prediction."""
    view = result_view.of(prediction)
    if not needed_plugin(view.key):
        return ""
    try:
        shares = view.shares(prediction)
        known = {*shares, *view.labels(prediction)} <= {*labels}
        finite = all(math.isfinite(share) for share in shares.values())
    except Exception as error:  # of the plugin's code
        return _("{name} that its view cannot read: {error}", name=view.key, error=brief(error))
    if known and finite:
        return ""
    return _("{name} with other labels than those of the layer, or no numbers", name=view.key)


def _fault_of_field(field: Field, document: Document, labels: Sequence[str]) -> str:
    name = type(field).__name__
    if isinstance(field, (ClassScores, LabelScores)):
        if len(field.scores) != len(field.labels) or not {*field.labels} <= {*labels}:
            return _(
                "{name} with the number of scores {n} and the labels {theirs}, expected scores of "
                "labels of the layer: {ours}",
                name=name,
                n=len(field.scores),
                theirs=", ".join(map(repr, field.labels)),
                ours=", ".join(map(repr, labels)),
            )
        if not np.isfinite(field.scores).all():
            return _("{name} with scores that are no numbers: {scores}", name=name, scores=field)
    if isinstance(field, Number) and not np.isfinite(field.value):
        return _("{name} with scores that are no numbers: {scores}", name=name, scores=field)
    marked = getattr(field, "words", None) or getattr(field, "spans", None) or ()
    texts = dict(document.texts)
    for span in marked:
        length = len(texts.get(getattr(span, "field", TEXT), ""))
        if not 0 <= span.start <= span.end <= length:
            return _(
                "{name} with the offsets {start} to {end} in a text of length {length}",
                name=name,
                start=span.start,
                end=span.end,
                length=length,
            )
        if span.label is not None and span.label not in labels:
            return _(
                "{name} with {label!r}, which is no label of the layer", name=name, label=span.label
            )
    return ""


def score(
    info: TaskInfo, golds: Sequence[Any], predictions: Sequence[Prediction]
) -> dict[str, float]:
    """The scores of the task. Raises SpecError if one that it declares is missing, or no number."""
    scores = info.score(golds, predictions)
    if not needed_plugin(info.id):
        return scores
    missing = [each.name for each in info.scores if each.name not in scores]
    if missing:
        fault = _("`score` returned no {names}, which `scores` declares")
        raise _broken(info, fault.format(names=", ".join(missing)))
    for name, value in scores.items():
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            fault = _(
                "`score` returned {value!r} for {name!r}, expected a finite number; 0 where a "
                "score is not defined",
                value=value,
                name=name,
            )
            raise _broken(info, fault)
    return scores
