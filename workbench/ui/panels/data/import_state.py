"""State of the import dialog: files, how they are read, progress and result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.base import plugin_failures, registry
from workbench.base.errors import Cancelled, ImportFailed, SpecError, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _, ngettext
from workbench.base.options import Option
from workbench.operations.schema import labels as schema
from workbench.operations.transfer import (
    archives,
    data_import,
    import_choice,
    import_outcome,
    import_people,
    import_preview,
)
from workbench.text.segmenters import base as segmenters
from workbench.ui.panels.data.column_roles import COLUMNS, Roles
from workbench.ui.project.opened import opened

if TYPE_CHECKING:
    from workbench.base.watch import Watch
    from workbench.ui.panel import PanelContext

MOST_REFUSED = 3  # maximum number of reasons shown
GUESS = ""
PREVIEW, IMPORT = "import-preview", "import"  # tasks


class ImportState(State):
    """`phase`: choosing, looking, ready, importing, done. After an error other choices can be made.

    `errors`: importer option → what is wrong with its value; nothing is read until it is corrected.
    `refused`: why files after the first cannot be imported. `anyway`: the user wants the readable
    records of a file with mostly invalid records.
    """

    def __init__(self, context: PanelContext, files: Sequence[Path | str] = ()) -> None:
        super().__init__()
        self.context, self.project = context, opened(context)
        self.files: tuple[Path, ...] = ()
        self.format = self.encoding = self.delimiter = GUESS
        self.settings: dict[str, str] = {}  # of the importer, where they are not the defaults
        self.errors: dict[str, str] = {}
        self.mapping: tuple[tuple[str, str], ...] | None = None  # None: detected automatically
        self.split, self.duplicates, self.people = "", "skip", import_people.AUTO
        self.near: float | None = None
        self.segmenter = segmenters.DEFAULT
        self.preview: import_preview.ImportPreview | None = None
        self.refused: tuple[str, ...] = ()
        self.anyway = False
        self.error = ""
        self.phase = "choosing"
        self._cancelled = ""  # what `error` is after the user cancelled the import
        self.progress: tuple[float, str] = (0.0, "")
        self.outcome: import_outcome.ImportOutcome | None = None
        self.layers = schema.layers(self.project)
        self._warnings: tuple[str, ...] = ()  # about the choice of files
        if files:
            self.choose(files)

    # ------------------------------------------------------------ choosing

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (contribution.id, _(contribution.title))
            for contribution in registry.registry().all("importer")
        )

    @property
    def patterns(self) -> tuple[str, ...]:
        """File name patterns of the file dialog."""
        return (*import_choice.patterns(), f"*{archives.SUFFIX}")

    @property
    def used_format(self) -> str:
        return self.format or (self.preview.format if self.preview else "")

    @property
    def has_roles(self) -> bool:
        return self.used_format in COLUMNS and self.preview is not None

    @property
    def roles(self) -> dict[str, str]:
        """Column → current role."""
        pairs = (
            self.mapping
            if self.mapping is not None
            else (self.preview.mapping if self.preview else ())
        )
        return {column: role for role, column in pairs}

    @property
    def can_start(self) -> bool:
        ready = self.phase == "ready" and self.preview is not None
        blocked = self.project.read_only or segmenters.missing(self.segmenter)
        return ready and not blocked and not self.obstacle

    @property
    def obstacle(self) -> str:
        """Why Import is disabled although the file can be read; "" if it is not."""
        preview = self.preview
        if preview is None:
            return ""
        if preview.question:
            return _(
                "{question} Import each of its lines as a document?", question=preview.question
            )
        if self.refused:
            return "\n".join(self.refused[:MOST_REFUSED])
        if preview.mostly_wrong and not self.anyway:
            return _mostly_wrong(preview)
        return ""

    @property
    def can_override(self) -> bool:
        """Whether the user can override a warning: import lines of markup, or only the valid
        records.
        """
        preview = self.preview
        if preview is None or not self.obstacle:
            return False
        return bool(preview.question) or (not self.refused and preview.failed < preview.checked)

    def override(self) -> None:
        """Import as plain text, or without the invalid records."""
        if self.preview is not None and self.preview.question:
            self.set_form(format="text")
        else:
            self.update(anyway=True)

    @property
    def advice(self) -> segmenters.SegmenterAdvice | None:
        """About words, if the preview shows texts without spaces between them."""
        rows = self.preview.rows if self.preview is not None else ()
        return segmenters.advice(max(row.cells, key=len, default="") for row in rows)

    @property
    def segmenters(self) -> list[tuple[str, str]]:
        """(id, title) of the choices: those with a dictionary for the texts first."""
        titles, advice = segmenters.titles(), self.advice
        names = [*(advice.names if advice is not None else ()), *titles]
        return [(name, _(titles[name])) for name in dict.fromkeys(names) if name in titles]

    @property
    def offered_splits(self) -> dict[Path, str]:
        """The splits that the names of the files suggest."""
        return import_choice.suggested_splits(self.files)

    @property
    def people_choices(self) -> list[tuple[str, str]]:
        """(choice, title) of the ways to import labels of several people; () if there are none."""
        people = self.preview.people if self.preview is not None else {}
        by_file = len(self.files) > 1 and not self.offered_splits
        if not people and not by_file:
            return []
        titles = [(import_people.AUTO, _("Automatic") if people else _("As your labels"))]
        titles += [(import_people.ALL, _("Each person’s labels apart"))] if people else []
        titles += [(import_people.FILES, _("One person per file"))] if by_file else []
        if people:
            titles.append((import_people.FIRST, _("One version, as your labels")))
        return titles + [
            (
                f"{import_people.ONE}{name}",
                ngettext("Only {name} ({n:,} document)", "Only {name} ({n:,} documents)", n).format(
                    name=name, n=n
                ),
            )
            for name, n in people.items()
        ]

    @property
    def people_hint(self) -> str:
        """The people in the preview with numbers of documents, and what the choice does."""
        preview = self.preview
        meaning = {
            import_people.AUTO: _(
                "Kept separate if several people labelled a document, otherwise imported as "
                "your labels."
            ),
            import_people.FIRST: _("The curated version of a document, else the first."),
            import_people.FILES: _("The name of each file is that of the person."),
        }.get(self.people, "")
        if preview is None or not preview.people:
            return meaning if self.people == import_people.FILES else ""
        people = import_people.listed(preview.people.items())
        if not preview.people_complete:
            people = _("In the records read so far: {people}", people=people)
        return f"{people}\n{meaning}".strip()

    def choose(self, paths: Sequence[Path | str]) -> None:
        """Set the files that were chosen; folders and archives, which stand for their data files,
        are read off the main thread.
        """
        if not any(Path(path).is_dir() or archives.is_archive(Path(path)) for path in paths):
            self._set_files(import_choice.chosen(paths))
            return

        def look() -> tuple[tuple[Path, ...], tuple[str, ...]]:
            return import_choice.chosen(paths), import_choice.links_out(paths)

        def done(chosen: tuple[tuple[Path, ...], tuple[str, ...]]) -> None:
            self._set_files(*chosen)

        def failed(error: Exception) -> None:
            self.update(phase="choosing", error=_words(error))

        self.update(phase="looking", error="")
        self.context.task(PREVIEW, look, done, failed=failed)

    def _set_files(self, files: Sequence[Path], warnings: Sequence[str] = ()) -> None:
        """Set the files and preselect the splits that their names suggest."""
        archives.remove({*self.files} - {*files})
        self._warnings = tuple(warnings)
        self.update(
            files=tuple(files),
            format=GUESS,
            encoding=GUESS,
            delimiter=GUESS,
            mapping=None,
            settings={},
            outcome=None,
            people=import_people.AUTO,
            split=import_choice.BY_NAME if import_choice.suggested_splits(files) else "",
        )
        self.refresh()

    def set_form(self, **values: str) -> None:
        """Set `format`, `encoding` or `delimiter` by hand; roles are detected again."""
        settings = {} if "format" in values else self.settings
        self.update(mapping=None, anyway=False, settings=settings, **values)
        self.refresh()

    @property
    def importer_options(self) -> tuple[Option, ...]:
        """The options that the importer of the file declares."""
        return import_preview.settings_of(self.used_format)

    def set_settings(self, settings: Mapping[str, str]) -> None:
        """Set options of the importer; all others have their defaults."""
        self.update(mapping=None, anyway=False, settings=dict(settings))
        self.refresh()

    def _wrong_settings(self) -> dict[str, str]:
        errors = {}
        known = {option.name: option for option in self.importer_options if self.settings}
        for name in known.keys() & self.settings.keys():
            try:
                known[name].parse(self.settings[name])
            except SpecError as error:
                errors[name] = error.message
        return errors

    def set_role(self, column: str, role: str) -> None:
        """Set the role of a column ("" leaves it out); others may change with it."""
        roles = self._roles.changed(column, role)
        order = self.preview.columns if self.preview else ()
        self.update(mapping=tuple((roles[text], text) for text in order if text in roles))
        self.refresh()

    def set_option(self, **values: str | float | None) -> None:
        """`split`, `duplicates`, `near`, `segmenter`, `people`."""
        self.update(**values)

    def role_choices(self, column: str) -> list[tuple[str, str]]:
        """(role, title) that a column can have."""
        return self._roles.offered(column)

    @property
    def _roles(self) -> Roles:
        columns = self.preview.columns if self.preview else ()
        return Roles(self.used_format, columns, self.roles, self.layers)

    # ------------------------------------------------------------ preview

    def refresh(self) -> None:
        """Read the first records of the files off the main thread."""
        self.context.drop(PREVIEW)
        if not self.files:
            self.update(phase="choosing", preview=None, refused=())
            return
        if errors := self._wrong_settings():
            self.update(phase="choosing", error="", errors=errors)
            return
        files, format, encoding = self.files, self.format or None, self.encoding or None
        delimiter = self.delimiter or None
        mapping, layers, settings = self.mapping, self.layers, self.settings
        self.update(phase="looking", error="", errors={})

        def work() -> tuple[import_preview.ImportPreview, tuple[str, ...]]:
            left_out = import_choice.left_out(files)
            path, *others = (file for file in files if file not in left_out)
            refused = import_preview.refused(others, format=format, encoding=encoding)
            read_as: dict[str, Any] = {
                "format": format,
                "encoding": encoding,
                "delimiter": delimiter,
                "mapping": mapping,
                "layers": layers,
                "settings": settings,
            }
            preview = import_preview.preview(path, **read_as)
            people, complete = import_preview.people_of(preview, others, **read_as)
            warnings = (*self._warnings, *left_out.values(), *preview.warnings)
            return replace(
                preview, warnings=warnings, people=people, people_complete=complete
            ), refused

        def done(checked: tuple[import_preview.ImportPreview, tuple[str, ...]]) -> None:
            self.update(preview=checked[0], refused=checked[1], phase="ready", error="")

        def failed(error: Exception) -> None:
            # After a wrong choice the last preview stays visible, so that the choice can be
            # corrected.
            self.update(
                phase="choosing",
                error=_words(error),
                preview=self.preview if self.mapping is not None or self.settings else None,
            )

        self.context.task(PREVIEW, work, done, failed=failed)

    # ------------------------------------------------------------ importing

    def start(self) -> None:
        if not self.can_start:
            return
        work = partial(
            data_import.import_files,
            self.project,
            self.context.queue,
            self.files,
            format=self.format or None,
            encoding=self.encoding or None,
            delimiter=self.delimiter or None,
            mapping=self.mapping,
            split=self.split or None,
            duplicates=self.duplicates,
            near=self.near,
            settings=self.settings,
            segmenter=self.segmenter,
            people=self.people,
            warnings=self._warnings,
        )
        self.update(phase="importing", progress=(0.0, ""), outcome=None, error="")
        self.context.task(
            IMPORT,
            work,
            self._imported,
            failed=self._failed,
            progress=self._report,
            title=_("Import data"),
            writes=True,
        )

    def cancel(self) -> None:
        self.context.cancel(IMPORT)

    def _report(self, watch: Watch) -> None:
        self.update(progress=(watch.share, str(watch.progress.get("text", ""))))

    def _imported(self, outcome: import_outcome.ImportOutcome) -> None:
        self.update(phase="done", outcome=outcome)
        if outcome.documents or outcome.added:
            self.context.note(self.summary, undo=True)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, WorkbenchError):
            failure = ImportFailed(_("The import failed: {error!r}.", error=error))
            error = plugin_failures.of(error) or failure
        self._cancelled = str(error) if isinstance(error, Cancelled) else ""
        self.update(phase="ready", error=str(error))

    def close(self) -> None:
        self.context.drop(PREVIEW)
        archives.remove(self.files)
        super().close()

    @property
    def is_cancelled(self) -> bool:
        """Whether `error` says that the user cancelled the import."""
        return bool(self.error) and self.error == self._cancelled

    @property
    def is_clean(self) -> bool:
        """Whether everything was imported and there is nothing to read but the numbers."""
        outcome = self.outcome
        return (
            outcome is not None
            and bool(outcome.documents or outcome.added)
            and not (outcome.skipped or outcome.warnings)
        )

    @property
    def summary(self) -> str:
        """The result in one or two sentences."""
        outcome = self.outcome
        if outcome is None:
            return ""
        message = outcome.sentence
        if not (skipped := len(outcome.skipped)):
            return message
        left_out = ngettext("{n:,} record was skipped.", "{n:,} records were skipped.", skipped)
        return f"{message} {left_out}"


def _mostly_wrong(preview: import_preview.ImportPreview) -> str:
    if preview.failed == preview.checked:
        return _(
            "No record could be read. Choose another format, encoding or delimiter, or other "
            "columns."
        )
    message = (
        ngettext(
            "{failed:,} of {checked:,} record has errors.",
            "{failed:,} of {checked:,} records have errors.",
            preview.checked,
        )
        if preview.complete
        else ngettext(
            "{failed:,} of the first {checked:,} record has errors.",
            "{failed:,} of the first {checked:,} records have errors.",
            preview.checked,
        )
    )
    advice = _("Choose another format or delimiter, or other columns.")
    return f"{message.format(failed=preview.failed, checked=preview.checked)} {advice}"


def _words(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, WorkbenchError)
        else str(ImportFailed(_("Cannot read the file: {error!r}.", error=error)))
    )
