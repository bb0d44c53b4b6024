"""ModelInfo: what a model folder says of itself, without loading anything. No torch here.

Read from `config.json`, the header of the safetensors files and the YAML head of `README.md`.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from stat import S_ISREG

from workbench.base import paths
from workbench.base.errors import ModelError
from workbench.base.i18n import N_, _

# Families that the adapter takes, and the heads that the transformers library has for them (a test holds both equal).
ENCODERS = frozenset(
    "albert bert camembert deberta-v2 distilbert electra ernie modernbert mpnet roberta xlm-roberta".split()
)  # fmt: skip
DECODERS = frozenset("gpt2 gpt_neox llama mistral olmo olmo2 openai-gpt qwen2".split())
NO_TOKEN_HEAD = frozenset(("openai-gpt", "olmo", "olmo2"))
FAMILIES = ENCODERS | DECODERS
USES = {
    "classify": N_("document classes"),
    "pairs": N_("sentence pairs"),
    "tag": N_("token tags"),
    "mask": N_("masked words"),
    "next": N_("next words"),
}
WEIGHTS, INDEX, PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
TOKENIZERS = (
    ("tokenizer.json",),
    ("vocab.txt",),
    ("vocab.json", "merges.txt"),
    ("spiece.model",),
    ("tokenizer.model",),
    ("sentencepiece.bpe.model",),
)
MAX_HEADER = 100_000_000  # bytes; the limit of the safetensors format
_INTEGERS = ("I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "BOOL")


@dataclass(frozen=True)
class ModelInfo:
    """The card of a model. Numbers are 0 and texts "" where they are not known; `problems` is empty for a usable folder."""

    name: str
    path: str
    family: str = ""
    parameters: int = 0
    layers: int = 0
    width: int = 0
    vocabulary: int = 0
    max_length: int = 0
    licence: str = ""
    size_bytes: int = 0
    uses: tuple[str, ...] = ()
    dtype: str = ""
    pickled: bool = False
    labels: tuple[str, ...] = ()  # of a model that already has a head
    origin: str = "folder"  # starter, folder, cache, run
    problems: tuple[str, ...] = ()

    @property
    def usable(self) -> bool:
        return not self.problems

    def to_json(self) -> dict:
        return {one.name: _plain(getattr(self, one.name)) for one in fields(self)}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def read_folder(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of a usable model folder. Raises ModelError saying what is missing or broken."""
    info = card(path, allow_pickle=allow_pickle, name=name, origin=origin)
    if info.problems:
        hint = (
            _(
                "Confirm that you trust where it comes from (--allow-pickle), or get a version with model.safetensors."
            )
            if _only_pickle(info)
            else _HINT
        )
        raise ModelError(
            _("{path} is no usable model: {problems}.").format(
                path=path, problems="; ".join(info.problems)
            ),
            hint=hint,
        )
    return info


_HINT = _(
    "A model folder holds config.json, model.safetensors and tokenizer.json, as save_pretrained writes them."
)


def _only_pickle(info: ModelInfo) -> bool:
    return info.pickled and len(info.problems) == 1


def card(
    path: Path | str, *, allow_pickle: bool = False, name: str = "", origin: str = "folder"
) -> ModelInfo:
    """The card of any folder; what is wrong with it stands in `problems`."""
    folder = Path(path)
    info = ModelInfo(name or folder.name, str(folder), origin=origin)
    try:
        if not folder.is_dir():
            return replace(info, problems=(_("there is no such folder"),))
        files = _files(folder)
        known = (str(folder), allow_pickle, files)
        if known not in _seen:
            if len(_seen) >= MOST_SEEN:
                _seen.clear()
            _seen[known] = _read(
                ModelInfo("", str(folder), size_bytes=sum(size for _name, size, _at in files)),
                folder,
                allow_pickle,
            )
        return replace(_seen[known], name=info.name, origin=origin)
    except OSError as error:  # a folder that may not be entered
        return replace(
            info, problems=(_("it cannot be read ({error})").format(error=error.strerror),)
        )


# Cards read before, by the names, sizes and times of all files: a tokenizer of 17 MB takes 0.3 s to check, and each page asks anew.
_seen: dict[tuple, ModelInfo] = {}
MOST_SEEN = 500


def _read(info: ModelInfo, folder: Path, allow_pickle: bool) -> ModelInfo:
    problems: list[str] = []
    config = _config(folder, problems)
    weights = _weights(folder, problems, allow_pickle)
    if not any(all((folder / one).is_file() for one in group) for group in TOKENIZERS):
        problems.append(_("tokenizer.json is missing"))
    elif (folder / "tokenizer.json").is_file():
        _check_json(folder / "tokenizer.json", problems)
    family = str(config.get("model_type") or "")
    if family not in FAMILIES and not any(one.startswith("config.json") for one in problems):
        what = (
            _("config.json names the family {family!r}").format(family=family)
            if family
            else _("config.json names no model_type")
        )
        problems.append(
            _("{what}, which cannot be loaded here (known: {families})").format(
                what=what, families=", ".join(sorted(FAMILIES))
            )
        )
    return replace(
        info,
        family=family,
        parameters=weights.parameters,
        layers=_number(config, "num_hidden_layers", "n_layer", "n_layers", "num_layers"),
        width=_number(config, "hidden_size", "n_embd", "dim", "d_model"),
        vocabulary=_number(config, "vocab_size"),
        max_length=longest_input(config),
        licence=_licence(folder),
        uses=_uses(family, config, weights.names),
        dtype=weights.dtype,
        pickled=weights.pickled,
        labels=_labels(config),
        problems=tuple(problems),
    )


# ---------------------------------------------------------------- config.json


def _config(folder: Path, problems: list[str]) -> Mapping:
    return _check_json(folder / "config.json", problems) or {}


def _check_json(path: Path, problems: list[str]) -> Mapping | None:
    if not path.is_file():
        problems.append(_("{file} is missing").format(file=path.name))
        return None
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(
            _("{file} is not readable JSON ({error})").format(file=path.name, error=str(error)[:80])
        )
        return None
    if not isinstance(raw, dict):
        problems.append(
            _("{file} holds a {kind}, expected an object").format(
                file=path.name, kind=type(raw).__name__
            )
        )
        return None
    return raw


def _number(config: Mapping, *names: str) -> int:
    return next(
        (
            value
            for name in names
            if isinstance(value := config.get(name), int) and not isinstance(value, bool)
        ),
        0,
    )


def longest_input(config: Mapping) -> int:
    """Subwords that the position table takes, special ones included. RoBERTa's table starts two places late."""
    positions = _number(config, "max_position_embeddings", "n_positions", "n_ctx")
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert", "mpnet") and positions:
        positions -= 1 + _number(config, "pad_token_id")
    return max(0, positions)


def _labels(config: Mapping) -> tuple[str, ...]:
    table = config.get("id2label")
    return tuple(str(one) for one in table.values()) if isinstance(table, dict) else ()


def _uses(family: str, config: Mapping, tensors: Iterable[str]) -> tuple[str, ...]:
    if family not in FAMILIES:
        return ()
    heads = " ".join(map(str, config.get("architectures") or ()))
    uses = ["classify", "pairs"] if family in NO_TOKEN_HEAD else ["classify", "pairs", "tag"]
    if (
        family in ENCODERS
        and ("MaskedLM" in heads or "ForPreTraining" in heads)
        and "ElectraForPreTraining" not in heads
    ):
        uses.append("mask")
    if family in DECODERS and ("CausalLM" in heads or "LMHead" in heads):
        uses.append("next")
    return tuple(uses)


# ---------------------------------------------------------------- weights


@dataclass(frozen=True)
class _Weights:
    parameters: int = 0
    dtype: str = ""
    pickled: bool = False
    names: tuple[str, ...] = ()


def _weights(folder: Path, problems: list[str], allow_pickle: bool) -> _Weights:
    if (folder / WEIGHTS).is_file():
        return _summed([header(folder / WEIGHTS, problems)])
    if (folder / INDEX).is_file():
        return _sharded(folder, problems)
    pickles = (
        [PICKLE]
        if (folder / PICKLE).is_file()
        else sorted(one.name for one in folder.glob("pytorch_model-*.bin"))
    )
    if pickles:
        if not allow_pickle:
            problems.append(
                _(
                    "model.safetensors is missing and the weights are pickled ({file}): opening a pickle can run any program"
                ).format(file=pickles[0])
            )
        return _Weights(pickled=True)
    problems.append(_("{weights} is missing").format(weights=WEIGHTS))
    return _Weights()


def _sharded(folder: Path, problems: list[str]) -> _Weights:
    index = _check_json(folder / INDEX, problems)
    if index is None:
        return _Weights()
    table = index.get("weight_map")
    names = sorted({str(one) for one in table.values()}) if isinstance(table, dict) else []
    if not names:
        problems.append(_("{index} names no files").format(index=INDEX))
    inside = [one for one in names if Path(one).name == one]
    problems.extend(
        _("{index} names {file!r}, which lies outside the folder").format(index=INDEX, file=one)
        for one in names
        if one not in inside
    )
    missing = [one for one in inside if not (folder / one).is_file()]
    problems.extend(_("{file} is missing").format(file=one) for one in missing)
    return _summed([header(folder / one, problems) for one in inside if one not in missing])


def header(path: Path, problems: list[str]) -> Mapping:
    """The tensor table of a safetensors file, checked against the file's size; empty, with a problem, where it is broken."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            start = file.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if not 2 <= length <= min(MAX_HEADER, max(0, size - 8)):
                problems.append(
                    _("{file} is damaged or cut short ({size:,} bytes, no whole header)").format(
                        file=path.name, size=size
                    )
                )
                return {}
            raw = file.read(length)
    except OSError as error:
        problems.append(
            _("{file} cannot be read ({error})").format(file=path.name, error=error.strerror)
        )
        return {}
    try:
        table = json.loads(raw)
        tensors = {name: one for name, one in table.items() if name != "__metadata__"}
        end = max((int(one["data_offsets"][1]) for one in tensors.values()), default=0)
        sums = [(str(one["dtype"]), math.prod(map(int, one["shape"]))) for one in tensors.values()]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        problems.append(_("{file} has a damaged header").format(file=path.name))
        return {}
    if size != 8 + length + end:
        problems.append(
            _("{file} is cut short or damaged: {size:,} bytes, expected {expected:,}").format(
                file=path.name, size=size, expected=8 + length + end
            )
        )
        return {}
    if not sums:
        problems.append(_("{file} holds no weights").format(file=path.name))
    return tensors


def _summed(tables: Sequence[Mapping]) -> _Weights:
    counts: dict[str, int] = {}
    for table in tables:
        for one in table.values():
            if one["dtype"] not in _INTEGERS:  # position ids and the like are no weights
                counts[one["dtype"]] = counts.get(one["dtype"], 0) + math.prod(one["shape"])
    names = {"F16": "float16", "F32": "float32", "BF16": "bfloat16", "F64": "float64"}
    most = max(counts, key=counts.__getitem__, default="")
    return _Weights(
        sum(counts.values()),
        names.get(most, most.lower()),
        False,
        tuple(name for table in tables for name in table),
    )


def _files(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, bytes and time of the files in the folder and in its folders, no deeper: it may be anything, even the root of the disk."""
    found = []
    for pattern in ("*", "*/*"):
        for one in islice(folder.glob(pattern), 10_000):
            try:
                stat = one.stat()
            except OSError:
                continue  # not to be read: it is no part of the model then
            if S_ISREG(stat.st_mode):
                found.append(
                    (
                        str(one.relative_to(folder)),
                        stat.st_size,
                        max(stat.st_mtime_ns, stat.st_ctime_ns),
                    )
                )
    return tuple(sorted(found))


# ---------------------------------------------------------------- the card in README.md


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
            return front_matter(file.read(200_000)).get("license", "")
    except OSError:
        return ""


# ---------------------------------------------------------------- where models lie


def starters() -> tuple[ModelInfo, ...]:
    """The models that ship with the application."""
    folder = paths.resource("models")
    return tuple(
        card(one, origin="starter")
        for one in sorted(folder.iterdir())
        if (one / "config.json").is_file()
    )


def cached(cache: Path | None = None) -> tuple[ModelInfo, ...]:
    """Text models in the Hugging Face cache, the revision of `main` or else the newest; other kinds of repositories are passed over."""
    folder = cache or paths.hub_cache()
    if not folder.is_dir():
        return ()
    found = []
    for repository in sorted(folder.glob("models--*")):
        snapshot = _snapshot(repository)
        if snapshot and (snapshot / "config.json").is_file():
            info = card(
                snapshot, name=repository.name[len("models--") :].replace("--", "/"), origin="cache"
            )
            if info.family in FAMILIES or not info.family:
                found.append(info)
    return tuple(found)


def _snapshot(repository: Path) -> Path | None:
    try:
        revision = (repository / "refs" / "main").read_text(encoding="utf-8").strip()
        if (repository / "snapshots" / revision).is_dir():
            return repository / "snapshots" / revision
    except OSError:
        pass  # downloaded by commit: there is no main
    snapshots = [one for one in (repository / "snapshots").glob("*") if one.is_dir()]
    return max(snapshots, key=lambda one: one.stat().st_mtime, default=None)


UNKNOWN_LIMIT = 0.10


def unknown_share(folder: Path | str, texts: Sequence[str], *, limit: int = 500) -> float:
    """Share of the words of (at most `limit` of) the texts that the model's tokenizer does not know, 0 to 1.

    Raises ModelError where the folder has no readable tokenizer.json.
    """
    from workbench.runtime.tokenizer import Tokenizer

    step = max(1, len(texts) // limit)
    return Tokenizer.load(folder).unknown_share(list(texts)[::step][:limit])


def unknown_warning(model_name: str, share: float) -> str | None:
    """What to tell before a model starts on text that it does not know; None while it knows most words."""
    if share <= UNKNOWN_LIMIT:
        return None
    return _(
        "{model} does not know {share:.0%} of the words in this data (another language or script?). "
        "Expect poor results; a model trained on this language will do better."
    ).format(model=model_name, share=share)
