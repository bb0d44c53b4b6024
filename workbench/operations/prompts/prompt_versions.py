"""Prompts as objects of a project: each has versions, which hold all of its settings.

A version is saved without what belongs to a run or to this computer (`_OF_RUNS`), so it is the same
everywhere. Those that an earlier version of the application saved have a template only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base.errors import SpecError
from workbench.base.i18n import _
from workbench.base.records import to_plain
from workbench.base.terms import term
from workbench.operations.runs.kinds.prompt.info import INFO
from workbench.prompting.answers import forms
from workbench.prompting.spec import BY_VECTORS, LOCAL, SCORED, PromptSpec
from workbench.storage.runs import prompts, runs
from workbench.storage.runs.prompts import PromptVersion, StoredPrompt
from workbench.tasks import spec as tasks
from workbench.text.columns import Column, ValueKind
from workbench.text.line_difference import DifferenceLine, compared

if TYPE_CHECKING:
    from workbench.project.project import Project
    from workbench.storage.runs.runs import Run

AT = "@"  # between name and version
_OF_RUNS = (
    "template", "name", "device", "allow_pickle", "sample", "prompt_name", "prompt_version",
)  # fmt: skip
_OF_ALL = ("model", "options", "seed")


@dataclass(frozen=True)
class PromptSetting:
    """A setting as text. key: its name, such as "answer.form", or "words.PER" of a label."""

    key: str
    title: str
    value: str


@dataclass(frozen=True)
class SettingChange:
    """A setting that differs; "" on the side that does not have it."""

    key: str
    title: str
    before: str
    after: str

    @property
    def text(self) -> str:
        return _(
            "{title}: {before} → {after}",
            title=self.title,
            before=self.before or "–",
            after=self.after or "–",
        )


@dataclass(frozen=True)
class PromptDifference:
    """template: all lines of both templates; () if they are equal."""

    template: tuple[DifferenceLine, ...]
    settings: tuple[SettingChange, ...]

    def __bool__(self) -> bool:
        return bool(self.template or self.settings)

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = to_plain(self)
        return plain


# ---------------------------------------------------------------- reading


def every(project: Project) -> tuple[StoredPrompt, ...]:
    """All prompts of a project with their versions, by name."""
    return prompts.all(project.db)


def named(project: Project, name: str) -> StoredPrompt:
    """Raises SpecError naming the prompts of the project."""
    known = every(project)
    for prompt in known:
        if prompt.name == name:
            return prompt
    raise SpecError(
        _("There is no prompt {name!r}.", name=name),
        hint=_("Known: {names}.", names=", ".join(prompt.name for prompt in known) or "–"),
    )


def version_named(project: Project, name: str) -> tuple[StoredPrompt, PromptVersion]:
    """The version of NAME or NAME@VERSION, by default the latest one. Raises SpecError."""
    known = {prompt.name: prompt for prompt in every(project)}
    whole, _at, number = name.rpartition(AT)
    if name in known or not whole or not number.isdecimal():
        prompt = named(project, name)
        return prompt, prompt.versions[-1]
    prompt = named(project, whole)
    return prompt, version(prompt, int(number))


def version(prompt: StoredPrompt, number: int) -> PromptVersion:
    """Raises SpecError."""
    for each in prompt.versions:
        if each.number == number:
            return each
    raise SpecError(
        _("Prompt {name!r} has no version {number}.", name=prompt.name, number=number),
        hint=_("Its latest version is {number}.", number=prompt.versions[-1].number),
    )


def spec_of(
    prompt: StoredPrompt, version: PromptVersion, current: PromptSpec | None = None
) -> PromptSpec:
    """A version as settings. What it does not hold, such as the path of the model, is `current`.

    Raises SpecError for settings of a later version of the application.
    """
    current = current or PromptSpec(template="", model="")
    own = version.spec
    if own.get("model_name") and own["model_name"] != current.model_name:
        current = replace(current, model="", allow_pickle=False)
    about = {"template": version.body, "prompt_name": prompt.name}
    raw = {**current.to_json(), **own, **about, "prompt_version": version.number}
    try:
        return PromptSpec.from_json(raw)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SpecError(
            _("Version {number} of {name!r} is damaged.", number=version.number, name=prompt.name)
        ) from error


def name_of(spec: PromptSpec) -> str:
    """NAME@VERSION of the prompt that settings are of; NAME if no version has them, "" for none."""
    version = f"{AT}{spec.prompt_version}" if spec.prompt_version else ""
    return f"{spec.prompt_name}{version}" if spec.prompt_name else ""


def stored(spec: PromptSpec) -> dict[str, Any]:
    """The settings that a version holds, beside its template; of a folder only the model's name."""
    plain = spec.to_json()
    here = spec.model_name and Path(spec.model).is_absolute()
    of_runs = (*_OF_RUNS, "model") if here or not spec.model else _OF_RUNS
    return {name: value for name, value in plain.items() if name not in of_runs}


def identity(spec: PromptSpec) -> str:
    """Equal for settings that differ only in what belongs to a run or to this computer."""
    return json.dumps([spec.template, stored(spec)], sort_keys=True, ensure_ascii=False)


# ---------------------------------------------------------------- changing


def save(project: Project, name: str, spec: PromptSpec, *, origin: object = None) -> PromptSpec:
    """Save settings as the latest version of a prompt, which is created if there is none.

    One undo step. Returns the settings with name and version; if nothing has changed, those of the
    latest version. Raises SpecError for an empty name.
    """
    name = _checked(name)
    prompt = prompts.by_name(project.db, name)
    content = stored(spec)
    if prompt is None or (prompt.body, prompt.versions[-1].spec) != (spec.template, content):
        with project.edit(_("Save prompt {name}", name=name), origin=origin):
            if prompt is None:
                prompt = prompts.add(project.db, name, spec.template, content)
            else:
                prompts.add_version(project.db, prompt.id, spec.template, content)
                prompt = prompts.get(project.db, prompt.id)
    return replace(spec, prompt_name=name, prompt_version=prompt.versions[-1].number)


def rename(project: Project, name: str, new: str, *, origin: object = None) -> None:
    """Raises SpecError for an empty name, or that of another prompt."""
    prompt, new = named(project, name), _checked(new)
    if new == name:
        return
    _refuse_known(project, new)
    with project.edit(_("Rename prompt {name}", name=name), origin=origin):
        prompts.rename(project.db, prompt.id, new)


def duplicate(project: Project, name: str, new: str = "", *, origin: object = None) -> StoredPrompt:
    """Copy the latest version of a prompt, or NAME@VERSION, to a prompt of its own."""
    prompt, source = version_named(project, name)
    new = _checked(new or free_name(project, _("{name} copy", name=prompt.name)))
    _refuse_known(project, new)
    with project.edit(_("Duplicate prompt {name}", name=prompt.name), origin=origin):
        return prompts.add(project.db, new, source.body, source.spec)


def delete(project: Project, name: str, *, origin: object = None) -> None:
    """Delete a prompt with all versions. Its runs stay."""
    prompt = named(project, name)
    with project.edit(_("Delete prompt {name}", name=name), origin=origin):
        prompts.delete(project.db, prompt.id)


def restore(project: Project, name: str, number: int, *, origin: object = None) -> PromptVersion:
    """Make an earlier version the latest one: it is saved again, under a new number."""
    prompt = named(project, name)
    old = version(prompt, number)
    title = _("Restore version {number} of {name}", number=number, name=name)
    with project.edit(title, origin=origin):
        return prompts.add_version(project.db, prompt.id, old.body, old.spec)


def free_name(project: Project, stem: str) -> str:
    """`stem`, with a number if a prompt has the name."""
    names = {prompt.name for prompt in every(project)}
    number, name = 1, stem
    while name in names:
        number += 1
        name = _("{stem} {number}", stem=stem, number=number)
    return name


def _checked(name: str) -> str:
    if not name.strip():
        raise SpecError(_("A prompt needs a name."))
    return name.strip()


def _refuse_known(project: Project, name: str) -> None:
    if prompts.by_name(project.db, name) is not None:
        raise SpecError(_("There is a prompt {name!r}.", name=name), hint=_("Choose another name."))


# ---------------------------------------------------------------- settings as text


def settings(spec: PromptSpec, *, own: bool = False) -> tuple[PromptSetting, ...]:
    """What was chosen for a prompt, beside its template; what has no effect is left out.

    own: without what every run has, such as its model.
    """
    return tuple(
        PromptSetting(key, title, str(value))
        for key, title, value in _settings(spec)
        if value not in ("", None) and not (own and key.partition(".")[0] in _OF_ALL)
    )


def _settings(spec: PromptSpec) -> Iterator[tuple[str, str, object]]:
    yield "instruction", _("Instruction"), spec.instruction
    yield "model", _("Model"), spec.model_name or spec.model
    if spec.backend != LOCAL:
        yield "backend", _("Prompt backend"), spec.backend
    for name, value in spec.options.items():
        yield f"options.{name}", name.replace("_", " ").capitalize(), value
    if spec.chat:
        yield "chat", _("Conversation"), _("yes")
    yield from _example_settings(spec)
    yield from _answer_settings(spec)
    for label, words in spec.words.items():
        yield f"words.{label}", _("Words of {label}", label=label), ", ".join(words)
    for label, text in spec.descriptions.items():
        yield f"descriptions.{label}", _("Description of {label}", label=label), text


def _example_settings(spec: PromptSpec) -> Iterator[tuple[str, str, object]]:
    yield "shots", _("Examples"), spec.shots
    if not spec.shots:
        return
    yield "order", _("Selection of examples"), term(spec.order)
    yield "arrangement", _("Order of examples"), term(spec.arrangement)
    if spec.orders > 1:
        yield "orders", _("Orders that are scored"), spec.orders
    yield "seed", _("Seed of examples"), spec.seed
    if spec.every_label:
        yield "every_label", _("Every label at least once"), _("yes")
    if spec.order == "pinned":
        yield "pinned", _("Pinned documents"), ", ".join(map(str, spec.pinned))
    if spec.order == "uncertain":
        yield "source_run", _("Uncertain under run"), spec.source_run
    if spec.order in BY_VECTORS:
        yield "vectors", _("Similarity by"), spec.vectors
    if spec.order == "mmr":
        yield "diversity", _("Diversity"), f"{spec.diversity:g}"


def _answer_settings(spec: PromptSpec) -> Iterator[tuple[str, str, object]]:
    answer, decoding = spec.answer, spec.decoding
    known = forms.FORMS.get(answer.form)
    yield "answer.form", _("Answer"), _(known.title) if known else answer.form
    if known is None or known.patterned:
        yield "answer.pattern", _("Pattern"), answer.pattern
    if known is None or known.marked:
        yield "answer.marker", _("Marker of the answer"), answer.marker
    if known is None or known.mentions:
        yield "answer.mentions", _("Occurrences of a quoted string"), term(answer.mentions)
    if answer.form == SCORED:
        yield "calibration", _("Calibration"), term(spec.calibration)
        return
    if answer.constrained:
        yield "answer.constrained", _("Reply restricted to the form"), _("yes")
    yield "decoding.max_tokens", _("Tokens of a reply"), decoding.max_tokens
    yield "decoding.temperature", _("Temperature"), f"{decoding.temperature:g}"
    if decoding.temperature:
        yield "decoding.top_k", _("Top-k"), decoding.top_k or None
        yield "decoding.top_p", _("Top-p"), f"{decoding.top_p:g}"
        yield "decoding.seed", _("Seed of replies"), decoding.seed
    yield "decoding.stop", _("Stop words"), ", ".join(map(repr, decoding.stop))
    if decoding.samples > 1:
        yield "decoding.samples", _("Replies per document"), decoding.samples


def difference(before: PromptSpec, after: PromptSpec) -> PromptDifference:
    """What one version has that the other has not."""
    old, new = ({row.key: row for row in settings(spec)} for spec in (before, after))
    changes = []
    for key, row in {**old, **new}.items():
        values = [side[key].value if key in side else "" for side in (old, new)]
        if values[0] != values[1]:
            changes.append(SettingChange(key, row.title, *values))
    return PromptDifference(compared(before.template, after.template), tuple(changes))


# ---------------------------------------------------------------- lists, runs


@dataclass(frozen=True)
class VersionRow:
    """A version of a prompt. run, metric, score: of its latest run with a score on dev, if any."""

    name: str
    number: int
    at: str
    is_latest: bool
    spec: PromptSpec
    run: str | None = None
    metric: str | None = None
    score: float | None = None


def rows(project: Project) -> tuple[VersionRow, ...]:
    """All versions of all prompts: by name, the latest first. Damaged ones are left out."""
    known = runs_of(project)
    rows = []
    for prompt in every(project):
        for version in reversed(prompt.versions):
            with suppress(SpecError):
                spec = spec_of(prompt, version)
                latest = version is prompt.versions[-1]
                row = VersionRow(prompt.name, version.number, version.at, latest, spec)
                rows.append(_with_run(row, known.get(identity(spec))))
    return tuple(rows)


def _with_run(row: VersionRow, run: Run | None) -> VersionRow:
    if run is None:
        return row
    scores = run.scores["dev"]
    metric = next(iter(tasks.score_names(scores, run.spec.get("task", ""))), None)
    return replace(row, run=run.name, metric=metric, score=scores.get(metric))


def columns() -> tuple[Column, ...]:
    """Of `rows`."""
    return (
        Column(_("Prompt"), lambda row: row.name, key="name"),
        Column(_("Version"), lambda row: row.number, kind=ValueKind.COUNT, key="version"),
        Column(_("Saved"), lambda row: row.at, kind=ValueKind.TIME, key="at"),
        Column(_("Model"), lambda row: row.spec.model_name or None, key="model"),
        Column(_("Examples"), lambda row: row.spec.shots, kind=ValueKind.COUNT, key="shots"),
        Column(_("Run"), lambda row: row.run, key="run"),
        Column(_("Score on dev"), lambda row: row.metric, key="metric"),
        Column(_("Value"), lambda row: row.score, kind=ValueKind.NUMBER, key="score"),
    )


def spec_of_run(run: Run) -> PromptSpec | None:
    """The settings of a prompt run; None for another one, and if they are damaged."""
    if run.kind != INFO.id:
        return None
    try:
        spec = PromptSpec.from_json({"template": "", "model": "", **run.spec})
        return replace(spec, layer=run.layer)
    except (TypeError, ValueError, KeyError, AttributeError, SpecError):
        return None


def runs_of(project: Project) -> dict[str, Run]:
    """The latest run with a score on dev, by the `identity` of its settings."""
    scored = (run for run in runs.all(project.db) if run.scores.get("dev"))
    pairs = ((spec_of_run(run), run) for run in sorted(scored, key=lambda run: run.id))
    return {identity(spec): run for spec, run in pairs if spec is not None}
