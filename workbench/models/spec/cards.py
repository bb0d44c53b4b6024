"""The card of any path: the family that reads it, and its description."""

from __future__ import annotations

import codecs
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

from workbench.base import paths, settings, untrusted
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _
from workbench.base.manifest import BUILTIN
from workbench.base.registry import needed_plugin, plugin_hint, registry
from workbench.models.formats.json_files import one_line, read_object
from workbench.models.spec.info import GIVES, FamilyInfo, Match, ModelInfo
from workbench.text.segmenters.base import DEFAULT

if TYPE_CHECKING:
    from workbench.runtime.inputs import Preparer


CONFIG = "config.json"  # of a Hugging Face folder
DESCRIPTION = "glossbench.json"  # beside the weights of a trained model: task, labels …
MAX_CACHED_CARDS = 500  # cached in memory
MAX_FILES = 10_000  # read of a folder, of which its card names 100
log = logging.getLogger(__name__)


def read_folder(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of a usable model folder. Raises ModelError naming its problems."""
    info = card(path, allow_pickle=allow_pickle, name=name, origin=origin)
    if info.problems:
        raise unusable(info)
    return info


def unusable(info: ModelInfo) -> ModelError:
    """The error that names a card's problems."""
    if info.family:
        hint = _(registry().info("family", info.family).holds)
    elif family := missing_family(Path(info.path)):
        hint = plugin_hint(family)
    else:
        formats = ", ".join(_(item.saved_as) for item in registry().infos("family"))
        hint = _("Known formats: {formats}.", formats=formats)
    if info.only_untrusted:
        hint = _(
            "Confirm that you trust its source (`glossbench models add {path} --allow-pickle`), or "
            "get a version with model.safetensors.",
            path=info.path,
        )
    return ModelError(
        _(
            "{path} is not a usable model: {problems}.",
            path=info.path,
            problems="; ".join(info.problems),
        ),
        hint=hint,
    )


def preparer(path: Path | str) -> Preparer:
    """The preparer of a model's inputs. Raises ModelError if no family can load the folder."""
    info = card(path, allow_pickle=True)
    if not info.family:
        raise unusable(info)
    preparer: Preparer = registry().info("family", info.family).preparer(Path(path))
    return preparer


def segmenter(path: Path | str, settings: Mapping[str, Any] | None = None) -> str:
    """See `FamilyInfo.segmenter`; "rules" for a path that is not a model."""
    info = card(path, allow_pickle=True)
    if not info.family:
        return DEFAULT
    id: str = registry().info("family", info.family).segmenter(Path(path), settings)
    return id


def chain(path: Path | str, name: str = "") -> tuple[str, ...]:
    """The models that a training which starts from this one was made from, the pretrained one
    first, this one last; `name` is its own.
    """
    known = read_object(Path(path) / DESCRIPTION, []) or {}
    before = known.get("chain") or ([known["model"]] if "model" in known else [])
    return (*map(str, before), name or Path(path).name)


def vectors_file(info: ModelInfo) -> Path:
    """The file with the word vectors of a model. Raises ModelError if it gives none."""
    check_gives(info, "word_vectors")
    files: tuple[Path, ...] = registry().info("family", info.family).weight_files(Path(info.path))
    return files[0]


def check_gives(info: ModelInfo, output: str) -> None:
    """Raises ModelError if the model does not give `output`, a key of GIVES."""
    if output in info.gives:
        return
    raise ModelError(
        _(
            "{model} ({architecture}) does not provide {wanted}.",
            model=info.name,
            architecture=info.architecture,
            wanted=gives_words([output]),
        ),
        hint=_("It provides: {given}.", given=gives_words(info.gives)) if info.gives else "",
    )


def gives_words(outputs: Iterable[str]) -> str:
    """The outputs of an encoder as display text."""
    return ", ".join(_(GIVES[text]) if text in GIVES else text for text in outputs)


def card(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of any file or folder; errors are listed in `problems`. Never raises."""
    place = Path(path)
    info = ModelInfo(name or place.name, str(place), origin=origin)
    try:
        if not place.exists():
            return replace(info, problems=(_("there is no such file or folder"),))
        known = _known(place, allow_pickle or _ships_with_us(place))
        if known.untrusted and str(place.absolute()) in settings.load().pickle_allowed:
            known = _known(place, True)
        return replace(known, name=info.name, origin=origin, task=_chosen_task(known))
    except ModelError as error:
        reason = error.message.rstrip(".")
    except OSError as error:  # a folder without permission
        reason = error.strerror or str(error)
    except Exception as error:  # a bug here must not hide the other models of a list
        log.exception("the card of %s cannot be read", place)
        reason = f"{type(error).__name__}: {error}"[:200]
    return replace(info, problems=(_("it cannot be read ({error})", error=reason),))


def _chosen_task(info: ModelInfo) -> str:
    """The task of a published model, or the one that the user has chosen for it instead."""
    if not info.task:
        return ""
    chosen = settings.load().model_tasks.get(str(Path(info.path).absolute()))
    return chosen if chosen in registry().ids("task") else info.task


def _ships_with_us(path: Path) -> bool:
    """Whether it is a starter, whose pickles need no consent."""
    with suppress(FileNotFoundError):
        return path.resolve().parent == paths.resource("models").resolve()
    return False


# Keyed by name, size and time of all files: checking a tokenizer of 17 MB takes 0.3 s.
_seen: dict[tuple[object, ...], ModelInfo] = {}


def _known(path: Path, allow_pickle: bool) -> ModelInfo:
    untrusted.refuse_special_files(path)
    files = _files(path)
    key = (str(path), allow_pickle, files, registry().ids("family"))
    if key not in _seen:
        if len(_seen) >= MAX_CACHED_CARDS:
            _seen.clear()
        _seen[key] = _read(path, files, allow_pickle)
    return _seen[key]


def _read(path: Path, files: tuple[tuple[str, int, int], ...], allow_pickle: bool) -> ModelInfo:
    info: ModelInfo
    family, match = ("", Match.SURE) if _is_onnx(files) else _family_of(path)
    if _is_onnx(files):
        message = _(
            "it is an ONNX export, which `workbench.runtime` reads; choose the run, or its export "
            "as a folder with weights"
        )
        info = ModelInfo("", "", problems=(message,))
    elif family:
        info = registry().info("family", family).read(path, allow_pickle=allow_pickle)
    else:
        info = ModelInfo("", "", problems=(_("it is not a model in a known format"),))
    if match < Match.SURE and not info.gives and (message := _other_problem(path)):
        info = ModelInfo("", "", problems=(message,))
    largest = sorted(files, key=lambda file: (-file[1], file[0]))[:100]
    return replace(
        info,
        path=str(path),
        family=family if info.gives else "",
        task=_task(path) or info.task,
        licence=info.licence or _licence(path),
        size_bytes=sum(size for _name, size, _at in files),
        files=tuple((name, size) for name, size, _at in largest),
    )


def _is_onnx(files: tuple[tuple[str, int, int], ...]) -> bool:
    """Whether these are the files of an ONNX export: a graph with its labels, but no weights."""
    names = {name for name, _size, _at in files}
    weights = any(name.endswith((".safetensors", ".bin", ".pt")) for name in names)
    return {"model.onnx", "labels.json"} <= names and DESCRIPTION not in names and not weights


def _task(path: Path) -> str:
    """The task of a model of ours, whatever its head is; "" for others."""
    file = path / DESCRIPTION
    task = (read_object(file, []) or {}).get("task") if file.is_file() else None
    return str(task) if task in registry().ids("task") else ""


def _family_of(path: Path) -> tuple[str, Match]:
    """The id of the family that matches the path best, and how well; "" if none does.

    On a tie it is the first of an enabled plugin, as the user asked for it, else the first of all.
    """
    best, sure = "", Match.NO
    for contribution in sorted(registry().all("family"), key=lambda item: item.source == BUILTIN):
        try:
            match = registry().info("family", contribution.id).match(path)
        except Exception:  # a bug in one family must not hide the models of the others
            log.exception("the family %s cannot look at %s", contribution.id, path)
            continue
        if match > sure:
            best, sure = contribution.id, match
    return best, sure


def _other_problem(path: Path) -> str:
    """What there is instead of a model, as exactly as a family or the first bytes tell."""
    if family := missing_family(path):
        return _(
            "its model family {family} needs the plugin {plugin}, which is not enabled",
            family=family,
            plugin=needed_plugin(family),
        )
    if (path / CONFIG).is_file():
        return ""
    infos: tuple[FamilyInfo, ...] = registry().infos("family")
    return next(filter(None, (info.near_miss(path) for info in infos)), "") or describe(path)


def missing_family(path: Path) -> str:
    """The family that has saved the model, if it is one of a plugin that is not enabled; or ""."""
    file = path / DESCRIPTION
    family = str((read_object(file, []) or {}).get("family", "")) if file.is_file() else ""
    known = not needed_plugin(family) or family in registry().ids("family")
    return "" if known else family


def _files(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, bytes and time of the file, or of the files in the folder and one level below.

    Not recursive: the folder may be anything, even the root of the disk.
    """
    if not path.is_dir():
        rows = [_about(path, path.name)]
    else:
        paths = (file for pattern in ("*", "*/*") for file in islice(path.glob(pattern), MAX_FILES))
        rows = [_about(file, str(file.relative_to(path))) for file in paths]
    return tuple(sorted(row for row in rows if row is not None))


def _about(path: Path, name: str) -> tuple[str, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None  # not readable, so it is not part of the model
    if not S_ISREG(stat.st_mode):
        return None
    return name, stat.st_size, max(stat.st_mtime_ns, stat.st_ctime_ns)


# ---------------------------------------------------------------- README.md


def front_matter(text: str) -> dict[str, str]:
    """Plain `key: value` lines of a YAML header; nested values are left out."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    entries: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            return entries
        key, colon, value = line.partition(":")
        if colon and key and not key[0].isspace() and key[0] not in "-#" and value.strip():
            entries[key.strip()] = value.strip().strip("\"'")
    return {}


def languages(path: Path) -> tuple[str, ...]:
    """Codes of the languages that the README of a model folder names, () without any.

    In its header `language` is one code or a list of them.
    """
    text = _readme(path)
    if item := front_matter(text).get("language", ""):
        return tuple(part.strip(" \"'") for part in item.strip("[]").split(",") if part.strip())
    _before, separator, rest = text.partition("\nlanguage:\n")
    header = _before.startswith("---") and "\n---" not in _before
    if not separator or not header:
        return ()
    items = takewhile(lambda line: line.lstrip().startswith("- "), rest.splitlines())
    return tuple(line.lstrip()[2:].strip(" \"'") for line in items)


def _licence(path: Path) -> str:
    """Of a model of ours that of the model that it was fine-tuned from."""
    own = str((read_object(path / DESCRIPTION, []) or {}).get("licence", ""))
    return one_line(front_matter(_readme(path)).get("license", "") or own, 100)


def _readme(path: Path) -> str:
    """The beginning of the README; "" if there is none."""
    readme = path / "README.md"
    try:
        if not readme.is_file():
            return ""
        with open(readme, encoding="utf-8", errors="replace") as file:
            return file.read(200_000)
    except OSError:
        return ""


# Suffixes of files that could be meant as a model; the largest in a folder is described.
SUFFIXES = frozenset(
    ".bin .ckpt .gguf .gz .h5 .hdf5 .model .msgpack .npy .npz .onnx .pb .pkl .pt .pth .safetensors "
    ".tar .tgz .txt .vec .xz .zip .bz2 .zst".split()
)
OWN_NAMES = ("config.json", "model.safetensors", "pytorch_model.bin")  # reported by their family
LOOK = 1 << 14  # bytes
_PICKLE = N_(
    "{file} is a pickle file. Readable are pytorch_model.bin with config.json (transformers), .pt "
    "(Flair), and .pth with itos.pkl (fastai)"
)
_TORCH = N_(
    "{file} is a pickle of PyTorch, under an unexpected name or without the files beside it. "
    "Readable are pytorch_model.bin with config.json (transformers), .pt (Flair), and .pth with "
    "itos.pkl (fastai)"
)
_ARCHIVE = N_("{file} is a compressed archive. Unpack it and choose the file or folder inside")
_GGUF = N_("{file} is a GGUF file, which is not supported. Download the model it was made from")
_HDF5 = N_("{file} is an HDF5 file. ELMo's weights need options.json in the same folder")
_NUMPY = N_("{file} is a NumPy array. Word vectors are text or word2vec binary, with their words")
_TEXT = N_("{file} is a text file, but not of word vectors: line 1 is {line}")
_UNKNOWN = N_("{file} is in no known format: it begins with the bytes {bytes}")
# First bytes, and what they mean
_MARKS = (
    (b"\x1f\x8b", _ARCHIVE),
    (b"BZh", _ARCHIVE),
    (b"\xfd7zXZ", _ARCHIVE),
    (b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (b"GGUF", _GGUF),
    (b"\x89HDF\r\n\x1a\n", _HDF5),
    (b"\x93NUMPY", _NUMPY),
    *((bytes((0x80, version)), _PICKLE) for version in range(2, 6)),
)
MAX_QUOTED_CHARS = 40  # characters


def describe(path: Path) -> str:
    """What the file is, or the largest in the folder that could be a model; "" for nothing.

    Folders with files of a Hugging Face model are left to their family.
    """
    file = _largest(path) if path.is_dir() else path
    if file is None:
        return ""
    if file.name in OWN_NAMES:
        return _("{file} is one file of a Hugging Face folder. Choose the folder", file=file.name)
    with open(file, "rb") as opened:
        head = opened.read(LOOK)
    return _described(file.name, head) if head.strip() else ""


def _largest(folder: Path) -> Path | None:
    names = [path for path in folder.iterdir() if path.is_file()]
    if any(name.name in OWN_NAMES for name in names):
        return None
    candidates = [name for name in names if name.suffix.lower() in SUFFIXES]
    return max(candidates, key=lambda item: (item.stat().st_size, item.name), default=None)


def _described(name: str, head: bytes) -> str:
    for mark, message in _MARKS:
        if head.startswith(mark):
            return _(message, file=name)
    if head.startswith(b"PK\x03\x04"):
        template = _(_TORCH) if b"data.pkl" in head else _(_ARCHIVE)
        return template.format(file=name)
    if b"\0" in head or not _is_text(head):
        return _(_UNKNOWN, file=name, bytes=head[:8].hex(" "))
    first = head.decode("utf-8", "ignore").splitlines()[0]
    short = first if len(first) <= MAX_QUOTED_CHARS else f"{first[: MAX_QUOTED_CHARS - 1]}…"
    return _(_TEXT, file=name, line=repr(short))


def _is_text(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True
