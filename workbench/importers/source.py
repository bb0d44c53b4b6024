"""A file read as text: its encoding, lines and read position."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.base.untrusted import companion_leads_out
from workbench.importers import signatures
from workbench.importers.encoding import Encoding, guess

HEAD = 1 << 16
LOOK = 1 << 24
MAY_BE_EMPTY = ".ann"  # brat stores an empty file beside a text without annotations


class Source:
    """`encoding` is detected from the whole file unless given.

    is_binary: an importer reads the bytes of the file at `path`; it has no lines, and its head has
    a character for each byte. Raises ImportFailed for other binary files.
    """

    # Of a file of columns: those (from 0) that were used to find its sentences.
    used_columns: tuple[int, ...] = ()

    def __init__(self, path: Path, encoding: str = "", *, scan: int | None = None):
        """`scan`: for a preview, use only this many bytes for detection, and stop after LOOK
        characters.
        """
        self.scan = scan
        # whether the last reading stopped before the end of the file, as requested by `scan`
        self.cut = False
        self.path = Path(path)
        self.name = self.path.name
        try:
            if self.path.is_dir():
                raise ImportFailed(
                    _("{path} is a folder.", path=self.path),
                    hint=_("Choose the files in it."),
                )
            about = self.path.stat()
            if not stat.S_ISREG(
                about.st_mode
            ):  # reading a pipe could block forever, and it can be read only once
                raise ImportFailed(
                    _("{path} is a pipe or a device, not a file.", path=self.path),
                    hint=_("Save the data in a file first."),
                )
            self.size = about.st_size
            self.is_binary = signatures.is_read(self.path, self._bytes(HEAD))
            if self.is_binary:
                self.encoding = Encoding.of_bytes()
            elif encoding or (self.size == 0 and self.path.suffix == MAY_BE_EMPTY):
                self.encoding = Encoding.named(encoding or "utf-8")
            else:
                self.encoding = guess(self.path, limit=scan)
        except OSError as error:
            raise ImportFailed(
                _(
                    "{path} cannot be read: {strerror}.",
                    path=self.path,
                    strerror=error.strerror or error,
                ),
                hint=_("Check the path."),
            ) from error
        self._raw: io.BufferedReader | None = None

    def beside(self, path: Path) -> Path:
        """The path of a file that is read with this one. Raises ImportFailed for a link that leads
        out of the folder.
        """
        if companion_leads_out(path, self.path):
            raise ImportFailed(
                _(
                    "{file}, which belongs to {name}, is a link that leads out of its folder.",
                    file=path.name,
                    name=self.name,
                ),
                hint=_("Links out of a folder are not followed. Put the file itself there."),
            )
        return path

    @property
    def position(self) -> int:
        """Number of bytes read so far by the running `lines()`."""
        return self._raw.tell() if self._raw and not self._raw.closed else 0

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        """Lines without their line end, or with it (`ends`). Only U+000A ends a line (with a
        preceding U+000D); U+2028, U+0085 and form feeds are text.

        Bytes that are not UTF-8 are read as U+DC80 … U+DCFF, so that an invalid line affects only
        one record.

        Raises ImportFailed for bytes that do not fit the encoding.
        """
        self._check_text()
        errors = "surrogateescape" if self.encoding.codec.startswith("utf-8") else "strict"
        with open(self.path, "rb") as self._raw:
            text = io.TextIOWrapper(
                self._raw, encoding=self.encoding.codec, errors=errors, newline=self._line_end()
            )
            try:
                self.cut = False
                whole = text if self.scan is None else self._beginning(text)
                if ends:
                    yield from whole
                    return
                for line in whole:
                    yield line.removesuffix("\n").removesuffix("\r")
            except UnicodeError as error:
                raise self._wrong(error) from error

    def _line_end(self) -> str:
        head = self.head(HEAD)
        # Files of classic Mac OS end their lines with U+000D only.
        return "\r" if "\n" not in head and "\r" in head.rstrip("\r") else "\n"

    def column_name(self, number: str) -> str:
        """How messages name a column of a file of columns: by its number from 1 here."""
        return number

    def text(self) -> str:
        """The whole file as one string with unchanged line ends; for a preview its first LOOK
        characters.

        Raises ImportFailed for bytes that do not fit the encoding.
        """
        self._check_text()
        errors = "surrogateescape" if self.encoding.codec.startswith("utf-8") else "strict"
        try:
            with open(self.path, encoding=self.encoding.codec, errors=errors, newline="") as file:
                if self.scan is None:
                    return file.read()
                content = file.read(LOOK)
                self.cut = len(content) == LOOK
                return content
        except UnicodeError as error:
            raise self._wrong(error) from error

    def _bytes(self, size: int) -> bytes:
        with open(self.path, "rb") as file:
            return file.read(size)

    def _check_text(self) -> None:
        """Raises ImportFailed where a format of text was chosen for a binary file."""
        if self.is_binary:
            what, hint = signatures.recognize(self.path, self._bytes(HEAD)) or (
                _("{name} is a spreadsheet."),
                signatures.ADVICE,
            )
            raise ImportFailed(what.format(name=self.name), hint=hint)

    def _wrong(self, error: UnicodeError) -> ImportFailed:
        reason = getattr(error, "reason", None) or str(error)
        message = _(
            "{name} is not valid {encoding} ({reason}).",
            name=self.name,
            encoding=self.encoding.name,
            reason=reason,
        )
        return ImportFailed(message, hint=_("Choose another encoding."))

    def head(self, size: int = HEAD) -> str:
        """The first `size` bytes, decoded; a character cut at the end is omitted.

        Raises ImportFailed for bytes that do not fit the encoding.
        """
        try:
            return self.encoding.decode(self._bytes(size))
        except UnicodeError as error:  # UTF-16 and UTF-32 without a byte order mark
            raise self._wrong(error) from error

    def _beginning(self, lines: Iterable[str]) -> Iterator[str]:
        """The first line, however long, and the others up to LOOK characters."""
        read = 0
        for line in lines:
            if read > LOOK:
                self.cut = True
                return
            yield line
            read += len(line)
