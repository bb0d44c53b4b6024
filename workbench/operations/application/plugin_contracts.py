"""Whether the code of a contribution conforms to its contract: members, signatures, declarations.

The contracts are the classes that the application uses itself. What code returns is checked where
it is used.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.manifest import Contribution
from workbench.base.options import Option
from workbench.inspection.spec import DOCUMENTS, LABELS, LAYER
from workbench.text.labels import LAYER_KINDS

CONTRACTS: Mapping[str, tuple[str, str]] = {  # kind → the contracts of its object and of its info
    "importer": ("importers.base:Importer", ""),
    "segmenter": ("text.segmenters.base:Segmenter", ""),
    "task": ("tasks.base:Task", "tasks.spec:TaskInfo"),
    "prediction": ("text.result_view:ResultView", ""),
    "family": ("models.base:Family", "models.spec:FamilyInfo"),
    "method": ("training.methods.base:Method", "training.methods.spec:MethodInfo"),
    "objective": ("pretraining.objectives.base:Objective", "pretraining.spec:ObjectiveInfo"),
    "baseline": ("baselines.base:Baseline", "baselines.spec:BaselineInfo"),
    "inspector": ("inspection.base:Inspector", "inspection.spec:InspectorInfo"),
    "backend": ("prompting.backends.base:Backend", "prompting.backends.spec:BackendInfo"),
    "strategy": ("active.base:Strategy", ""),
    "exporter": ("exporters.data.base:DataExporter", ""),
    "model_exporter": ("exporters.model.base:ModelExporter", "exporters.model.spec:ExporterInfo"),
    "run_kind": (
        "operations.runs.kinds.contract:RunKind",
        "operations.runs.kinds.contract:RunKindInfo",
    ),
    "panel": ("ui.panel:Panel", ""),
}
EXAMINER, FOLDER_EXPORTER = "inspection.base:Examiner", "exporters.data.base:FolderExporter"
WITH_INFO = tuple(  # kinds that have a light part in any case
    kind for kind, (_object, info) in CONTRACTS.items() if info and kind != "inspector"
)
# Kind → the contract of its view, the method that a view implements, and what describes a view in
# place of a class, "" for nothing.
VIEWS: Mapping[str, tuple[str, str, str]] = {
    "inspector": (
        "ui.panels.inspect.base:InspectorView",
        "show_result",
        "ui.panels.inspect.parts:ViewSpec",
    ),
    "prediction": (
        "ui.panels.results.review.error_detail:PredictionWidget",
        "show_prediction",
        "",
    ),
}
OPTION_KINDS = ("int", "float", "bool", "choice", "text")
AXES = ("item", "token", "choice", "text")  # of `TaskInfo.logits`


def imported(target: str | None) -> Any:
    """The object of "module:name", None without a target; raises what its import raises."""
    if target is None:
        return None
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


def fault(contribution: Contribution, instance: Any, info: Any = None) -> str:
    """The first thing that does not conform, "" if nothing was found.

    instance: the object that the manifest names, in most cases a class. info: its light part, None
    without one.
    """
    return next(_faults(contribution, instance, info), "")


def _faults(contribution: Contribution, instance: Any, info: Any) -> Iterator[str]:
    kind = contribution.kind
    target, info_target = CONTRACTS[kind]
    if contribution.options.get("folder"):
        target = FOLDER_EXPORTER
    if kind == "inspector" and hasattr(instance, "examine"):
        target = EXAMINER
    contract = imported(f"workbench.{target}")
    yield from _missing(instance, contract)
    if kind in WITH_INFO and getattr(instance, "info", None) is not info:
        yield _("Its attribute `info` is not the object that plugin.toml names.")
    if info is not None and getattr(info, "id", None) != contribution.id:
        yield _(
            "Its info has the id {theirs!r}, but plugin.toml says {id!r}.",
            theirs=getattr(info, "id", None),
            id=contribution.id,
        )
    yield from _uncallable(instance, contract)
    if info is not None:
        contract = imported(f"workbench.{info_target}")
        yield from _missing(info, contract)
        yield from _uncallable(info, contract)
    for owner in (instance, info):
        yield from _unlike_options(getattr(owner, "options", ()))
    key = getattr(getattr(instance, "field", None), "key", None)
    if kind == "prediction" and key != contribution.id:
        yield _(
            "Its field is stored as {key!r}, but plugin.toml says {id!r}.",
            key=key,
            id=contribution.id,
        )
    if declarations := DECLARATIONS.get(kind):
        yield from declarations(instance, info)


def view_fault(kind: str, view: Any) -> str:
    """As `fault`, for the view of a contribution. Imports Qt."""
    if kind not in VIEWS:
        return ""
    target, shows, described = VIEWS[kind]
    contract = imported(f"workbench.{target}")
    description = imported(f"workbench.{described}") if described else None
    is_class = inspect.isclass(view)
    if description is not None and isinstance(view, description):
        return ""
    if is_class:
        faults = [*_missing(view, contract), *_uncallable(view, contract)]
        if not faults and getattr(view, shows) is getattr(contract, shows):
            faults = [_("It does not implement {names}.", names=shows)]
    elif callable(view):
        faults = []
    elif description is None:
        faults = [_("Derive it from {base}.", base=contract.__qualname__)]
    else:
        names = {"described": description.__qualname__, "base": contract.__qualname__}
        faults = [_("Describe it by {described}, or derive it from {base}.", **names)]
    return _("Its view: {fault}", fault=faults[0]) if faults else ""


def _unlike_options(options: Any) -> Iterator[str]:
    """Settings that no form can show, and defaults that do not fit them."""
    if not all(isinstance(option, Option) for option in options):
        yield _("Its `options` are not all of the class Option.")
        return
    for option in options:
        if option.kind not in OPTION_KINDS:
            yield _(
                "The option {name!r} has the kind {kind!r}, expected one of {known}.",
                name=option.name,
                kind=option.kind,
                known=", ".join(OPTION_KINDS),
            )
        else:
            try:
                option.checked(option.default)
            except SpecError as error:
                yield _("The default of an option does not fit: {error}", error=error.message)


def _members(contract: type) -> list[str]:
    """The public names of a contract. `info` is compared with the manifest."""
    names: dict[str, None] = {}
    for cls in contract.__mro__:
        if cls.__module__.startswith("workbench."):
            names |= dict.fromkeys([*vars(cls).get("__annotations__", ()), *vars(cls)])
    hidden = ("info", "staticMetaObject")  # the second is Qt's
    return [name for name in names if not name.startswith("_") and name not in hidden]


def _missing(owner: Any, contract: type) -> Iterator[str]:
    """Members that an object, or its info, does not have."""
    if names := ", ".join(name for name in _members(contract) if not hasattr(owner, name)):
        is_class, base = inspect.isclass(owner), f"{contract.__module__}.{contract.__qualname__}"
        derived = contract in (owner if is_class else type(owner)).__mro__
        template = _("It has no {names}.") if is_class else _("Its info has no {names}.")
        advice = "" if derived or _is_protocol(contract) else _("Derive it from {base}.", base=base)
        yield f"{template.format(names=names)} {advice}".rstrip()
    if inspect.isabstract(owner):
        names = ", ".join(sorted(owner.__abstractmethods__))
        yield _("It does not implement {names}.", names=names)


def _is_protocol(contract: type) -> bool:
    return bool(getattr(contract, "_is_protocol", False))


def _uncallable(owner: Any, contract: type) -> Iterator[str]:
    """Methods that cannot be called as those of the contract are."""
    names = _members(contract)
    if inspect.isclass(owner) and not _is_protocol(contract) and "__init__" in vars(contract):
        names = ["__init__", *names]
    for name in names:
        function, theirs = getattr(contract, name, None), getattr(owner, name, None)
        if not inspect.isroutine(function) or not callable(theirs):
            continue
        positional, named = _arguments(function)
        static = isinstance(inspect.getattr_static(owner, name), staticmethod)
        bound = not inspect.isclass(owner) or not inspect.isfunction(theirs) or static
        try:
            inspect.signature(theirs).bind(*([] if bound else [None]), *positional, **named)
        except TypeError as error:
            call = ", ".join([*positional, *(f"{argument}=…" for argument in named)])
            yield _(
                "`{name}` is called with ({arguments}): {error}.",
                name=name,
                arguments=call,
                error=error,
            )
        except ValueError:  # a builtin, which has no signature
            continue


def _arguments(function: Callable[..., Any]) -> tuple[list[str], dict[str, None]]:
    """The arguments of a contract's method: by position, and by name."""
    parameters = list(inspect.signature(function).parameters.values())
    if inspect.isfunction(function):  # of an instance: self
        parameters = parameters[1:]
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    return positional, {each.name: None for each in parameters if each.kind is each.KEYWORD_ONLY}


# ---------------------------------------------------------------- declarations


def _of_task(instance: Any, info: Any) -> Iterator[str]:
    """Names in the declarations of a task that do not exist."""
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
    yield from _unknown_fields("outputs", info.outputs)
    for name, axis in info.logits.items():
        if axis not in AXES:
            yield _(
                "`logits` gives {axis!r} for {name!r}, expected item, token, choice or text.",
                axis=axis,
                name=name,
            )
    if not isinstance(instance.loss_targets, Mapping):
        yield _("It has no `loss_targets`: the name of each loss with the name of its targets.")


def _of_baseline(instance: Any, info: Any) -> Iterator[str]:
    """Declarations of a baseline that nothing fits."""
    if info.output:
        yield from _unknown_fields("output", (info.output,))
    if info.unit not in AXES[:2]:
        yield _("`unit` is {name!r}, expected item or token.", name=info.unit)


def _unknown_fields(key: str, names: tuple[str, ...]) -> Iterator[str]:
    from workbench.text import fields  # imports numpy

    for name in names:
        if fields.named(name) is None:
            yield _(
                "`{key}` has {name!r}, which is not a class of workbench.text.fields.",
                key=key,
                name=name,
            )


def _of_inspector(instance: Any, info: Any) -> Iterator[str]:
    """What an inspector must declare, more of it one of the documents of a project."""
    if info is not None and not is_dataclass(info.result):
        yield _("`result` is {value!r}, expected the dataclass that it returns.", value=info.result)
    if info is None or not hasattr(instance, "examine"):
        return
    if not info.examines:
        yield _("It has `examine`, but its info does not say what it examines (`examines`).")
    required = (DOCUMENTS, *([LAYER] if info.examines == LABELS else []))
    known = {option.name for option in info.options}
    for name in required:
        if name not in known:
            yield _("It examines documents of the project, but has no option {name!r}.", name=name)


DECLARATIONS: Mapping[str, Callable[[Any, Any], Iterator[str]]] = {
    "task": _of_task,
    "baseline": _of_baseline,
    "inspector": _of_inspector,
}
