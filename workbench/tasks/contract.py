"""Whether what a task of a plugin returns is what its contract says. Without torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol

from workbench.base.errors import SpecError, brief
from workbench.base.i18n import _
from workbench.base.registry import contract_hint, needed_plugin
from workbench.text import result_view
from workbench.text.document import TEXT

if TYPE_CHECKING:  # these import numpy, which the start of the window must not
    import numpy as np

    from workbench.runtime.inputs import Prepared
    from workbench.text.document import Document
    from workbench.text.fields import Field, Prediction, WordTag
    from workbench.text.spans import Span

PER_TOKEN = "token"  # value of `_Info.logits`


class _Info(Protocol):
    """What the checks need of a `tasks.spec.TaskInfo`, which imports this module."""

    @property
    def id(self) -> str: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...

    @property
    def scores(self) -> Sequence[Any]: ...

    @property
    def logits(self) -> Mapping[str, str]: ...


class _Task(Protocol):
    """What `targets` needs of a `tasks.base.Task`, which imports this module."""

    @property
    def info(self) -> _Info: ...

    loss_targets: Mapping[str, str]

    def targets(
        self,
        prepared: Prepared,
        golds: Sequence[Any],
        labels: Sequence[str],
        options: Mapping[str, Any],
    ) -> dict[str, list[np.ndarray]]: ...


def _broken(info: _Info, fault: str) -> SpecError:
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


def ensure_logits(info: _Info, logits: Mapping[str, Any], mask: Any) -> None:
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


def ensure_losses(info: _Info, losses: Mapping[str, tuple[Any, Any]]) -> None:
    """Raises SpecError unless they are totals and counts by name."""
    if not needed_plugin(info.id):
        return
    if not isinstance(losses, Mapping) or not all(
        isinstance(loss, tuple) and len(loss) == 2 for loss in losses.values()
    ):
        fault = _("`losses` returned {kind}, expected names with Loss(total, count)")
        raise _broken(info, fault.format(kind=type(losses).__name__))


# ---------------------------------------------------------------- what methods of a TaskInfo return

# Method → the name of what it returns, and attributes that this has; None is allowed for OPTIONAL.
OBJECTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "gold": ("Gold", ("labels", "to_json", "left_out")),
    "prepare": ("Prepared", ("documents", "inputs", "owner")),
    "error": ("ErrorText", ("gold", "predicted", "confidence")),
    "confusion": ("Confusion", ("labels", "counts", "where")),
    "statistic": ("Statistic", ("labels", "taken")),
}
LISTS: Mapping[str, tuple[str, tuple[str, ...]]] = {  # as OBJECTS, of each element
    "per_label": ("LabelScore", ("label", "precision", "recall", "f1", "support")),
    "answers": ("Answer", ("label", "score", "start", "end", "value")),
    "mistakes": ("Mistake", ("kind", "gold", "predicted", "confidence", "loss")),
}
OPTIONAL = ("gold", "confusion", "statistic", "interval", "confidences", "distance")
CHECKED = (*OBJECTS, *LISTS, "decode", "score", "interval", "confidences", "distance")


def ensure_returned(
    info: _Info, name: str, returned: Any, arguments: Callable[[], Mapping[str, Any]]
) -> None:
    """Raises SpecError unless the method `name` of a task returned what its contract says.

    arguments: those of the call by name, computed on demand.
    """
    if returned is None and name in OPTIONAL:
        return
    if name in OBJECTS:
        kind, attributes = OBJECTS[name]
        if all(hasattr(returned, attribute) for attribute in attributes):
            return
        fault = _("{kind}, expected a {expected}", kind=type(returned).__name__, expected=kind)
    elif name in LISTS:
        kind, attributes = LISTS[name]
        items = returned if isinstance(returned, (list, tuple)) else (returned,)
        wrong = [item for item in items if not all(hasattr(item, each) for each in attributes)]
        if items is returned and not wrong:
            return
        actual = type(wrong[0] if wrong else returned).__name__
        fault = _("{kind}, expected a list of {expected}", kind=actual, expected=kind)
    else:
        fault = _FAULTS[name](info, returned, arguments())
    if fault:
        message = _("`{name}` returned {fault}", name=name, fault=fault)
        raise _broken(info, message)


def _of_decode(info: _Info, predictions: Any, arguments: Mapping[str, Any]) -> str:
    logits, documents = arguments["logits"], arguments["prepared"].documents
    if not isinstance(predictions, (list, tuple)) or len(predictions) != len(documents):
        return _(
            "{value}, expected a list with one Prediction per document ({count})",
            value=_brief(predictions),
            count=len(documents),
        )
    for prediction, document in zip(predictions, documents, strict=True):
        if fault := _fault(info, prediction, document, arguments["labels"]):
            first = logits[0] if len(logits) else {}
            shapes = ", ".join(f"{name} {values.shape}" for name, values in first.items())
            return _("{fault}; the logits of the first input: {shapes}", fault=fault, shapes=shapes)
    return ""


def _brief(value: Any) -> str:
    """The type of a value, of a list or tuple with its length."""
    size = f" ({len(value)})" if isinstance(value, (list, tuple)) else ""
    return f"{type(value).__name__}{size}"


def _fault(info: _Info, prediction: Any, document: Document, labels: Sequence[str]) -> str:
    """What is wrong with a prediction, "" if nothing is."""
    from workbench.text import fields
    from workbench.text.fields import Prediction

    if not isinstance(prediction, Prediction):
        return _("{kind}, expected a Prediction", kind=type(prediction).__name__)
    for name in info.outputs:
        kind = fields.named(name)
        if kind is not None and kind.key and prediction.get(kind) is None:
            return _("no {name}, which `outputs` names", name=name)
    faults = (_fault_of_field(field, document, labels) for field in prediction.fields)
    return next(filter(None, faults), "") or _fault_of_view(prediction, labels)


def _fault_of_view(prediction: Prediction, labels: Sequence[str]) -> str:
    """Whether a plugin's kind of prediction can be read by its view, and when it was stored."""
    from workbench.text.fields import Prediction as Stored

    view = result_view.of(prediction)
    if not needed_plugin(view.key):
        return ""
    method = "shares"
    try:
        shares = view.shares(prediction)
        method = "labels"
        chosen = view.labels(prediction)
        method = "from_json"
        Stored.from_json(prediction.to_json())
    except Exception as error:  # of the plugin's code
        return _(
            "{name}, of which `{method}` fails: {error}",
            name=view.key,
            method=method,
            error=brief(error),
        )
    if not isinstance(shares, Mapping):
        fault = _("`shares` returned {kind}, expected a dict of labels", kind=type(shares).__name__)
    elif isinstance(chosen, str) or not isinstance(chosen, Sequence):
        fault = _(
            "`labels` returned {kind}, expected a tuple of labels", kind=type(chosen).__name__
        )
    elif unknown := sorted({*shares, *chosen} - {*labels}):
        fault = _("{label!r} is no label of the layer", label=unknown[0])
    elif not all(map(math.isfinite, shares.values())):
        fault = _("`shares` returned {shares}, expected numbers", shares=dict(shares))
    else:
        return ""
    return _("{name}, of whose view {fault}", name=view.key, fault=fault)


def _fault_of_field(field: Field, document: Document, labels: Sequence[str]) -> str:
    from workbench.text.fields import ClassScores, LabelScores, Number, SpanScores, WordTags

    name = type(field).__name__
    if isinstance(field, (ClassScores, LabelScores)):
        if len(field.scores) != len(field.labels):
            lengths = f"{len(field.scores)}, {len(field.labels)}"
            message = _("{name} whose scores and labels differ in length: {lengths}")
            return message.format(name=name, lengths=lengths)
        if unknown := [label for label in field.labels if label not in labels]:
            return _(
                "{name} with {label!r}, which is no label of the layer",
                name=name,
                label=unknown[0],
            )
        if not all(map(math.isfinite, field.scores)):
            return _("{name} with scores that are no numbers: {scores}", name=name, scores=field)
    if isinstance(field, Number) and not math.isfinite(field.value):
        return _("{name} with scores that are no numbers: {scores}", name=name, scores=field)
    marked: Sequence[WordTag | Span] = ()
    if isinstance(field, (WordTags, SpanScores)):
        marked = field.words if isinstance(field, WordTags) else field.spans
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


def _of_score(info: _Info, scores: Any, arguments: Mapping[str, Any]) -> str:
    if not isinstance(scores, Mapping):
        return _("{kind}, expected a dict of scores by name", kind=type(scores).__name__)
    missing = [score.name for score in info.scores if score.name not in scores]
    if missing:
        return _("no {names}, which `scores` declares", names=", ".join(missing))
    wrong = [(name, value) for name, value in scores.items() if not _is_finite(value)]
    if not wrong:
        return ""
    name, value = wrong[0]
    return _(
        "{value!r} for {name!r}, expected a finite number; 0 where a score is not defined",
        value=value,
        name=name,
    )


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and math.isfinite(value)


def _of_interval(info: _Info, interval: Any, arguments: Mapping[str, Any]) -> str:
    names = [score.name for score in info.scores]
    fits = isinstance(interval, (list, tuple)) and len(interval) == 3 and interval[0] in names
    if fits and all(map(_is_finite, interval[1:])) and interval[1] <= interval[2]:
        return ""
    return _(
        "{value!r}, expected (name, low, high) with a name of `scores`: {names}",
        value=interval,
        names=", ".join(names),
    )


def _of_confidences(info: _Info, arrays: Any, arguments: Mapping[str, Any]) -> str:
    some = arrays if isinstance(arrays, (list, tuple)) else ()
    shapes = [getattr(array, "shape", ()) for array in some]
    if len(shapes) == 3 and len(shapes[0]) == 1 and len({*shapes}) == 1:
        return ""
    return _(
        "{value}, expected three arrays of one length: confidence, whether it is right, the "
        "position of the document",
        value=", ".join(map(str, shapes)) or _brief(arrays),
    )


def _of_distance(info: _Info, distance: Any, arguments: Mapping[str, Any]) -> str:
    if _is_finite(distance) and distance >= 0:
        return ""
    return _("{value!r}, expected a number from 0 on, or None", value=distance)


_FAULTS: Mapping[str, Callable[[_Info, Any, Mapping[str, Any]], str]] = {
    "decode": _of_decode,
    "score": _of_score,
    "interval": _of_interval,
    "confidences": _of_confidences,
    "distance": _of_distance,
}
