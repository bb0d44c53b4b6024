"""Data sets of Hugging Face: a folder of `save_to_disk`, or one as on the hub.

A folder of `save_to_disk` has `state.json` and `dataset_info.json` beside `data-*.arrow`, or
`dataset_dict.json` beside a folder for each split. A folder of the hub has a card (`README.md`)
whose YAML lists the files of each split and the names of classes; without such a list, the names
of the files tell their splits.
Sources: `datasets.Dataset.save_to_disk` of Hugging Face datasets 4; “Data files Configuration” and
“Structure your repository” in the documentation of the hub.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.base.options import Option
from workbench.base.untrusted import leads_out, not_followed
from workbench.importers.base import (
    Fault,
    Guess,
    Item,
    Options,
    Remark,
    Row,
    Skipped,
    Table,
    show,
    split_name,
)
from workbench.importers.binary.arrow import ArrowTable
from workbench.importers.binary.record_lines import RecordLines, reader
from workbench.importers.fields import list_fields
from workbench.importers.fields.class_names import INFO, decoded, decoders
from workbench.importers.json import jsonl
from workbench.importers.source import Source
from workbench.importers.tables.table_form import TableForm

DICT, STATE, CARD = "dataset_dict.json", "state.json", "README.md"
CONFIG = "config"  # the option
_ARROW = (".arrow", ".parquet")
_ENDINGS = (*_ARROW, ".jsonl", ".json", ".csv", ".tsv", ".txt")
_SPLIT = re.compile(
    r"(?:^|[^a-z])(train|training|validation|valid|val|dev|test|testing|eval)(?:[^a-z]|$)"
)

FRONT = re.compile(r"\ufeff?---\r?\n(.*?)\r?\n---\s*(?:\n|$)", re.S)
_OF_DATA = re.compile(r"^(?:dataset_info|configs|task_categories|task_ids|size_categories):", re.M)


class HuggingFaceImporter:
    options = (
        Option(
            CONFIG,
            "text",
            "",
            N_("Configuration of a data set with several; the default one, or the first."),
            title=N_("Configuration"),
        ),
        list_fields.NAMES,
    )

    def sniff(self, head: str, name: str) -> Guess:
        keys = {
            DICT: ('"splits"',),
            STATE: ('"_data_files"',),
            INFO: ('"features"', '"_type"'),
        }.get(name)
        if (keys and all(key in head for key in keys)) or (name == CARD and is_card(head)):
            return Guess(0.99, _("a data set of Hugging Face"))
        return Guess(0.0)

    def preview(self, source: Source, options: Options, limit: int) -> Table:
        lines = _Lines(source, options)
        table = lines.table(reader(lines).preview(lines, options, limit))
        files = ", ".join(dict.fromkeys(part.name for part in lines.parts[:5]))
        return replace(table, why=_("a data set of Hugging Face: {files}", files=files))

    def read(self, source: Source, options: Options) -> Iterator[Item]:
        lines = _Lines(source, options)
        for item in lines.placed(reader(lines).read(lines, options)):
            if isinstance(item, Row) and not item.record.document.key:
                document = replace(item.record.document, key=lines.key(item.line))
                item = Row(item.line, replace(item.record, document=document))
            elif isinstance(item, Skipped):
                item = Skipped(item.line, f"{lines.where(item.line)}: {item.reason}")
            yield item
        for number, reason in lines.faults:
            yield Skipped(number, f"{lines.where(number)}: {reason}")
        yield from (Remark(message) for message in lines.remarks())


def entry_of(folder: Path) -> Path | None:
    """The file of a folder that stands for the data set in it; None for other folders."""
    for name in (DICT, STATE):
        if _is_own(folder / name, folder):
            return folder / name
    card = folder / CARD
    if not _is_own(card, folder):
        return None
    try:
        with open(card, encoding="utf-8", errors="replace") as file:
            has_card = is_card(file.read(1 << 20))
    except OSError:
        return None
    return card if has_card and _by_name(folder) else None


# ---------------------------------------------------------------- the files


@dataclass(frozen=True)
class _Part:
    """A file of data. split: as the data set names it. features: of the data set, if known."""

    path: Path
    name: str
    split: str
    features: object = None


def _is_own(path: Path, folder: Path) -> bool:
    """Whether it is a file of the folder, and no link to one outside."""
    return path.is_file() and not leads_out(path, folder)


def _parts(source: Source, config: str) -> tuple[list[_Part], list[str]]:
    """The files of a data set, and the names of links out of its folder, which are not followed.

    Raises ImportFailed.
    """
    try:
        return _checked(source, config)
    except (OSError, ValueError, NotImplementedError) as error:  # names that no file can have
        reason = " ".join(str(error).split())[:200]
        raise _damaged(source.name, reason) from error


def _checked(source: Source, config: str) -> tuple[list[_Part], list[str]]:
    """Raises ImportFailed if there are no files, or one of them is missing."""
    folder = source.path.parent
    if source.name == DICT:
        parts = [
            part
            for split in _strings(_json(source.path).get("splits"))
            if PurePosixPath(split).name == split
            for part in _saved(folder / split, folder, split)
        ]
    elif source.name in (STATE, INFO):
        parts = _saved(folder, folder, "")
    else:
        parts = _on_hub(source, config)
    links = [part.name for part in parts if leads_out(part.path, folder)]
    if links and len(links) == len(parts):
        raise ImportFailed(
            not_followed(folder, links),
            hint=_("Copy the files into the folder, or choose them by their names."),
        )
    parts = [part for part in parts if part.name not in links]
    if not parts:
        raise ImportFailed(
            _("{path}: the data set has no data files.", path=folder / source.name),
            hint=_("Download the whole folder, or choose the files with the data."),
        )
    if missing := next((part for part in parts if not part.path.is_file()), None):
        raise ImportFailed(
            _("The file {file} of {name} is missing.", file=missing.name, name=source.name),
            hint=_("Download or copy the whole folder."),
        )
    return parts, links


def _saved(folder: Path, root: Path, split: str) -> list[_Part]:
    """The files of a folder of `save_to_disk`, or of a folder of the cache."""
    info = _json(folder / INFO) if _is_own(folder / INFO, root) else {}
    if _is_own(folder / STATE, root):
        state = _json(folder / STATE)
        files = state.get("_data_files")
        listed = [item.get("filename") for item in files or () if isinstance(item, Mapping)]
        names = [name for name in _strings(listed) if PurePosixPath(name).name == name]
        split = split or str(state.get("_split") or "")
    else:
        names = sorted(path.name for path in folder.glob("*.arrow"))
    return [
        _Part(
            folder / name,
            (folder / name).relative_to(root).as_posix(),
            split or _split_in(name),
            info.get("features"),
        )
        for name in names
    ]


def _on_hub(source: Source, config: str) -> list[_Part]:
    """The files that a card lists, or all with the name of a split."""
    folder = source.path.parent
    front = FRONT.match(source.text())
    card = _yaml(front[1], source.name) if front else {}
    configs = [item for item in _objects(card.get("configs")) if item.get("data_files")]
    chosen = _chosen(configs, config, source.name)
    infos = _objects(card.get("dataset_info"))
    name = chosen.get("config_name") if chosen else config
    info = next((item for item in infos if item.get("config_name", "default") == name), None)
    features = (info or (infos[0] if len(infos) == 1 else {})).get("features")
    if chosen is None:
        return [replace(part, features=features) for part in _by_name(folder, config)]
    return [
        _Part(path, path.relative_to(folder).as_posix(), split, features)
        for split, pattern in _patterns(chosen["data_files"])
        for path in _matching(folder, pattern)
    ]


def _chosen(configs: Sequence[dict[str, Any]], name: str, file: str) -> dict[str, Any] | None:
    names = [str(item.get("config_name", "default")) for item in configs]
    if name and names:
        if name in names:
            return configs[names.index(name)]
        raise ImportFailed(
            _("{file} has no configuration {config!r}.", file=file, config=name),
            hint=_("Its configurations: {names}.", names=", ".join(names)),
        )
    default = next((item for item in configs if item.get("default")), None)
    return default or next(iter(configs), None)


def _patterns(files: object) -> Iterator[tuple[str, str]]:
    """(split, pattern) of the files that a card lists."""
    if isinstance(files, Mapping):
        files = [{"split": split, "path": path} for split, path in files.items()]
    for item in files if isinstance(files, list) else [files]:
        if isinstance(item, Mapping):
            paths = item.get("path")
            for path in paths if isinstance(paths, list) else [paths]:
                if isinstance(path, str):
                    yield str(item.get("split") or ""), path
        elif isinstance(item, str):
            yield _split_in(item), item


def _matching(folder: Path, pattern: str) -> list[Path]:
    """The files in the folder; none for a pattern that leads out of it."""
    path = PurePosixPath(pattern)
    if path.is_absolute() or ".." in path.parts or ":" in pattern or not path.parts:
        return []
    return sorted(path for path in folder.glob(pattern) if path.is_file())


def _by_name(folder: Path, config: str = "") -> list[_Part]:
    """Files with the name of a split, in the folder or two levels below it; else all."""
    top = folder / config if config and (folder / config).is_dir() else folder
    data_files = [
        path
        for pattern in ("*", "*/*", "*/*/*")
        for path in sorted(top.glob(pattern))
        if path.suffix.lower() in _ENDINGS and path.is_file() and path.name not in (INFO, STATE)
    ]
    best = next((end for end in _ENDINGS if any(_ends(path, end) for path in data_files)), "")
    paths = [path for path in data_files if _ends(path, best)]
    parts = [
        _Part(path, name, _split_in(name))
        for path in paths
        if (name := path.relative_to(folder).as_posix())
    ]
    return [part for part in parts if part.split] or parts


def _ends(path: Path, ending: str) -> bool:
    return path.suffix.lower() == ending


def _split_in(name: str) -> str:
    """The split that the name of a file, or of its folder, mentions; "" for none."""
    for part in reversed(PurePosixPath(name).parts):
        if match := _SPLIT.search(part.lower()):
            return match[1]
    return ""


def _json(path: Path) -> dict[str, Any]:
    """Raises ImportFailed for a file that cannot be read or is no object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(f"{path.parent.name}/{path.name}", error) from error
    if not isinstance(content, dict):
        raise _damaged(f"{path.parent.name}/{path.name}", show(content))
    return content


def _yaml(text: str, name: str) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _damaged(name, " ".join(str(error).split())) from error
    return content if isinstance(content, dict) else {}


def _damaged(name: str, error: object) -> ImportFailed:
    return ImportFailed(
        _(
            "{name} cannot be read as the description of a data set: {error}.",
            name=name,
            error=error,
        ),
        hint=_("Download it again, or choose the files with the data."),
    )


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed if isinstance(item, dict)]


# ---------------------------------------------------------------- their records


class _Lines(RecordLines):
    """The records of all files, numbered from 1.

    faults: (number, reason) of records of the last reading that cannot be read.
    """

    def __init__(self, source: Source, options: Options) -> None:
        super().__init__(source)
        self.parts, self.links = _parts(source, str(options.settings.get(CONFIG) or "").strip())
        self._texts = source
        self._starts: list[int] = []  # number of records before each file
        self.faults: list[tuple[int, str]] = []
        self.left_out: dict[str, None] = {}

    def records(self) -> Iterator[tuple[int, Mapping[str, Any] | None]]:
        number = 0
        self._starts, self.faults = [], []
        for part in self.parts:
            self._starts.append(number)
            split = self.known[part.split]
            for fields in self._fields(part):
                number += 1
                if isinstance(fields, Fault):
                    self.faults.append((number, str(fields)))
                    yield number, None
                elif split and "split" not in fields:
                    yield number, {**fields, "split": split}
                else:
                    yield number, fields

    @cached_property
    def known(self) -> dict[str, str | None]:
        """Name of a split in the data set → train, dev or test, None for others."""
        return {part.split: _known(part.split) for part in self.parts}

    def _fields(self, part: _Part) -> Iterable[dict[str, Any] | Fault]:
        if part.path.suffix.lower() in _ARROW:
            table = ArrowTable(part.path, part.features)
            self.left_out.update(dict.fromkeys(table.left_out))
            return table.rows()
        named = decoders(part.features)
        rows = _rows_of_text(Source(part.path, scan=self.scan))
        return (row if isinstance(row, Fault) else decoded(row, named) for row in rows)

    def _at(self, number: int) -> tuple[_Part, int]:
        """The file of a record, and its number in the file."""
        at = max(0, bisect_right(self._starts, number - 1) - 1)
        return self.parts[at], number - (self._starts[at] if self._starts else 0)

    def where(self, number: int) -> str:
        part, row = self._at(number)
        return _("{file}, record {n:,}", file=part.name, n=row)

    def key(self, number: int) -> str:
        """The split, or the file, with the number of the record in it."""
        part, row = self._at(number)
        before = 0
        if part.split:
            for n, other in enumerate(self.parts):
                if other is part:
                    break
                if other.split == part.split:
                    before += self._starts[n + 1] - self._starts[n]
        return f"{part.split or part.name}:{before + row}"

    def remarks(self) -> Iterator[str]:
        if self.links:
            yield not_followed(self.path.parent, self.links)
        unknown = [name for name, split in self.known.items() if name and split is None]
        if unknown:
            message = _(
                "{file}: documents of {splits} have no split, as it is not train, dev or test."
            )
            yield message.format(file=self.name, splits=", ".join(unknown))
        if self.left_out:
            message = _("{file}: not imported, as they hold bytes: {names}.")
            yield message.format(file=self.name, names=", ".join(self.left_out))


def _known(split: str) -> str | None:
    try:
        return split_name(split)
    except Fault:
        return None


def _rows_of_text(source: Source) -> Iterator[dict[str, Any] | Fault]:
    """The records of a file of JSON, of a table, or of lines of text."""
    ending = source.path.suffix.lower()
    if ending in (".json", ".jsonl"):
        for _line, value in jsonl.values(source):
            if isinstance(value, dict | Fault):
                yield value
            else:
                yield Fault(_("expected an object, found {value}", value=show(value)))
    elif ending in (".csv", ".tsv"):
        form = TableForm.of(source, Options(header=True), "\t" if ending == ".tsv" else ",")
        for _line, cells in form.rows(source):
            if isinstance(cells, Fault) or len(cells) == len(form.columns):
                yield (
                    cells
                    if isinstance(cells, Fault)
                    else dict(zip(form.columns, cells, strict=True))
                )
            else:
                message = _(
                    "columns of the row: {n}, expected {expected}",
                    n=len(cells),
                    expected=len(form.columns),
                )
                yield Fault(message)
    else:
        yield from ({"text": line} for line in source.lines())


def is_card(head: str) -> bool:
    """Whether a file begins as the card of a data set; cards of models have other entries."""
    front = FRONT.match(head)
    return front is not None and _OF_DATA.search(front[1]) is not None
