"""Data in: look at a file, import it. The parsing runs in a child process, the copy into the project is one undoable step."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import paths
from workbench.base.errors import ImportFailed, WorkbenchError
from workbench.base.i18n import _
from workbench.base.watch import QUIET, Watch
from workbench.importers.base import CLASS, PAIRS, SPANS, Options
from workbench.jobs.spec import JobSpec
from workbench.operations.import_handle import ImportHandle, ImportOutcome, SkippedRecord
from workbench.operations.staging_job import STAGING, TARGET, renamed
from workbench.storage import intake, labels, staging
from workbench.storage.values import now
from workbench.text.labels import Layer, free_key

if TYPE_CHECKING:
    from workbench.jobs.queue import Job, Queue
    from workbench.project.project import Project

DUPLICATES = ("skip", "suggest", "add")
_SPANLIKE = ("span", "tag")
_OLD = 24 * 3600  # seconds after which the folder of an import that never ended is swept away


# ---------------------------------------------------------------- a look before


@dataclass(frozen=True)
class Preview:
    """What a file looks like and how it would be read. `problems`: sentences on what cannot be read among the first rows."""

    format: str
    why: str
    encoding: str
    encoding_why: str
    delimiter: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    mapping: tuple[tuple[str, str], ...]
    note: str
    problems: tuple[str, ...]


def preview(
    path: Path | str,
    *,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    mapping: Iterable[tuple[str, str]] | None = None,
    limit: int = 20,
) -> Preview:
    """The first rows of a file and a guess of everything that is not given. Raises ImportFailed."""
    from itertools import islice

    from workbench.importers.base import Skipped
    from workbench.importers.detect import detect, importer
    from workbench.importers.source import Source

    source = Source(Path(path), encoding or "", scan=4 << 20)
    why = _("chosen")
    if not format:
        found = detect(source)
        format, why = found.format, found.why
    options = Options(delimiter=delimiter or "", mapping=tuple(mapping or ()))
    reader = importer(format)
    table = reader.preview(source, options, limit)
    items = islice(reader.read(source, options), limit + 10)
    problems = tuple(
        _("Line {line}: {reason}").format(line=one.line, reason=one.reason)
        for one in items
        if isinstance(one, Skipped)
    )
    return Preview(
        format,
        why,
        source.encoding.name,
        source.encoding.why,
        table.delimiter,
        table.columns,
        table.rows,
        table.mapping,
        table.why,
        problems,
    )


# ---------------------------------------------------------------- import


def import_files(
    project: Project,
    queue: Queue,
    files: Sequence[Path | str],
    *,
    format: str | None = None,
    split: str | None = None,
    mapping: Iterable[tuple[str, str]] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    duplicates: str = "skip",
    target_layer: str | None = None,
    background: Callable[
        [Callable[[], object], Callable[[object, BaseException | None], None]], None
    ]
    | None = None,
) -> ImportHandle:
    """Start an import. All of it comes in or nothing.

    `background(fn, done)` runs the copy into the project off the main thread (a window gives `jobs.threads.run`); without it
    the copy runs where the job's end is told. Raises ImportFailed for what can be seen at once: a missing file, an unknown role.
    """
    from workbench.importers import roles

    chosen = [Path(file).absolute() for file in files]
    for path in chosen:
        if not path.exists():
            raise ImportFailed(
                _("There is no file {path}.").format(path=path), hint=_("Is the path right?")
            )
    if project.read_only:
        raise ImportFailed(
            _("{name} is open read-only: {reason}.").format(
                name=project.path.name, reason=project.read_only_reason
            )
        )
    if duplicates not in DUPLICATES:
        raise ImportFailed(
            _("duplicates is {value!r}.").format(value=duplicates),
            hint=_("Known: {all}.").format(all=", ".join(DUPLICATES)),
        )
    mapping = tuple(mapping or ())
    roles.parse(mapping)
    options = options_for(
        labels.layers(project.db),
        target_layer=target_layer,
        mapping=mapping,
        delimiter=delimiter or "",
    )
    folder = _folder()
    params = {
        "files": [str(path) for path in chosen],
        "format": format or "",
        "encoding": encoding or "",
        "split": split or "",
        "duplicates": duplicates,
        "options": asdict(options),
    }
    act = _Act(project, chosen, duplicates, folder)
    handle = ImportHandle(lambda self: act.store(self, background), queue.dispatch)
    title = _("Import {name}").format(
        name=chosen[0].name if len(chosen) == 1 else _("{n} files").format(n=len(chosen))
    )
    handle.follow(queue.add(JobSpec(TARGET, params, str(folder), device="", title=title)))
    return handle


def options_for(
    layers: Sequence[Layer],
    *,
    target_layer: str | None,
    mapping: tuple[tuple[str, str], ...],
    delimiter: str,
) -> Options:
    """Where labels go that the file does not name: the layer of the customary name, else the only one of that kind, else a new one."""

    def choose(name: str, kinds: tuple[str, ...], texts: int) -> str:
        fitting = [one.name for one in layers if one.kind in kinds and one.texts == texts]
        if target_layer and (
            target_layer in fitting or all(one.name != target_layer for one in layers)
        ):
            return target_layer
        return name if name in fitting or len(fitting) != 1 else fitting[0]

    return Options(
        delimiter=delimiter,
        mapping=mapping,
        class_layer=choose(CLASS, ("class", "multi"), 1),
        span_layer=choose(SPANS, _SPANLIKE, 1),
        pair_layer=choose(PAIRS, ("class", "multi"), 2),
    )


def _folder() -> Path:
    """A new folder for one import; those that were left behind long ago are swept away."""
    home = paths.cache_folder() / "imports"
    home.mkdir(parents=True, exist_ok=True)
    for old in home.iterdir():
        try:
            if time.time() - old.stat().st_mtime > _OLD:
                shutil.rmtree(old, ignore_errors=True)
        except OSError:
            continue
    folder = home / uuid.uuid4().hex
    folder.mkdir()
    return folder


class _Act:
    """The parent's part: layers and labels, duplicates, the copy."""

    def __init__(self, project: Project, files: Sequence[Path], duplicates: str, folder: Path):
        self.project, self.files, self.duplicates, self.folder = project, files, duplicates, folder

    def store(self, handle: ImportHandle, background) -> None:
        if background is not None:
            background(lambda: self.run(handle.job, handle.watch), handle.finish)
            return
        try:
            handle.finish(self.run(handle.job, handle.watch), None)
        except WorkbenchError as error:
            handle.finish(None, error)

    def run(self, job: Job | None = None, watch: Watch = QUIET) -> ImportOutcome:
        try:
            staged = staging.examine(self.folder / STAGING)
            outcome = self._copy(staged, watch)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        if job is not None:
            formats = tuple(job.result.get("formats", ())) if job.result else ()
            outcome = ImportOutcome(
                outcome.documents,
                outcome.spans,
                outcome.skipped,
                outcome.warnings,
                outcome.suggestions,
                formats,
            )
        return outcome

    def _copy(self, staged: staging.Staged, watch: Watch) -> ImportOutcome:
        skipped = [
            SkippedRecord(str(self.files[file]), line, reason)
            for file, line, reason in staged.skipped
        ]
        warnings = list(dict.fromkeys(staged.warnings))
        if not staged.documents and not any(one.declared for one in staged.layers):
            return ImportOutcome(0, 0, tuple(skipped), tuple(warnings))
        project = self.project
        name = (
            self.files[0].name if len(self.files) == 1 else _("{n} files").format(n=len(self.files))
        )
        with intake.attached(project.db, staged.path):
            with project.edit(_("Import {name}").format(name=name), bulk=True):
                same, keys = self._clashes(skipped, warnings)
                wanted = [] if self.duplicates == "add" else [one.seq for one in same]
                if staged.documents == len(wanted) and self.duplicates == "skip":
                    return ImportOutcome(0, 0, tuple(skipped), tuple(warnings))
                targets = self._targets(staged, warnings)
                documents, spans = intake.take_in(
                    project.db,
                    targets,
                    annotator_id=project.annotator_id,
                    at=now(),
                    skip=wanted,
                    keys=keys,
                    watch=watch.part(0.0, 0.95),
                )
                suggestions = 0
                if self.duplicates == "suggest" and same:
                    pairs = [(one.seq, one.document_id) for one in same]
                    suggestions = intake.suggest(project.db, targets, pairs, at=now())
                    warnings.append(
                        _(
                            "{n:,} records stood in the project already; {m:,} of their labels came in as suggestions."
                        ).format(n=len(same), m=suggestions)
                    )
        return ImportOutcome(documents, spans, tuple(skipped), tuple(warnings), suggestions)

    def _clashes(
        self, skipped: list[SkippedRecord], warnings: list[str]
    ) -> tuple[list[intake.Clash], dict[int, str]]:
        """Documents with key and text of one in the project, and new keys by seq for those that need one."""
        found = intake.clashes(self.project.db)
        same = [one for one in found if one.same_text]
        if self.duplicates == "skip":
            reason = _("its key ({key}) and text both stand in the project already")
            skipped += [
                SkippedRecord(str(self.files[one.file]), one.line, reason.format(key=one.key))
                for one in same
            ]
            skipped.sort(key=lambda one: (one.file, one.line))
        other = [one for one in found if self.duplicates == "add" or not one.same_text]
        new = intake.free_keys(self.project.db, [one.key for one in other])
        if different := [
            (one.key, new[place]) for place, one in enumerate(other) if not one.same_text
        ]:
            warnings.append(renamed(different, _("stood in the project already")))
        if again := [(one.key, new[place]) for place, one in enumerate(other) if one.same_text]:
            warnings.append(
                _(
                    "{n:,} records that stand in the project already were added again, under new keys."
                ).format(n=len(again))
            )
        return same, {one.seq: new[place] for place, one in enumerate(other)}

    def _targets(self, staged: staging.Staged, warnings: list[str]) -> intake.Targets:
        layer_ids: dict[int, int] = {}
        label_ids: dict[int, int] = {}
        for one in staged.layers:
            layer = self._layer(one, warnings)
            layer_ids[one.n] = layer.id
            label_ids.update(self._labels(layer, one))
        sources = {
            number: self.project.source("import", path.name)
            for number, path in enumerate(self.files)
        }
        return intake.Targets(layer_ids, label_ids, sources)

    def _layer(self, staged: staging.StagedLayer, warnings: list[str]) -> Layer:
        """The layer of the project with that name and kind, or a new one under a free name."""
        db, wanted = self.project.db, staged.layer
        there = {one.name: one for one in labels.layers(db)}
        found = there.get(wanted.name)
        if found is not None and _alike(found, wanted):
            if staged.declared and not found.labels:
                labels.update_layer(
                    db,
                    found.id,
                    guideline=found.guideline or wanted.guideline,
                    options={**wanted.options, **found.options},
                )
            return found
        name = _free_layer_name(wanted, there)
        if found is not None and name in there:
            return there[name]
        if found is not None:
            warnings.append(
                _(
                    "There is a layer {old} of another kind; the labels went to a new layer {new}."
                ).format(old=wanted.name, new=name)
            )
        if wanted.kind == "multi" and not staged.declared:
            warnings.append(
                _(
                    "Documents of layer {name} have more than one class; such a layer cannot be trained yet."
                ).format(name=name)
            )
        id = labels.add_layer(
            db,
            name,
            wanted.kind,
            texts=wanted.texts,
            guideline=wanted.guideline,
            options=dict(wanted.options),
        )
        return labels.layer(db, id)

    def _labels(self, layer: Layer, staged: staging.StagedLayer) -> dict[int, int]:
        """Number in the staging file → id, adding what is missing. A label gets the key that the file gives it, else the next free one."""
        known = {one.name: one.id for one in layer.labels}
        keys = {one.key for one in layer.labels if one.key}
        found: dict[int, int] = {}
        for number, label in staged.labels:
            if label.name not in known:
                key = "" if label.key in keys else label.key
                if not staged.declared:
                    key = free_key(layer.kind, keys)
                keys.add(key)
                known[label.name] = labels.add_label(
                    self.project.db,
                    layer.id,
                    label.name,
                    colour=label.colour,
                    key=key,
                    description=label.description,
                )
            found[number] = known[label.name]
        return found


def _alike(found: Layer, wanted: Layer) -> bool:
    same_kind = (
        found.kind == wanted.kind
        or {found.kind, wanted.kind} <= set(_SPANLIKE)
        or (found.kind == "multi" and wanted.kind == "class")
    )
    return same_kind and found.texts == wanted.texts


def _free_layer_name(wanted: Layer, there: Mapping[str, Layer]) -> str:
    """The wanted name, or "name 2" …; a layer so named that is alike serves as well."""
    name, number = wanted.name, 1
    while name in there and not (number > 1 and _alike(there[name], wanted)):
        number += 1
        name = f"{wanted.name} {number}"
    return name
