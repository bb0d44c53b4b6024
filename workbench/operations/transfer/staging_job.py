"""The child's part of an import: reads files, checks every record, writes a staging file.

A job target; never opens the project.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _, ngettext
from workbench.importers import companions
from workbench.importers.base import Hint, Options, Remark, Row, Skipped
from workbench.importers.content_checks import ContentChecks
from workbench.importers.detect import chosen, detect, importer
from workbench.importers.detect import read as read_items
from workbench.importers.results import FileRead, StagingResult
from workbench.importers.source import Source
from workbench.importers.text.brat import annotations_of
from workbench.storage.staging.staging import LISTED, StagingWriter
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.labels import Layer
from workbench.text.segmenters import base as segmenters

TARGET = "workbench.operations.transfer.staging_job:run"
STAGING = "staging.sqlite"
_TELL_EVERY = 0.1  # seconds
# Records have no reference cycles; collecting garbage as often as usual takes a tenth of the time.
_GC_EVERY = 200_000  # objects
_MANY_LABELS = 500
_ENOUGH = 20  # minimum number of documents to judge the number of different labels
AS_TEXT = N_("To import each of its lines as a document, choose the format “text” (--format text).")


def run(
    params: Mapping[str, Any], folder: Path
) -> Generator[dict[str, Any], str | None, dict[str, Any]]:
    """`params`: files [path …], format, encoding, splits, options (fields of Options), duplicates,
    segmenter (id, for texts without tokens), warnings (found before), names (file → whose labels
    it holds).

    Yields {"kind": "progress", "part": 0…1, "text"}; returns a StagingResult as JSON.

    Raises ImportFailed if a file cannot be read at all: then nothing is imported.
    """
    intake = StagingJob(params, Path(folder) / STAGING)
    thresholds = gc.get_threshold()
    gc.set_threshold(_GC_EVERY, *thresholds[1:])
    try:
        yield from intake.files()
        intake.writer.close()
    except BaseException:
        intake.writer.abandon()
        raise
    finally:
        gc.set_threshold(*thresholds)
    documents, formats = intake.writer.documents, tuple(intake.formats)
    return StagingResult(documents, formats, intake.faults).to_json()


class StagingJob:
    def __init__(self, params: Mapping[str, Any], path: Path):
        self.params = params
        self.writer = StagingWriter(path)
        self.formats: list[FileRead] = []
        self.faults = 0  # records with errors
        self._checks = ContentChecks()
        raw = dict(params.get("options") or {})
        raw["mapping"] = tuple((role, column) for role, column in raw.get("mapping") or ())
        self.options = Options(**raw)
        self._names: Mapping[str, str] = params.get("names") or {}
        self._segmenter = str(params.get("segmenter") or segmenters.DEFAULT)
        segmenters.load(self._segmenter)  # a missing one is reported before anything is read
        self._segmented = 0  # documents with words of the segmenter
        self._numbers: dict[str, int] = {}  # key → number given to the last record with it
        self._seen: dict[str, tuple[str, int, int]] = {}  # key → text hash, file, line
        # further texts of records with the same key: key → text hash → (file, line)
        self._others: dict[str, dict[str, tuple[int, int]]] = {}
        self._place = (
            -1,
            0,
            0,
        )  # file, line, number of records without a key that started on that line so far
        self._renamed: list[tuple[str, str]] = []
        self._again: list[tuple[str, str]] = []  # imported again, as the user chose
        # key ("" without) and text hash → documents with labels of people: number, then the people
        self._versions: dict[tuple[str, str], list[tuple[int, set[str]]]] = {}
        self._whole: list[int] = []  # files in which everybody labels all layers
        self._document: Document | None = None  # the last one, and the hash of its text
        self._hash = ""
        self._labels: dict[str, set[str]] = {}
        self._labelled: Counter[str] = Counter()  # documents with a class, by layer

    def files(self) -> Generator[dict[str, Any], str | None, None]:
        for warning in self.params.get("warnings") or ():
            self.writer.warn(warning)
        paths = [Path(path) for path in self.params["files"]]
        left_out = companions.left_out(paths)
        for reason in left_out.values():
            self.writer.warn(reason)
        for number, path in enumerate(paths):
            if path in left_out:
                continue
            source = Source(path, self.params.get("encoding") or "")
            format, why = self.params.get("format") or "", "chosen"
            if not format:
                detected = detect(source)
                if detected.question:
                    raise ImportFailed(detected.question, hint=_(AS_TEXT))
                format, why = detected.format, detected.why
                if format == "text" and (beside := annotations_of(path)):
                    if beside in paths:  # the text is imported with its annotations
                        continue
                    self._warn_of(path, beside)
                elif format == "text" and companions.is_whole(path, paths):
                    format = "text-file"
            elif warning := chosen(source, format):
                self.writer.warn(warning)
            self.formats.append(FileRead(str(path), format, why, source.encoding.name))
            if not source.encoding.sure:
                self.writer.warn(
                    _(
                        "{file} was read as {encoding}: {why}.",
                        file=source.name,
                        encoding=source.encoding.name,
                        why=source.encoding.why,
                    )
                )
            if getattr(importer(format), "all_layers", False):
                self._whole.append(number)
            yield from self._read(number, len(paths), source, format)
        if self._whole:
            self.writer.submit_all(self._whole)
        self._sum_up()

    def _warn_of(self, path: Path, annotations: Path) -> None:
        self.writer.warn(
            _(
                "{annotations} contains annotations of {text}; import it to include them. "
                "The lines of the text were imported as documents.",
                annotations=annotations.name,
                text=path.name,
            )
        )

    def _read(
        self, number: int, files: int, source: Source, format: str
    ) -> Generator[dict[str, Any], str | None, None]:
        reported_at = (
            time.monotonic()
        )  # a small file is read at once, when its first record is there
        self._checks.begin(source.name)
        for item in read_items(format, source, self.options):
            if isinstance(item, Row):
                self._checks.record(item.record, item.person)
                self._take(number, source.name, item)
            elif isinstance(item, Skipped):
                self.faults += 1
                self._checks.fault()
                self.writer.skip(number, item.line, item.reason)
            elif isinstance(item, Remark):
                self.writer.warn(item.message)
            elif isinstance(item, Layer):
                self.writer.declare(item)
            elif isinstance(item, Hint):
                self.writer.hint(item.layer, item.kind)
            if (now := time.monotonic()) - reported_at > _TELL_EVERY:
                reported_at = now
                part = (number + min(1.0, source.position / max(1, source.size))) / files
                yield {
                    "kind": "progress",
                    "part": part,
                    "text": ngettext("{n:,} document", "{n:,} documents", self.writer.documents),
                }
        for warning in self._checks.failures():
            self.writer.warn(warning)

    def _take(self, number: int, name: str, row: Row) -> None:
        if row.record.document is not self._document:  # those of a task share it
            self._document, self._hash = row.record.document, row.record.document.text_hash
        person = row.person or str(self._names.get(self.params["files"][number]) or "")
        record, text_hash = self._with_words(self._with_split(row.record, number)), self._hash
        versions = self._versions.setdefault((record.document.key, text_hash), []) if person else []
        for seq, people in versions:
            if person not in people:
                people.add(person)
                self._count(record)
                self.writer.add(record, "", number, row.line, person=person, of=seq)
                return
        own_key = record.document.key or self._own_key(number, name, row.line)
        key, first = self._key(own_key, text_hash, (number, row.line))
        if first is not None and self.params.get("duplicates", "skip") != "add":
            self.writer.skip(
                number,
                row.line,
                self._same_as(own_key, number, first),
            )
            return
        self._count(record)
        seq = self.writer.add(record, key, number, row.line, text_hash, person=person)
        if person:
            versions.append((seq, {person}))

    def _count(self, record: Record) -> None:
        for layer, labels in record.marks.items():
            self._labels.setdefault(layer, set()).update(labels)
            self._labelled[layer] += 1

    def _with_split(self, record: Record, file: int) -> Record:
        """The record in the split that the user chose; a split in the record overrides one from the
        file name.
        """
        splits = self.params.get("splits") or {}
        split = splits.get("all")
        if not split and not record.document.split:
            split = splits.get(self.params["files"][file])
        if not split:
            return record
        return replace(record, document=replace(record.document, split=split))

    def _with_words(self, record: Record) -> Record:
        """The record with the words of the chosen segmenter as tokens of texts without any."""
        if self._segmenter == segmenters.DEFAULT:
            return record
        (document,) = segmenters.segmented([record.document], self._segmenter)
        self._segmented += document.tokens != record.document.tokens
        return replace(record, document=document)

    def _own_key(self, file: int, name: str, line: int) -> str:
        """`file:line` for a record without a key; further ones on that line are `file:line.2` …"""
        count = self._place[2] + 1 if self._place[:2] == (file, line) else 1
        self._place = (file, line, count)
        return f"{name}:{line}" if count == 1 else f"{name}:{line}.{count}"

    def _same_as(self, key: str, file: int, first: tuple[int, int]) -> str:
        if first[0] == file:
            message = _("the same key ({key}) and text already occur in line {line}")
        else:
            message = _("the same key ({key}) and text already occur in {file}, line {line}")
        name = Path(self.params["files"][first[0]]).name
        return message.format(key=key, line=first[1], file=name)

    def _key(
        self, own_key: str, text_hash: str, place: tuple[int, int]
    ) -> tuple[str, tuple[int, int] | None]:
        """A key that no other record of this import has.

        Also returns the file and line of a record with the same key and text, None if there is
        none.
        """
        first_record = self._seen.get(own_key)
        if first_record is None:
            self._seen[own_key] = text_hash, *place
            return own_key, None
        first: tuple[int, int] | None
        if first_record[0] == text_hash:
            first = first_record[1:]
        else:
            others = self._others.setdefault(own_key, {})
            first = others.get(text_hash)
            others.setdefault(text_hash, place)
        key = self._free(own_key)
        if first is None or self.params.get("duplicates") == "add":
            self._seen[key] = text_hash, *place
            (self._again if first else self._renamed).append((own_key, key))
        return key, first

    def _free(self, own_key: str) -> str:
        """`own_key (2)`, `own_key (3)`, …: the first free one.

        Remembers the last number, so that a million equal keys take linear time.
        """
        number = self._numbers.get(own_key, 2)
        while f"{own_key} ({number})" in self._seen:
            number += 1
        self._numbers[own_key] = number + 1
        return f"{own_key} ({number})"

    def _sum_up(self) -> None:
        for warning in self._checks.warnings():
            self.writer.warn(warning)
        if self._segmented:
            message = ngettext(
                "{n:,} document was imported with the words of the segmenter {id}. Choose it "
                "for training, too (setting {setting}), so that other texts get the same words.",
                "{n:,} documents were imported with the words of the segmenter {id}. Choose it "
                "for training, too (setting {setting}), so that other texts get the same words.",
                self._segmented,
            )
            setting = segmenters.OPTION
            self.writer.warn(message.format(n=self._segmented, id=self._segmenter, setting=setting))
        if (skipped := self.writer.skipped) > LISTED:
            self.writer.warn(
                ngettext(
                    "{skipped:,} record was skipped; the first {listed:,} of them are listed.",
                    "{skipped:,} records were skipped; the first {listed:,} of them are listed.",
                    skipped,
                    skipped=skipped,
                    listed=LISTED,
                )
            )
        if self._renamed:
            self.writer.warn(renamed(self._renamed, in_project=False))
        if self._again:
            self.writer.warn(
                ngettext(
                    "{count:,} duplicate record in the files was imported again under a new key.",
                    "{count:,} duplicate records in the files were imported again under new keys.",
                    len(self._again),
                    count=len(self._again),
                )
            )
        for layer, labels in self._labels.items():
            documents = self._labelled[layer]
            if len(labels) > _MANY_LABELS or len(labels) * 2 > documents >= _ENOUGH:
                self.writer.warn(
                    _(
                        "Layer {layer} has many different labels ({count:,}, documents: "
                        "{documents:,}). Check whether these are classes. If they are answers or "
                        "other texts, undo the import.",
                        layer=layer,
                        count=len(labels),
                        documents=documents,
                    )
                )


def renamed(pairs: list[tuple[str, str]], *, in_project: bool) -> str:
    """One sentence about keys that had to be changed: (key, new key) pairs."""
    examples = ", ".join(f"{old} → {new}" for old, new in pairs[:5])
    if len(pairs) > 5:
        examples = _("{some}, and {count:,} more", some=examples, count=len(pairs) - 5)
    if in_project:
        message = ngettext(
            "{count:,} key exists in the project with another text and was changed: {examples}.",
            "{count:,} keys exist in the project with other texts and were changed: {examples}.",
            len(pairs),
        )
    else:
        message = ngettext(
            "{count:,} key occurs in the files with another text and was changed: {examples}.",
            "{count:,} keys occur in the files with other texts and were changed: {examples}.",
            len(pairs),
        )
    return message.format(count=len(pairs), examples=examples)
