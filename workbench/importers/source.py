"""A file to be read as text: its encoding, its lines, how far reading has come."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from workbench.base.errors import ImportFailed
from workbench.base.i18n import _
from workbench.importers.encoding import Encoding, guess

HEAD = 1 << 16
LOOK = 1 << 24
MAY_BE_EMPTY = ".ann"  # brat stores an empty file beside a text without annotations


class Source:
    """`encoding` is guessed from the whole file unless given. Raises ImportFailed for what is no text at all."""

    def __init__(self, path: Path, encoding: str = "", *, scan: int | None = None):
        """`scan`: for a preview, look at so many bytes only when guessing, and give no more lines once LOOK characters were read."""
        self.scan = scan
        self.cut = False  # whether the last reading ended before the file did, as `scan` asks for
        self.path = Path(path)
        self.name = self.path.name
        try:
            if self.path.is_dir():
                raise ImportFailed(
                    _("{path} is a folder.").format(path=self.path),
                    hint=_("Choose the files in it."),
                )
            about = self.path.stat()
            if not stat.S_ISREG(
                about.st_mode
            ):  # reading a pipe would wait for ever, and it can be read once only
                raise ImportFailed(
                    _("{path} is no file but a pipe or a device.").format(path=self.path),
                    hint=_("Save the data in a file first."),
                )
            self.size = about.st_size
            if encoding or (self.size == 0 and self.path.suffix == MAY_BE_EMPTY):
                self.encoding = Encoding.named(encoding or "utf-8")
            else:
                self.encoding = guess(self.path, limit=scan)
        except OSError as error:
            raise ImportFailed(
                _("{path} cannot be read: {strerror}.").format(
                    path=self.path, strerror=error.strerror or error
                ),
                hint=_("Is the path right?"),
            ) from error
        self._raw: io.BufferedReader | None = None

    @property
    def position(self) -> int:
        """Bytes read so far by the running `lines()`."""
        return self._raw.tell() if self._raw and not self._raw.closed else 0

    def lines(self, *, ends: bool = False) -> Iterator[str]:
        """Lines without their end, or with it (`ends`). Only U+000A ends a line (and a U+000D before it goes with it); U+2028, U+0085 and form feeds are text.

        Bytes that are not UTF-8 arrive as U+DC80 … U+DCFF, so that one bad line costs one record.
        """
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
        # A file of an old Macintosh ends its lines with U+000D alone.
        return "\r" if "\n" not in head and "\r" in head.rstrip("\r") else "\n"

    def text(self) -> str:
        """The whole file as one string, line ends as they are; for a preview its first LOOK characters."""
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

    def _wrong(self, error: UnicodeError) -> ImportFailed:
        reason = getattr(error, "reason", None) or str(error)
        message = _("{name} is not {encoding} throughout ({reason}).").format(
            name=self.name, encoding=self.encoding.name, reason=reason
        )
        return ImportFailed(message, hint=_("Choose another encoding."))

    def head(self, size: int = HEAD) -> str:
        """The first `size` bytes, decoded; a character cut at the end is left out."""
        with open(self.path, "rb") as file:
            raw = file.read(size)
        try:
            return self.encoding.decode(raw)
        except UnicodeError as error:  # UTF-16 and UTF-32 that do not begin with their mark
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
