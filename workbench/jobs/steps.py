"""Steps of a job: many in one message, none lost.

A payload of kind `step` stands for its own step and for those in `earlier`, the steps since the
message before it: {"step": [numbers], "losses": {name: [values]}}, oldest first.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence


def merge(payloads: Sequence[Mapping]) -> dict:
    """One payload for several in a row; all must have the same loss names (`same_losses`)."""
    found = dict(payloads[0])
    for payload in payloads[1:]:
        extend(found, payload)
    return found


def extend(target: MutableMapping, payload: Mapping) -> None:
    """Let `target` stand for the steps of `payload` too; its own list of earlier steps grows."""
    earlier = target.setdefault("earlier", {"step": [], "losses": {}})
    earlier["step"].append(target["step"])
    for name, value in target.get("losses", {}).items():
        earlier["losses"].setdefault(name, []).append(value)
    more = payload.get("earlier", {})
    earlier["step"] += more.get("step", ())
    for name, values in more.get("losses", {}).items():
        earlier["losses"].setdefault(name, []).extend(values)
    target.update({name: value for name, value in payload.items() if name != "earlier"})


def copy(payload: Mapping) -> dict:
    """A payload that `extend` may change."""
    found = dict(payload)
    if earlier := found.get("earlier"):
        losses = {name: list(values) for name, values in earlier.get("losses", {}).items()}
        found["earlier"] = {"step": list(earlier["step"]), "losses": losses}
    return found


def same_losses(one: Mapping, other: Mapping) -> bool:
    return one.get("losses", {}).keys() == other.get("losses", {}).keys()


def curves(payload: Mapping) -> tuple[list[int], dict[str, list[float]]]:
    """Numbers of all the steps that a payload stands for, and each loss at these steps."""
    earlier = payload.get("earlier", {})
    losses = {
        name: [*earlier.get("losses", {}).get(name, ()), value]
        for name, value in payload.get("losses", {}).items()
    }
    return [*earlier.get("step", ()), payload["step"]], losses
