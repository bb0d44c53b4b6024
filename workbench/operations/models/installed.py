"""The available models: starters, added folders, the Hugging Face cache; adding, removing,
downloading.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import settings as settings_file
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _, ngettext
from workbench.base.registry import registry
from workbench.base.settings import Settings
from workbench.base.watch import QUIET, Watch
from workbench.jobs.spec import JobSpec
from workbench.models import spec
from workbench.models.results import Download, Repository, SearchHit, SearchResult
from workbench.models.spec import ModelInfo, downloads, tokenizers
from workbench.models.spec.catalogue import Published, catalogue, matches
from workbench.tasks import spec as tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.jobs.queue import Queue


def list(settings: Settings | None = None) -> tuple[ModelInfo, ...]:  # noqa: A001 (read as models.list)
    """A card for every available model, including broken folders; names are unique."""
    chosen = settings or settings_file.load()
    added = [_card(folder, chosen) for folder in chosen.model_folders]
    cached = [_allowed(info, chosen) for info in spec.cached()]
    return _unique([*spec.starters(), *added, *cached])


def imports() -> tuple[str, ...]:
    """Modules that a worker can import before it knows its model: those that take long to."""
    families = registry().all("family")
    return tuple(name for entry in families for name in entry.options.get("imports", ()))


def _card(folder: str, settings: Settings, *, name: str = "", origin: str = "folder") -> ModelInfo:
    return spec.card(
        folder, allow_pickle=folder in settings.pickle_allowed, name=name, origin=origin
    )


def _allowed(info: ModelInfo, settings: Settings) -> ModelInfo:
    """A card of the cache, read again if its pickled weights were confirmed."""
    if info.path not in settings.pickle_allowed:
        return info
    card = _card(info.path, settings, name=info.name, origin=info.origin)
    return replace(card, downloaded=info.downloaded)


def _unique(models: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    names: set[str] = set()
    cards = []
    for info in models:
        name, number = info.name, 2
        while name in names:
            name, number = f"{info.name} {number}", number + 1
        names.add(name)
        cards.append(replace(info, name=name))
    return tuple(cards)


def info(name: str, settings: Settings | None = None) -> ModelInfo:
    """The card of the model with this name, or in this folder, with its problems if it has any.

    Raises ModelError that lists the known names.
    """
    chosen = settings or settings_file.load()
    known = list(chosen)
    card = next((info for info in known if info.name == name), None)
    if card is None and Path(name).exists():
        card = _card(str(Path(name).absolute()), chosen)
    if card is None:
        names = ", ".join(info.name for info in known)
        raise ModelError(
            _("There is no model {name!r}.", name=name),
            hint=_("Known: {names}. The path of a model folder can be given too.", names=names),
        )
    return card


def find(name: str, settings: Settings | None = None) -> ModelInfo:
    """As `info`, but raises ModelError if the model has problems."""
    card = info(name, settings)
    if card.problems:
        raise spec.unusable(card)
    return card


def trained(name: str, settings: Settings | None = None) -> ModelInfo:
    """As `find`, of a published model that predicts as it is. Raises ModelError for any other."""
    hint = _("For a run of a project, add --project FILE.")
    if not Path(name).exists() and all(setting.name != name for setting in list(settings)):
        raise ModelError(
            _("{name!r} is not a model folder or the name of a model.", name=name), hint=hint
        )
    card = find(name, settings)
    if not card.task:
        reasons = " ".join((*card.notes, hint))
        raise ModelError(_("{model} is not trained for a task.", model=name), hint=reasons)
    return card


def unfit(card: ModelInfo, task: str) -> str:
    """Why a usable model cannot be trained for a task; "" if it can."""
    missing = sorted(tasks.info(task).needs - {*card.gives})
    if not missing:
        return ""
    return _(
        "{model} ({family}) cannot be trained for this task, which needs {needs}.",
        model=card.name,
        family=card.architecture,
        needs=spec.gives_words(missing),
    )


# Uses of a language model besides training: name in JSON → required output and its title.
_LANGUAGE_USES = {
    "mask": ("masked_lm", N_("Masked words")),
    "next": ("next_lm", N_("Next words")),
    "previous": ("previous_lm", N_("Previous words")),
    "text": ("text_to_text", N_("Text to text")),
}


def uses(card: ModelInfo) -> dict[str, str]:
    """The uses of a model: tasks it can be trained for, then its own predictions.

    The values are display titles. Empty for a model that cannot be loaded.
    """
    if not card.gives:
        return {}
    fitting = {task.id: _(task.title) for task in tasks.all_tasks() if not unfit(card, task.id)}
    own = {id: _(title) for id, (need, title) in _LANGUAGE_USES.items() if need in card.gives}
    return {**fitting, **own}


def to_json(info: ModelInfo) -> dict[str, object]:
    """The card in machine-readable form, with the uses of the model."""
    return {**info.to_json(), "uses": [*uses(info)]}


def check_task(card: ModelInfo, task: str, settings: Settings | None = None) -> None:
    """Check before training: raises ModelError, naming available models that fit, if this one does
    not.
    """
    if card.problems:
        raise spec.unusable(card)
    if reason := unfit(card, task):
        fitting = [info.name for info in list(settings) if info.usable and not unfit(info, task)]
        hint = _("Models that support it: {names}.", names=", ".join(fitting[:5]))
        raise ModelError(reason, hint=hint if fitting else "")


def published(
    search: str = "", sort: str = "", *, settings: Settings | None = None
) -> tuple[Published, ...]:
    """The entries of the catalogue that match, each with its installed model.

    sort: the name of a field, "" for the order of the file; unknown values come last.
    """
    entries = catalogue()
    titles = {group.id: group.title for group in entries.groups}
    rows = [
        item
        for item in entries.with_installed(list(settings))
        if matches(item, titles[item.group], search)
    ]
    if sort:
        rows.sort(key=lambda item: _sort_key(getattr(item, sort)))
    return tuple(rows)


def _sort_key(value: object) -> tuple[bool, object]:
    return not value, value.casefold() if isinstance(value, str) else value


# ---------------------------------------------------------------- adding and removing


def add(
    folder: Path | str, *, allow_pickle: bool = False, settings: Settings | None = None
) -> ModelInfo:
    """Check a folder on disk and add it to the list. Raises ModelError as `examine` does."""
    chosen = settings or settings_file.load()
    allowed = allow_pickle or str(Path(folder).absolute()) in chosen.pickle_allowed
    return remember(examine(folder, allow_pickle=allowed), chosen)


def examine(folder: Path | str, *, allow_pickle: bool = False) -> ModelInfo:
    """The card of a folder that can be added. Run it in a thread: the tokenizer is read or
    converted.

    Raises ModelError saying what is missing; for pickled weights only without `allow_pickle`.
    """
    card = spec.read_folder(Path(folder).absolute(), allow_pickle=allow_pickle)
    _check_tokenizer(card)
    return card


def remember(info: ModelInfo, settings: Settings) -> ModelInfo:
    """Add a folder to the list; pickled weights that its card allows stay allowed."""
    if info.pickled and not info.untrusted:
        settings.pickle_allowed = _with(settings.pickle_allowed, info.path)
    settings.model_folders = _with(settings.model_folders, info.path)
    settings.save()
    return next(card for card in list(settings) if card.path == info.path)


def _with(items: Sequence[str], item: str) -> builtins.list[str]:
    return [*items, item] if item not in items else [*items]


def _check_tokenizer(card: ModelInfo) -> None:
    size = spec.preparer(card.path).size
    if card.vocabulary and (card.tokenizer or size > card.vocabulary):
        tokenizers.check(card.path, size, card.vocabulary)


@dataclass(frozen=True)
class Removal:
    """The effects of removing a model from the list: number of bytes that are deleted, 0 if files
    stay.
    """

    card: ModelInfo
    deletes: int


def removal(name: str, settings: Settings | None = None) -> Removal:
    """Raises ModelError for models that cannot be removed: the starters and downloads of other
    programs.
    """
    chosen = settings or settings_file.load()
    path = str(Path(name).absolute())
    cards = list(chosen)
    card = next((info for info in cards if info.name == name), None) or next(
        (info for info in cards if info.path == path and info.origin == "folder"), None
    )
    if card is None:
        raise ModelError(
            _("There is no model {name!r}.", name=name),
            hint=_("Known: {names}.", names=", ".join(info.name for info in cards)),
        )
    if card.origin == "starter":
        raise ModelError(_("{name} comes with Glossbench and cannot be removed.", name=card.name))
    if card.origin == "folder":
        return Removal(card, 0)
    if not card.downloaded:
        raise ModelError(
            _("{name} was not downloaded by Glossbench and will not be deleted.", name=card.name),
            hint=_(
                "The Hugging Face cache is shared. Use `hf cache` to list and delete its contents."
            ),
        )
    return Removal(card, downloads.size(spec.repository_of(card)))


def remove(name: str, *, delete: bool = False, settings: Settings | None = None) -> Removal:
    """Remove an added folder from the list; its files stay. A download is deleted only with
    `delete`.

    Raises ModelError as `removal` does, and if files would be deleted without `delete`.
    """
    chosen = settings or settings_file.load()
    planned = removal(name, chosen)
    if planned.card.origin == "cache" and not delete:
        raise ModelError(
            ngettext(
                "Removing {name} deletes its files ({size:,} byte).",
                "Removing {name} deletes its files ({size:,} bytes).",
                planned.deletes,
                name=name,
                size=planned.deletes,
            ),
            hint=_("Use --yes to confirm."),
        )
    delete_files(planned.card)
    forget(planned.card, chosen)
    return planned


def delete_files(card: ModelInfo) -> int:
    """Delete the files of a model that Glossbench downloaded, nothing else.

    Returns the bytes freed.
    """
    return downloads.delete(spec.repository_of(card)) if card.downloaded else 0


def forget(card: ModelInfo, settings: Settings) -> None:
    """Remove a model from the lists of added folders and confirmed pickles."""
    settings.model_folders = [
        model_folder for model_folder in settings.model_folders if model_folder != card.path
    ]
    settings.pickle_allowed = [text for text in settings.pickle_allowed if text != card.path]
    settings.save()


def allow_pickle(name: str, settings: Settings | None = None) -> ModelInfo:
    """Confirm that the pickled weights of a listed model may be loaded, and read its card again."""
    chosen = settings or settings_file.load()
    path = info(name, chosen).path
    if path not in chosen.pickle_allowed:
        chosen.pickle_allowed = [*chosen.pickle_allowed, path]
        chosen.save()
    return find(name, chosen)


# ---------------------------------------------------------------- downloading


def look_up(
    queue: Queue,
    model_id: str,
    settings: Settings | None = None,
    *,
    revision: str = "",
    watch: Watch = QUIET,
) -> Repository:
    """Query size and licence of a model from the hub.

    revision: branch, tag or commit, "" for main. Raises ModelError for what is not an id, and in
    offline mode; JobFailed and Cancelled.
    """
    params = {"id": _checked(model_id), "revision": revision.strip()}
    job = _hub_job("look_up", params, _("Look up {id}", id=model_id), settings)
    return Repository.from_json(queue.run(job, watch))


def search_hub(
    queue: Queue, words: str, settings: Settings | None = None, *, watch: Watch = QUIET
) -> tuple[SearchHit, ...]:
    """Search the hub for models in supported formats, most downloaded first.

    Raises ModelError without words to search for, and in offline mode; JobFailed and Cancelled.
    """
    if not words.strip():
        raise ModelError(_("Enter words to search for."))
    title = _("Search for {words}", words=words.strip())
    job = _hub_job("search", {"words": words.strip()}, title, settings)
    return SearchResult.from_json(queue.run(job, watch)).hits


def download(
    queue: Queue,
    model_id: str,
    *,
    revision: str = "",
    allow_pickle: bool = False,
    settings: Settings | None = None,
    watch: Watch = QUIET,
) -> Download:
    """Download a model into the Hugging Face cache.

    The worker yields "step" and "total" in bytes and the name of the "file". Raises ModelError for
    what is not an id, and in offline mode; JobFailed and Cancelled.
    """
    params = {"id": _checked(model_id), "revision": revision, "allow_pickle": allow_pickle}
    job = _hub_job("download", params, _("Download {id}", id=model_id), settings)
    return Download.from_json(queue.run(job, watch))


def _checked(model_id: str) -> str:
    name = model_id.strip().removeprefix("https://huggingface.co/").strip("/")
    parts = name.split("/")
    if not 1 <= len(parts) <= 2 or not all(
        part and part[0] != "." and all(c.isalnum() or c in "-_." for c in part) for part in parts
    ):
        raise ModelError(
            _("{id!r} is not a model id.", id=model_id),
            hint=_("The format of an id is distilbert/distilbert-base-uncased."),
        )
    return name


def _hub_job(
    function: str, params: dict[str, Any], title: str, settings: Settings | None
) -> JobSpec:
    if (settings or settings_file.load()).offline:
        raise ModelError(
            _("Glossbench is in offline mode; the network is not used."),
            hint=_("Turn off offline mode in the settings first."),
        )
    return JobSpec(
        f"workbench.models.hub:{function}",
        params,
        device="",
        title=title,
        env={"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"},
    )


def argument(path: str, name: str) -> str:
    """What a command takes for a model: its name if it is in the list, else its path."""
    return name if name and path in {model.path for model in list()} else path
