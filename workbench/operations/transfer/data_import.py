"""Data import: preview a file and import it.

A child process parses it; copying into the project is one undo step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.base import scratch
from workbench.base.errors import Cancelled, ImportFailed, JobFailed
from workbench.base.i18n import _, ngettext
from workbench.base.watch import QUIET, Watch
from workbench.importers.results import StagingResult
from workbench.jobs.spec import JobSpec
from workbench.operations.annotation import patterns, relation_rules
from workbench.operations.documents import duplicates as near_duplicates
from workbench.operations.schema.label_keys import command_keys, used_keys
from workbench.operations.transfer import import_people
from workbench.operations.transfer.import_choice import BY_NAME, split_of
from workbench.operations.transfer.import_duplicates import DUPLICATES, ImportDuplicates
from workbench.operations.transfer.import_outcome import ImportOutcome, SkippedRecord
from workbench.operations.transfer.import_people import AUTO
from workbench.operations.transfer.import_preview import options_for
from workbench.operations.transfer.staging_job import STAGING, TARGET
from workbench.storage.annotation import people
from workbench.storage.documents import places
from workbench.storage.labels import labels
from workbench.storage.schema.values import now
from workbench.storage.staging import copy_staged, staging
from workbench.text.labels import NUMBERS, Label, Layer, free_key
from workbench.text.relations import SPANS, span_layer
from workbench.text.rows import row_id
from workbench.text.scale import Scale

if TYPE_CHECKING:
    from workbench.jobs.queue import Queue
    from workbench.project.project import Project


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
    near: float | None = None,
    target_layer: str | None = None,
    settings: Mapping[str, str] | None = None,
    segmenter: str | None = None,
    people: str = AUTO,
    warnings: Sequence[str] = (),
    watch: Watch = QUIET,
) -> ImportOutcome:
    """Parse files in a job and copy their documents into the project, all or nothing.

    settings: values of options of the importer; SpecError if it does not declare them. near: also
    count near-duplicates from this similarity on, which `skip-text` skips; see
    `operations.documents.duplicates`. segmenter: its words become the tokens of texts without
    tokens. people: whose labels are imported where the files name annotators, see
    `import_people`. warnings: about the choice of files, added to those of the import.

    Half of the progress of `watch` is for each of the two steps; its events have `text`. Raises
    Cancelled, or ImportFailed, before the job starts for a missing file or an unknown role.
    """
    from workbench.importers import detect
    from workbench.importers.fields import roles

    paths = [Path(file).absolute() for file in files]
    _check(project, paths, duplicates)
    near_duplicates.check(near)
    import_people.check(people)
    mapping = tuple(mapping or ())
    roles.parse(mapping, asks=True)  # the importer of the format asks for choices
    options = options_for(
        labels.layers(project.db),
        target_layer=target_layer,
        mapping=mapping,
        delimiter=delimiter or "",
        settings=settings or {},
    )
    if format:
        detect.completed(format, options)
    params = {
        "files": [str(path) for path in paths],
        "format": format or "",
        "encoding": encoding or "",
        "splits": _splits(paths, split),
        "duplicates": duplicates,
        "segmenter": segmenter or "",
        "options": asdict(options),
        "names": import_people.names_by_file(paths, people),
        "warnings": list(warnings),
    }
    folder = scratch.make("import")
    title = _("Import {name}", name=_named(paths))
    spec = JobSpec(TARGET, params, str(folder), device="", title=title, project=str(project.path))
    try:
        parsed = StagingResult.from_json(queue.run(spec, watch.part(0.0, 0.5)))
        watch.event({"kind": "storing", "text": _("Storing…")})
        outcome = copy_documents(
            project, folder / STAGING, paths, duplicates=duplicates, near=near, people=people,
            watch=watch.part(0.5, 1.0),
        )  # fmt: skip
    except Cancelled as error:
        raise Cancelled(_("The import was cancelled. No changes were made.")) from error
    except JobFailed as error:
        raise ImportFailed(error.message, hint=error.hint) from error
    finally:
        scratch.remove(folder)
    failed = parsed.faults > 0 and not parsed.documents
    return replace(outcome, formats=parsed.formats, failed=failed)


def copy_documents(
    project: Project,
    staging_file: Path,
    files: Sequence[Path],
    *,
    duplicates: str = "skip",
    near: float | None = None,
    people: str = AUTO,
    watch: Watch = QUIET,
) -> ImportOutcome:
    """Copy what the job has parsed from these files into the project, as one undo step.

    Raises Cancelled; the project is then unchanged.
    """
    staged = staging.examine(staging_file)
    return _Copy(project, files, duplicates, near, people).run(staged, watch)


def _check(project: Project, files: Sequence[Path], duplicates: str) -> None:
    """Raises ImportFailed if these files cannot be imported into the project in this way."""
    for path in files:
        if not path.exists():
            raise ImportFailed(_("There is no file {path}.", path=path), hint=_("Check the path."))
    if project.read_only:
        raise ImportFailed(
            _(
                "{name} is open read-only: {reason}.",
                name=project.path.name,
                reason=project.read_only_reason,
            )
        )
    if duplicates not in DUPLICATES:
        raise ImportFailed(
            _("{value!r} is not a valid value for duplicates.", value=duplicates),
            hint=_("Known: {all}.", all=", ".join(DUPLICATES)),
        )


def _named(files: Sequence[Path]) -> str:
    """The name of a single file, else their number."""
    if len(files) == 1:
        return files[0].name
    return ngettext("{n} file", "{n} files", len(files))


def _splits(files: Sequence[Path], split: str | None) -> dict[str, str]:
    """`all`: the split of every document. By file: for documents that specify none."""
    if split == BY_NAME:
        return {str(path): split_of(path) for path in files}
    return {"all": split} if split else {}


@dataclass(frozen=True)
class _Copied:
    """Numbers of what a copy into the project added."""

    documents: int = 0
    spans: int = 0
    questions: int = 0
    suggestions: int = 0
    labelled: int = 0
    labels: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)
    added: int = 0


class _NothingToImport(Exception):
    """Rolls back an edit that has only added people, layers or sources."""


class _Copy:
    """The part of an import in the parent process: layers and labels, duplicates, the copy."""

    def __init__(
        self,
        project: Project,
        files: Sequence[Path],
        duplicates: str,
        near: float | None,
        people: str,
    ):
        self.project, self.files = project, files
        self.duplicates, self.near, self.people = duplicates, near, people

    def run(self, staged: staging.Staged, watch: Watch) -> ImportOutcome:
        skipped = [
            SkippedRecord(str(self.files[file]), line, reason)
            for file, line, reason in staged.skipped
        ]
        warnings = list(dict.fromkeys(staged.warnings))
        if not staged.documents and not any(layer.declared for layer in staged.layers):
            return ImportOutcome(0, 0, tuple(skipped), tuple(warnings))
        self.chosen = import_people.chosen(staged, self.people)
        copied = _Copied()
        with suppress(_NothingToImport), copy_staged.attached(self.project.db, staged.path):
            title = _("Import {name}", name=_named(self.files))
            with self.project.edit(title, bulk=True, watch=watch.part(0.8, 1.0)):
                db, chosen = self.project.db, self.chosen or {}
                labelled = copy_staged.with_people(db, chosen)
                repeated = ImportDuplicates.find(
                    db, self.files, self.duplicates, self.near, labelled
                )
                new = staged.documents > len(repeated.skip) or not staged.documents
                if new or repeated.known or self.duplicates.startswith("suggest"):
                    copied = self._copy_documents(staged, repeated, warnings, watch)
                if repeated.known and not copied.documents and not copied.added:
                    raise _NothingToImport
        skipped = sorted(
            [*skipped, *repeated.skipped], key=lambda record: (record.file, record.line)
        )
        warnings += repeated.warnings
        if self.chosen is None and staged.shared:
            warnings.append(import_people.one_version(staged))
        return ImportOutcome(
            copied.documents, copied.spans, tuple(skipped), tuple(warnings), copied.suggestions,
            repeated.same_texts, questions=copied.questions, labelled=copied.labelled,
            labels=copied.labels, splits=copied.splits, added=copied.added,
            people={} if self.chosen is None else import_people.documents_of(staged, self.chosen),
        )  # fmt: skip

    def _copy_documents(
        self, staged: staging.Staged, repeated: ImportDuplicates, warnings: list[str], watch: Watch
    ) -> _Copied:
        """Copy the new documents, and suggest labels for them and for known ones."""
        project = self.project
        labelled_layers = people.labelled_layers(project.db)
        targets = self._targets(staged, warnings)
        last = places.last_document(project.db)
        copied = copy_staged.copy_documents(
            project.db,
            targets,
            annotator_id=project.annotator_id,
            at=now(),
            skip=repeated.skip,
            keys=repeated.keys,
            known=repeated.known,
            watch=watch.part(0.0, 0.7),
        )
        if copied.kept:
            warnings.append(import_people.kept(copied.kept))
        if targets.people is not None:
            warnings += import_people.set_gold(project, targets, labelled_layers)
        documents = copied.documents
        questions = copy_staged.questions(project.db)
        labelled = copy_staged.labelled_after(project.db, last) if documents else 0
        labels = len(set(targets.labels.values())) if documents or copied.added else 0
        splits = copy_staged.splits_after(project.db, last)
        suggestions = repeated.suggest(project.db, targets, now())
        suggested, fault = patterns.apply_to_new(project, last, watch=watch.part(0.7, 0.8))
        warnings += [fault] if fault else []
        return _Copied(
            documents, copied.spans, questions, suggestions + suggested, labelled, labels, splits,
            copied.added,
        )  # fmt: skip

    def _targets(self, staged: staging.Staged, warnings: list[str]) -> copy_staged.Targets:
        layer_ids: dict[int, int] = {}
        label_ids: dict[int, int] = {}
        names: dict[str, str] = {}  # layer of spans in the file → in the project
        for staged_layer in sorted(
            staged.layers, key=lambda layer: layer.layer.traits.between_spans
        ):
            staged_layer = _connecting(staged_layer, names)
            layer = self._layer(staged_layer, warnings)
            names.setdefault(staged_layer.layer.name, layer.name)
            layer_ids[staged_layer.n] = row_id(layer)
            label_ids.update(self._labels(layer, staged_layer))
            warnings += relation_rules.broken(staged.relations, staged_layer, layer)
        sources = {
            number: self.project.source("import", path.name)
            for number, path in enumerate(self.files)
        }
        annotators = import_people.annotators(self.project, staged, self.chosen)
        return copy_staged.Targets(layer_ids, label_ids, sources, annotators)

    def _layer(self, staged: staging.StagedLayer, warnings: list[str]) -> Layer:
        """The layer of the project with that name and kind, or a new one under a free name."""
        db, imported = self.project.db, staged.layer
        there = {layer.name: layer for layer in labels.layers(db)}
        existing = there.get(imported.name)
        if existing is not None and _alike(existing, imported):
            if not existing.traits.has_labels:
                self._widen(existing, imported)
            elif staged.declared and not existing.labels:
                labels.update_layer(
                    db,
                    row_id(existing),
                    guideline=existing.guideline or imported.guideline,
                    options={**imported.options, **existing.options},
                )
            return existing
        name = _free_layer_name(imported, there)
        if existing is not None and name in there:
            return there[name]
        if existing is not None:
            warnings.append(
                _(
                    "Layer {old} already exists with another kind; the labels were "
                    "imported into a new layer {new}.",
                    old=imported.name,
                    new=name,
                )
            )
        id = labels.add_layer(
            db,
            name,
            imported.kind,
            texts=imported.texts,
            guideline=imported.guideline,
            options=dict(imported.options),
            gold=self.project.annotator_id,
        )
        return labels.layer(db, id)

    def _widen(self, existing: Layer, imported: Layer) -> None:
        """The scale of the layer, with the imported numbers that were not on it."""
        scale = Scale.of(existing.options).widened(Scale.of(imported.options))
        if existing.traits.record == NUMBERS and scale != Scale.of(existing.options):
            options = {**existing.options, **scale.options}
            labels.update_layer(self.project.db, row_id(existing), options=options)

    def _labels(self, layer: Layer, staged: staging.StagedLayer) -> dict[int, int]:
        """Number in the staging file → id, adding missing labels.

        A label gets the key given in the file, else the next free one, but none of another label
        that is shown beside it.
        """
        known = {label.name: row_id(label) for label in layer.labels}
        keys = set(used_keys(self.project, layer))
        if not staged.declared:
            keys |= command_keys()
        ids: dict[int, int] = {}
        added: list[Label] = []
        for number, label in staged.labels:
            if label.name not in known:
                added.append(label)
                key = "" if label.key in keys else label.key
                if not staged.declared:
                    key = free_key(layer.kind, keys)
                keys.add(key)
                known[label.name] = labels.add_label(
                    self.project.db,
                    row_id(layer),
                    label.name,
                    colour=label.colour,
                    key=key,
                    description=label.description,
                )
            ids[number] = known[label.name]
        labels.group_labels(self.project.db, added, known)
        return ids


def _alike(existing: Layer, imported: Layer) -> bool:
    """Whether labels of one layer can be imported into the other."""
    if existing.traits.between_spans and span_layer(existing) != span_layer(imported):
        return False
    return existing.traits.holds(imported.traits) and existing.texts == imported.texts


def _connecting(staged: staging.StagedLayer, names: Mapping[str, str]) -> staging.StagedLayer:
    """A relation layer with the name that the layer of its spans has in the project."""
    layer = staged.layer
    of = span_layer(layer)
    if not layer.traits.between_spans or names.get(of, of) == of:
        return staged
    return replace(staged, layer=replace(layer, options={**layer.options, SPANS: names[of]}))


def _free_layer_name(imported: Layer, there: Mapping[str, Layer]) -> str:
    """The name of the layer, or "name 2" …; an existing compatible layer of it is reused."""
    name, number = imported.name, 1
    while name in there and not (number > 1 and _alike(there[name], imported)):
        number += 1
        name = f"{imported.name} {number}"
    return name
