"""ModelInfo: what a model folder says about itself, without loading anything."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from stat import S_ISREG

from workbench.base.errors import ModelError
from workbench.base.i18n import _
from workbench.models.spec import config as configs
from workbench.models.spec import families, weights

MOST_CARDS = 500  # kept in memory
MOST_FILES = 10_000  # looked at in a folder, and named on its card: 100
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelInfo:
    """The card of a model. Numbers are 0 and texts "" where they are not known.

    `problems` is empty for a usable folder. `untrusted`: the weights are pickled and the user has
    not confirmed them, which is a problem too. `files`: name and bytes, largest first.
    """

    name: str
    path: str
    family: str = ""
    format: str = ""  # the family of the registry that loads it
    parameters: int = 0
    layers: int = 0
    width: int = 0
    vocabulary: int = 0
    max_length: int = 0
    licence: str = ""
    size_bytes: int = 0
    uses: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()  # to a task, keys of families.GIVES
    dtype: str = ""
    pickled: bool = False
    labels: tuple[str, ...] = ()  # of a model that already has a head
    origin: str = "folder"  # starter, folder, cache, run
    problems: tuple[str, ...] = ()
    untrusted: bool = False
    tokenizer: str = ""  # the file that it is read or converted from
    files: tuple[tuple[str, int], ...] = ()
    downloaded: bool = False  # into the cache by Glossbench, which may delete it again

    @property
    def usable(self) -> bool:
        return not self.problems

    @property
    def only_untrusted(self) -> bool:
        """Whether nothing but the user's confirmation is missing."""
        return self.untrusted and len(self.problems) == 1

    def to_json(self) -> dict:
        return {
            **{one.name: _plain(getattr(self, one.name)) for one in fields(self)},
            "files": [{"name": name, "bytes": size} for name, size in self.files],
        }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def read_folder(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of a usable model folder. Raises ModelError saying what is missing or broken."""
    info = card(path, allow_pickle=allow_pickle, name=name, origin=origin)
    if info.problems:
        raise unusable(info)
    return info


def heads(info: ModelInfo) -> frozenset[str]:
    """The heads that the library has for the model, see LoadOptions.head."""
    return families.library_heads(info.family, info.uses)


def unusable(info: ModelInfo) -> ModelError:
    """The error that names a card's problems."""
    hint = _(
        "A model folder holds config.json, model.safetensors and tokenizer.json, as "
        "save_pretrained writes them."
    )
    if info.only_untrusted:
        hint = _(
            "Confirm that you trust its source (--allow-pickle), or get a version with "
            "model.safetensors."
        )
    return ModelError(
        _("{path} is not a usable model: {problems}.").format(
            path=info.path, problems="; ".join(info.problems)
        ),
        hint=hint,
    )


def check_use(info: ModelInfo, use: str) -> None:
    """Raises ModelError if the model cannot be used so; `use` is a key of families.USES."""
    if use in info.uses:
        return
    fitting = ", ".join(_(families.USES[one]) for one in info.uses)
    raise ModelError(
        _("{model} ({family}) cannot be used for {use}.").format(
            model=info.name, family=info.family, use=_(families.USES[use])
        ),
        hint=_("It can be used for: {uses}.").format(uses=fitting) if fitting else "",
    )


def card(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of any folder; what is wrong with it is in `problems`. Raises nothing."""
    folder = Path(path)
    info = ModelInfo(name or folder.name, str(folder), origin=origin)
    try:
        if not folder.is_dir():
            return replace(info, problems=(_("there is no such folder"),))
        found = _known(folder, allow_pickle)
        return replace(found, name=info.name, origin=origin)
    except OSError as error:  # a folder that may not be entered
        reason = error.strerror or str(error)
    except Exception as error:  # a bug here must not hide the other models of a list
        log.exception("the card of %s cannot be read", folder)
        reason = f"{type(error).__name__}: {error}"[:200]
    return replace(info, problems=(_("it cannot be read ({error})").format(error=reason),))


# By name, size and time of all files: checking a tokenizer of 17 MB takes 0.3 s.
_seen: dict[tuple, ModelInfo] = {}


def _known(folder: Path, allow_pickle: bool) -> ModelInfo:
    files = _files(folder)
    key = (str(folder), allow_pickle, files)
    if key not in _seen:
        if len(_seen) >= MOST_CARDS:
            _seen.clear()
        _seen[key] = _read(folder, files, allow_pickle)
    return _seen[key]


def _read(folder: Path, files: tuple[tuple[str, int, int], ...], allow_pickle: bool) -> ModelInfo:
    from workbench.runtime import tokenizer_files

    problems: list[str] = []
    config = configs.read_object(folder / configs.CONFIG, problems)
    found = weights.read(folder, problems)
    if found.pickled and not allow_pickle:
        problems.append(
            _(
                "model.safetensors is missing and the weights are pickled: opening a pickle can "
                "run any program"
            )
        )
    tokenizer = tokenizer_files.choose(folder, config or {}, problems)
    if tokenizer == tokenizer_files.JSON:
        configs.read_object(folder / tokenizer, problems)
    family = _family(config, problems)
    config = config or {}
    problems += configs.size_problems(config, found.shapes)
    if config.get("quantization_config") is not None:
        problems.append(_("its weights are quantized, which cannot be loaded here"))
    uses = families.uses(family, config, found.shapes)
    largest = sorted(files, key=lambda file: (-file[1], file[0]))[:100]
    return ModelInfo(
        "",
        str(folder),
        family=family,
        format="transformer" if family in families.FAMILIES else "",
        parameters=found.parameters,
        layers=configs.number(config, *configs.LAYERS),
        width=configs.number(config, *configs.WIDTH),
        vocabulary=configs.number(config, "vocab_size"),
        max_length=configs.longest_input(config),
        licence=_licence(folder),
        size_bytes=sum(size for _name, size, _at in files),
        uses=uses,
        gives=families.gives(family, uses),
        dtype=found.dtype,
        pickled=found.pickled,
        labels=configs.labels(config),
        problems=tuple(problems),
        untrusted=found.pickled and not allow_pickle,
        tokenizer=tokenizer,
        files=tuple((name, size) for name, size, _at in largest),
    )


def _family(config: Mapping | None, problems: list[str]) -> str:
    """`model_type`; a problem if it is not one of ours. "" for what is not a name at all."""
    if config is None:
        return ""
    family = config.get("model_type")
    known = ", ".join(sorted(families.FAMILIES))
    if not family:
        problems.append(
            _("config.json names no model_type (known: {families})").format(families=known)
        )
    elif not isinstance(family, str) or family not in families.FAMILIES:
        problems.append(
            _(
                "config.json names the family {family}, which cannot be loaded here "
                "(known: {families})"
            ).format(family=configs.quoted(family), families=known)
        )
    return _line(family, 40) if isinstance(family, str) else ""


def _line(text: str, most: int) -> str:
    """On one line and not too long, for tables and cards."""
    line = "".join(one if one.isprintable() else "\ufffd" for one in text[:1000].strip())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _files(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, bytes and time of the files in the folder and one level below.

    No deeper: the folder may be anything, even the root of the disk.
    """
    found = []
    for pattern in ("*", "*/*"):
        for path in islice(folder.glob(pattern), MOST_FILES):
            try:
                stat = path.stat()
            except OSError:
                continue  # not readable, so it is not part of the model
            if S_ISREG(stat.st_mode):
                changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
                found.append((str(path.relative_to(folder)), stat.st_size, changed))
    return tuple(sorted(found))


# ---------------------------------------------------------------- README.md


def front_matter(text: str) -> dict[str, str]:
    """Plain `key: value` lines of a YAML head; nested values are left out."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    found = {}
    for line in lines[1:]:
        if line.strip() == "---":
            return found
        key, colon, value = line.partition(":")
        if colon and key and not key[0].isspace() and key[0] not in "-#" and value.strip():
            found[key.strip()] = value.strip().strip("\"'")
    return {}


def _licence(folder: Path) -> str:
    readme = folder / "README.md"
    if not readme.is_file():
        return ""
    try:
        with open(readme, encoding="utf-8", errors="replace") as file:
            return _line(front_matter(file.read(200_000)).get("license", ""), 100)
    except OSError:
        return ""
