"""The models a person can choose: starters, folders added, the Hugging Face cache; adding, removing, downloading."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import settings as settings_file
from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.base.settings import Settings
from workbench.jobs.spec import JobSpec
from workbench.models import spec
from workbench.models.spec import ModelInfo

if TYPE_CHECKING:
    from collections.abc import Sequence


def list(settings: Settings | None = None) -> tuple[ModelInfo, ...]:  # noqa: A001 (read as models.list)
    """A card for every model at hand, broken folders included; names are unique."""
    chosen = settings or settings_file.load()
    added = [_card(folder, chosen) for folder in chosen.model_folders]
    return _unique([*spec.starters(), *added, *(_allowed(one, chosen) for one in spec.cached())])


def _card(folder: str, settings: Settings, *, name: str = "", origin: str = "folder") -> ModelInfo:
    return spec.card(
        folder, allow_pickle=folder in settings.pickle_allowed, name=name, origin=origin
    )


def _allowed(info: ModelInfo, settings: Settings) -> ModelInfo:
    """A card of the cache read again where its pickled weights were confirmed."""
    return (
        _card(info.path, settings, name=info.name, origin=info.origin)
        if info.path in settings.pickle_allowed
        else info
    )


def _unique(found: Sequence[ModelInfo]) -> tuple[ModelInfo, ...]:
    from dataclasses import replace

    names: set[str] = set()
    cards = []
    for one in found:
        name, number = one.name, 2
        while name in names:
            name, number = f"{one.name} {number}", number + 1
        names.add(name)
        cards.append(replace(one, name=name))
    return tuple(cards)


def find(name: str, settings: Settings | None = None) -> ModelInfo:
    """The usable model with this name, or in this folder. Raises ModelError that lists those known, or says what is wrong with it."""
    chosen = settings or settings_file.load()
    known = list(chosen)
    info = next((one for one in known if one.name == name), None)
    if info is None and Path(name).is_dir():
        info = _card(str(Path(name).absolute()), chosen)
    if info is None:
        names = ", ".join(one.name for one in known)
        raise ModelError(
            _("There is no model {name!r}.").format(name=name),
            hint=_("Known: {names}. A folder of a model can be named too.").format(names=names),
        )
    return spec.read_folder(
        info.path,
        allow_pickle=info.path in chosen.pickle_allowed,
        name=info.name,
        origin=info.origin,
    )


def info(name: str, settings: Settings | None = None) -> ModelInfo:
    return find(name, settings)


def add(
    folder: Path | str, *, allow_pickle: bool = False, settings: Settings | None = None
) -> ModelInfo:
    """Remember a folder on disk. Raises ModelError saying what is missing; pickled weights only with `allow_pickle`."""
    chosen = settings or settings_file.load()
    path = str(Path(folder).absolute())
    found = spec.read_folder(path, allow_pickle=allow_pickle or path in chosen.pickle_allowed)
    if found.pickled and path not in chosen.pickle_allowed:
        chosen.pickle_allowed = [*chosen.pickle_allowed, path]
    if path not in chosen.model_folders:
        chosen.model_folders = [*chosen.model_folders, path]
    chosen.save()
    return next(one for one in list(chosen) if one.path == path)


def remove(name: str, settings: Settings | None = None) -> None:
    """Forget a folder that was added; its files stay. Raises ModelError for the starters and the cache."""
    chosen = settings or settings_file.load()
    found = next((one for one in list(chosen) if one.name == name), None)
    if found is None or found.origin != "folder":
        raise ModelError(
            _("{name!r} is no folder that was added, so it cannot be taken from the list.").format(
                name=name
            )
        )
    chosen.model_folders = [one for one in chosen.model_folders if one != found.path]
    chosen.pickle_allowed = [one for one in chosen.pickle_allowed if one != found.path]
    chosen.save()


def allow_pickle(name: str, settings: Settings | None = None) -> ModelInfo:
    """Confirm that the pickled weights of a listed model may be opened, and give its card anew."""
    chosen = settings or settings_file.load()
    found = next((one for one in list(chosen) if one.name == name), None)
    if found is None:
        raise ModelError(_("There is no model {name!r}.").format(name=name))
    if found.path not in chosen.pickle_allowed:
        chosen.pickle_allowed = [*chosen.pickle_allowed, found.path]
        chosen.save()
    return find(name, chosen)


# ---------------------------------------------------------------- downloading


def look_up(model_id: str, settings: Settings | None = None) -> JobSpec:
    """The job that asks the hub for size and licence; its result is a dict with id, revision, licence, size_bytes, files, pickled, family."""
    return _hub_job(
        "look_up", {"id": _checked(model_id)}, _("Look up {id}").format(id=model_id), settings
    )


def download(
    model_id: str,
    *,
    revision: str = "",
    allow_pickle: bool = False,
    settings: Settings | None = None,
) -> JobSpec:
    """The job that fetches a model into the Hugging Face cache; it yields progress (done and total bytes), its result has `path`."""
    params = {"id": _checked(model_id), "revision": revision, "allow_pickle": allow_pickle}
    return _hub_job("download", params, _("Download {id}").format(id=model_id), settings)


def _checked(model_id: str) -> str:
    name = model_id.strip().removeprefix("https://huggingface.co/").strip("/")
    parts = name.split("/")
    if not 1 <= len(parts) <= 2 or not all(
        part and part[0] != "." and all(c.isalnum() or c in "-_." for c in part) for part in parts
    ):
        raise ModelError(
            _("{id!r} is no model id.").format(id=model_id),
            hint=_("An id looks like distilbert/distilbert-base-uncased."),
        )
    return name


def _hub_job(function: str, params: dict, title: str, settings: Settings | None) -> JobSpec:
    if (settings or settings_file.load()).offline:
        raise ModelError(
            _("Glossbench is in offline mode: nothing is fetched from the network."),
            hint=_("Switch offline mode off in the settings first."),
        )
    return JobSpec(
        f"workbench.models.hub:{function}",
        params,
        device="",
        title=title,
        env={"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"},
    )
