"""What the check of a plugin finds in the code of a contribution: signatures and declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.base.i18n import _
from workbench.inspection.spec import DOCUMENTS, LABELS, LAYER
from workbench.text.labels import LAYER_KINDS

AXES = ("item", "token", "choice")  # of `TaskInfo.logits`
Calls = Mapping[str, tuple[str, ...]]
# Kind of contribution → method → the arguments that it is called with; "*name" by its name.
OBJECT_CALLS: Mapping[str, Calls] = {
    "importer": {
        "sniff": ("head", "name"),
        "preview": ("source", "options", "limit"),
        "read": ("source", "options"),
    },
    "segmenter": {"words": ("text",)},
    "task": {
        "head": ("encoder", "labels", "options"),
        "targets": ("prepared", "golds", "labels", "options"),
        "losses": ("model", "logits", "targets"),
    },
    "family": {"heads": ("info",), "load": ("info", "options"), "save": ("encoder", "folder")},
    "method": {"prepare": (), "groups": ("rate",)},
    "inspector": {
        "run": ("subject", "documents", "options"),
        "examine": ("subject", "data", "task", "options"),
    },
    "backend": {"score": ("prompts",)},
    "objective": {
        "batches": ("texts",),
        "losses": ("inputs", "targets"),
        "shown": ("batch",),
    },
    "baseline": {
        "fit": ("task", "documents", "golds", "labels", "*seed"),
        "logits": ("prepared",),
        "save": ("folder",),
        "load": ("folder",),
    },
    "strategy": {"scores": ("pool",)},
    "exporter": {
        "lost": ("layers",),
        "write": ("records", "plan", "out"),
        "shared": ("plan",),
        "files": ("record", "name", "plan"),
    },
    "model_exporter": {"write": ("export", "folder"), "check": ("export", "folder", "documents")},
}
INFO_CALLS: Mapping[str, Calls] = {
    "task": {
        "output_names": ("labels",),
        "gold": ("record", "layer"),
        "problem": ("counts", "layer"),
        "prepare": ("preparer", "documents", "max_length"),
        "decode": ("logits", "prepared", "labels", "decoder"),
        "score": ("golds", "predictions"),
        "per_label": ("golds", "predictions"),
        "agrees": ("gold", "prediction"),
        "error": ("document", "gold", "prediction"),
    },
    "family": {"match": ("path",), "read": ("path", "*allow_pickle"), "preparer": ("path",)},
    "backend": {"models": ("at_hand",), "measure": ("model", "options")},
    "method": {"forecast": ("model", "options")},
}


def fault(kind: str, contribution: Any, info: Any) -> str:
    """The first thing that does not conform to the contract, "" if nothing was found.

    made: the class of a contribution. info: its light part, None for a kind without one.
    """
    message = next(_uncallable(contribution, OBJECT_CALLS.get(kind, {})), "")
    if info is not None:
        message = message or next(_uncallable(info, INFO_CALLS.get(kind, {})), "")
        if kind == "task":
            message = message or next(_undeclared(info, contribution), "")
        if kind == "inspector":
            message = message or next(_lacking(info), "")
    return message


def _uncallable(owner: Any, calls: Calls) -> Iterator[str]:
    for name, arguments in calls.items():
        function = getattr(owner, name, None)
        if not callable(function):
            continue
        positional = [argument for argument in arguments if not argument.startswith("*")]
        named = {argument[1:]: None for argument in arguments if argument.startswith("*")}
        own = [None] if inspect.isclass(owner) and inspect.isfunction(function) else []
        try:
            inspect.signature(function).bind(*own, *positional, **named)
        except TypeError as error:
            call = ", ".join([*positional, *(f"{each}=…" for each in named)])
            yield _(
                "`{name}` is called with ({arguments}): {error}.",
                name=name,
                arguments=call,
                error=error,
            )
        except ValueError:  # a builtin, which has no signature
            continue


def _lacking(info: Any) -> Iterator[str]:
    """Options that an inspector of the documents of a project must have."""
    if not getattr(info, "examines", ""):
        yield _("It has `examine`, but its info does not say what it examines (`examines`).")
    required = (DOCUMENTS, *([LAYER] if getattr(info, "examines", "") == LABELS else []))
    known = {option.name for option in info.options}
    for name in required:
        if name not in known:
            yield _("It examines documents of the project, but has no option {name!r}.", name=name)


def _undeclared(info: Any, instance: Any) -> Iterator[str]:
    """Names in the declarations of a task that do not exist."""
    from workbench.text import fields  # imports numpy

    scores = [score.name for score in info.scores]
    for key in ("main", "second"):
        if (name := getattr(info, key)) not in scores:
            yield _(
                "`{key}` is {name!r}, expected a name of `scores`: {known}.",
                key=key,
                name=name,
                known=", ".join(scores),
            )
    for kind in info.layer_kinds:
        if kind not in LAYER_KINDS:
            yield _(
                "`layer_kinds` has {name!r}, expected one of {known}.",
                name=kind,
                known=", ".join(LAYER_KINDS),
            )
    for name in info.outputs:
        if fields.named(name) is None:
            yield _(
                "`outputs` has {name!r}, which is not a class of workbench.text.fields.", name=name
            )
    for name, axis in info.logits.items():
        if axis not in AXES:
            yield _(
                "`logits` gives {axis!r} for {name!r}, expected item, token or choice.",
                axis=axis,
                name=name,
            )
    if not isinstance(getattr(instance, "loss_targets", None), Mapping):
        yield _("It has no `loss_targets`: the name of each loss with the name of its targets.")
