"""What the import dialog shows: files, how they would be read, how far the import is, what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.base import registry
from workbench.base.errors import ImportFailed, WorkbenchError
from workbench.base.events import State
from workbench.base.i18n import _
from workbench.operations import corpus
from workbench.operations import labels as schema

ROWS = 20
TABULAR = ("csv", "tsv")
COLUMNS = ("csv", "tsv", "doccano", "conll", "conllu")  # formats whose columns can be given roles
GUESS = ""


class ImportState(State):
    """`phase`: choosing, looking, ready, importing, done. An error never ends it: something else can be chosen then."""

    def __init__(self, context, files: Sequence[Path | str] = ()):
        super().__init__()
        self.context, self.project = context, context.project
        self.files: tuple[Path, ...] = ()
        self.format = self.encoding = self.delimiter = GUESS
        self.mapping: tuple[tuple[str, str], ...] | None = None  # None: as guessed
        self.split, self.duplicates = "", "skip"
        self.preview: corpus.Preview | None = None
        self.error = ""
        self.phase = "choosing"
        self.handle: corpus.ImportHandle | None = None
        self.progress: tuple[float, str] = (0.0, "")
        self.outcome: corpus.ImportOutcome | None = None
        self.layers = schema.layers(self.project)
        self._asked = 0
        if files:
            self.set_files(files)

    # ------------------------------------------------------------ choosing

    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        return tuple((one.id, _(one.title)) for one in registry.builtins().all("importer"))

    @property
    def patterns(self) -> tuple[str, ...]:
        """Endings that a file dialog offers."""
        return tuple(
            dict.fromkeys(
                one
                for entry in registry.builtins().all("importer")
                for one in entry.options.get("patterns", ())
            )
        )

    @property
    def used_format(self) -> str:
        return self.format or (self.preview.format if self.preview else "")

    @property
    def has_roles(self) -> bool:
        return self.used_format in COLUMNS and self.preview is not None

    @property
    def roles(self) -> dict[str, str]:
        """Column → role in use."""
        pairs = (
            self.mapping
            if self.mapping is not None
            else (self.preview.mapping if self.preview else ())
        )
        return {column: role for role, column in pairs}

    @property
    def can_start(self) -> bool:
        return self.phase == "ready" and self.preview is not None and not self.project.read_only

    def set_files(self, files: Sequence[Path | str]) -> None:
        self.update(
            files=tuple(Path(one) for one in files),
            format=GUESS,
            encoding=GUESS,
            delimiter=GUESS,
            mapping=None,
            outcome=None,
        )
        self.look()

    def set_form(self, **values: str) -> None:
        """`format`, `encoding`, `delimiter`: corrected by hand; roles are guessed anew."""
        self.update(mapping=None, **values)
        self.look()

    def set_role(self, column: str, role: str) -> None:
        """Give a column a role ("" leaves it out); another column with that role loses it, where it can stand only once."""
        roles = self.roles
        roles.pop(column, None)
        if role:
            roles = {other: its for other, its in roles.items() if its != role}
            roles[column] = role
        order = self.preview.columns if self.preview else ()
        self.update(mapping=tuple((roles[one], one) for one in order if one in roles))
        self.look()

    def set_option(self, **values: str) -> None:
        """`split`, `duplicates`."""
        self.update(**values)

    def role_choices(self, column: str) -> list[tuple[str, str]]:
        """(role, words) that a column can have."""
        pairs = any(role == "text_b" for role in self.roles.values())
        found = [
            ("", _("Leave out")),
            ("text", _("Text")),
            ("text_b", _("Second text")),
            ("id", _("Key")),
        ]
        if self.used_format in ("conll", "conllu"):
            found = [("", _("Leave out")), ("text", _("Token"))]
        kinds = (
            []
            if self.used_format in ("conll", "conllu")
            else [("label", _("Class"), ("class", "multi"), 2 if pairs else 1)]
        )
        kinds += [("tag", _("Tags"), ("span", "tag"), 1)] if self.used_format != "doccano" else []
        kinds += (
            [("spans", _("Spans"), ("span", "tag"), 1)]
            if self.used_format in (*TABULAR, "doccano")
            else []
        )
        for kind, title, wanted, texts in kinds:
            default = {"label": "pairs" if pairs else "class"}.get(kind, "spans")
            names = [one.name for one in self.layers if one.kind in wanted and one.texts == texts]
            own = " ".join(column.split()) if not column.isdigit() else ""
            now = self.roles.get(column, "").partition(":")
            names += [now[2]] if now[0] == kind else []
            found += [
                (f"{kind}:{name}", f"{title}: {name}")
                for name in dict.fromkeys([*names, default, own])
                if name
            ]
        if self.used_format not in ("conll", "conllu"):
            found += [
                ("split", _("Split")),
                ("group", _("Group")),
                (f"meta:{column}", _("Metadata")),
            ]
        return found

    # ------------------------------------------------------------ looking

    def look(self) -> None:
        """Read the beginning of the first file off the main thread."""
        if not self.files:
            self.update(phase="choosing", preview=None)
            return
        self._asked += 1
        asked, path = self._asked, self.files[0]
        wanted = {
            "format": self.format or None,
            "encoding": self.encoding or None,
            "delimiter": self.delimiter or None,
        }
        mapping = self.mapping
        self.update(phase="looking", error="")

        def done(preview: corpus.Preview) -> None:
            if asked == self._asked:
                self.update(preview=preview, phase="ready", error="")

        def failed(error: Exception) -> None:
            if asked != self._asked:
                return
            # A wrong choice leaves the last preview standing, so that it can be corrected.
            self.update(
                phase="choosing",
                error=_words(error),
                preview=self.preview if self.mapping is not None else None,
            )

        self.context.run(
            lambda: corpus.preview(path, mapping=mapping, limit=ROWS, **wanted), done, failed
        )

    # ------------------------------------------------------------ importing

    def start(self) -> None:
        if not self.can_start:
            return
        try:
            handle = corpus.import_files(
                self.project,
                self.context.queue,
                self.files,
                format=self.format or None,
                encoding=self.encoding or None,
                delimiter=self.delimiter or None,
                mapping=self.mapping,
                split=self.split or None,
                duplicates=self.duplicates,
                background=self._background,
            )
        except WorkbenchError as error:
            self.update(error=str(error))
            return
        self.update(handle=handle, phase="importing", progress=(0.0, ""), outcome=None, error="")
        self.listen(handle.changed, self._import_changed)
        if handle.ended:
            self._import_changed()

    def _background(self, work, done) -> None:
        self.context.run(work, lambda outcome: done(outcome, None), lambda error: done(None, error))

    def cancel(self) -> None:
        if self.handle is not None:
            self.handle.cancel()

    def _import_changed(self) -> None:
        handle = self.handle
        if not handle.ended:
            share, words = handle.progress  # reading and storing take about as long
            self.update(progress=(share / 2 + (handle.status == "storing") / 2, words))
            return
        if handle.error is not None:
            self.update(phase="ready", error=str(handle.error))
            return
        self.update(phase="done", outcome=handle.outcome)
        if handle.outcome.documents:
            text = _("{n:,} documents came in.").format(n=handle.outcome.documents)
            self.context.note(
                text if handle.outcome.documents != 1 else _("1 document came in."), undo=True
            )

    @property
    def summary(self) -> str:
        """The result in one sentence."""
        found = self.outcome
        if found is None:
            return ""
        parts = [
            _("{n:,} documents").format(n=found.documents)
            if found.documents != 1
            else _("1 document")
        ]
        if found.spans:
            parts.append(
                _("{n:,} spans").format(n=found.spans) if found.spans != 1 else _("1 span")
            )
        if found.suggestions:
            parts.append(_("{n:,} suggestions").format(n=found.suggestions))
        skipped = len(found.skipped)
        told = _("{parts} came in.")
        if skipped:
            told = (
                _("{parts} came in, {n:,} records were skipped.")
                if skipped > 1
                else _("{parts} came in, 1 record was skipped.")
            )
        return told.format(parts=", ".join(parts), n=skipped)


def _words(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, WorkbenchError)
        else str(ImportFailed(_("This cannot be read: {error!r}.").format(error=error)))
    )
