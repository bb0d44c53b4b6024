"""Steps of a job: several in one message, without loss.

A payload of kind `step` holds its own step and, in `earlier`, the steps since the previous
message: {"step": [numbers], "losses": {name: [values]}}, oldest first. Other fields that have a
value at each step are named in `per_step`; `earlier` holds their values too.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any


def merge(payloads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge consecutive payloads into one; all must have the same loss names (`same_losses`)."""
    merged = dict(payloads[0])
    for payload in payloads[1:]:
        extend(merged, payload)
    return merged


def extend(target: MutableMapping[str, Any], payload: Mapping[str, Any]) -> None:
    """Append the steps of `payload` to `target`; its list of earlier steps is modified in place."""
    earlier = target.setdefault("earlier", {"step": [], "losses": {}})
    earlier["step"].append(target["step"])
    for name in target.get("per_step", ()):
        if target.get(name) is not None:
            earlier.setdefault(name, []).append(target[name])
    for name, value in target.get("losses", {}).items():
        earlier["losses"].setdefault(name, []).append(value)
    more = payload.get("earlier", {})
    earlier["step"] += more.get("step", ())
    for name, values in _fields(more):
        earlier.setdefault(name, []).extend(values)
    for name, values in more.get("losses", {}).items():
        earlier["losses"].setdefault(name, []).extend(values)
    target.update({name: value for name, value in payload.items() if name != "earlier"})


def copy(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the payload that `extend` may modify."""
    copied = dict(payload)
    if earlier := copied.get("earlier"):
        losses = {name: list(values) for name, values in earlier.get("losses", {}).items()}
        own = {name: list(values) for name, values in _fields(earlier)}
        copied["earlier"] = {"step": list(earlier["step"]), "losses": losses, **own}
    return copied


def _fields(earlier: Mapping[str, Any]) -> list[tuple[str, Sequence[float]]]:
    """Name and values of the fields of earlier steps, besides their losses."""
    return [(name, earlier[name]) for name in earlier if name not in ("step", "losses")]


def series(payload: Mapping[str, Any], name: str) -> list[float]:
    """The values of a field at the steps of a payload; [] if a step lacks it."""
    earlier = payload.get("earlier", {})
    values = [*earlier.get(name, ()), *([payload[name]] if payload.get(name) is not None else [])]
    return values if len(values) == len(earlier.get("step", ())) + 1 else []


def points(payload: Mapping[str, Any], name: str) -> list[tuple[int, float]]:
    """Steps and values of a field; of a payload in which a step lacks it, only the last one.

    Earlier versions sent only the last of several.
    """
    if values := series(payload, name):
        numbers = [*payload.get("earlier", {}).get("step", ()), payload["step"]]
        return list(zip(numbers, values, strict=True))
    return [(payload["step"], payload[name])] if payload.get(name) is not None else []


def same_losses(mapping: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return set(mapping.get("losses", ())) == set(other.get("losses", ()))


def curves(payload: Mapping[str, Any]) -> tuple[list[int], dict[str, list[float]]]:
    """Numbers of all steps in a payload, and the values of each loss at these steps."""
    earlier = payload.get("earlier", {})
    losses = {
        name: [*earlier.get("losses", {}).get(name, ()), value]
        for name, value in payload.get("losses", {}).items()
    }
    return [*earlier.get("step", ()), payload["step"]], losses
