"""Plain text for pretraining, streamed from files, compressed files and folders.

A document is a sequence of paragraphs: lines of text. A blank line ends a document. Memory does not
depend on the size of the files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.base.errors import WorkbenchError
from workbench.base.i18n import _
from workbench.base.untrusted import leads_out, not_followed
from workbench.text import compressed

ENDINGS = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz")
MOST_LINE = 1_000_000  # characters of a paragraph; longer lines are divided
MOST_LINES = 10_000  # paragraphs of a document; longer documents are divided
HELD_OUT_EVERY = 100  # one document in so many is held out if there is no held-out file
SAMPLE = 1 << 20  # bytes at the start of each file that the fingerprint covers

Document = tuple[str, ...]


@dataclass
class Texts:
    """Text files as documents.

    paths: files and folders. held_out: True for only every HELD_OUT_EVERY-th document, False for
    all others, None for all. position: bytes read so far of `size`, before decompression.
    """

    paths: Sequence[Path]
    held_out: bool | None = None
    position: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.files = files_of(self.paths)
        self.size = sum(path.stat().st_size for path in self.files)

    def again(self) -> Texts:
        """An independent reader of the same documents."""
        return Texts(self.paths, self.held_out)

    @property
    def progress(self) -> float:
        """Fraction of the text that was read, 0 to 1."""
        return min(1.0, self.position / self.size) if self.size else 1.0

    def __iter__(self) -> Iterator[Document]:
        for number, document in enumerate(self._documents(), 1):
            chosen = number % HELD_OUT_EVERY == 0
            if self.held_out is None or self.held_out == chosen:
                yield document

    def fingerprint(self) -> str:
        """32 hex digits over the names, sizes and beginnings of the files."""
        digest = hashlib.blake2b(digest_size=16)
        for path in self.files:
            with open(path, "rb") as file:
                digest.update(f"{path.name}\0{path.stat().st_size}\0".encode() + file.read(SAMPLE))
        return digest.hexdigest()

    def _documents(self) -> Iterator[Document]:
        before = 0
        for path in self.files:
            lines: list[str] = []
            for line, position in _lines(path):
                self.position = before + position
                if line:
                    lines.append(line)
                if lines and (not line or len(lines) >= MOST_LINES):
                    yield tuple(lines)
                    lines = []
            if lines:
                yield tuple(lines)
            before += path.stat().st_size
            self.position = before


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The text files among the paths and in the folders, in order of their names, without links
    that lead out of a folder (see `links_out`).

    Raises WorkbenchError if a path is missing or a folder has none.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside, links = _inside(path)
            if not inside and links:
                raise WorkbenchError(
                    not_followed(path, links), hint=_("Name the files instead of their folder.")
                )
            if not inside:
                raise WorkbenchError(
                    _(
                        "{folder} has no text files ({endings}).",
                        folder=path,
                        endings=", ".join(ENDINGS),
                    )
                )
            files += inside
        elif path.is_file():
            files.append(path)
        else:
            raise WorkbenchError(_("There is no file {path}.", path=path))
    return files


def links_out(paths: Sequence[Path]) -> tuple[str, ...]:
    """A warning for each folder with links to text files outside of it."""
    folders = ((path, _inside(path)[1]) for path in paths if path.is_dir())
    return tuple(not_followed(folder, links) for folder, links in folders if links)


def _inside(folder: Path) -> tuple[list[Path], list[str]]:
    """The text files of a folder and its subfolders; names of those that are links out of it."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name.endswith(ENDINGS)
    )
    links = [path for path in files if leads_out(path, folder)]
    names = [path.relative_to(folder).as_posix() for path in links]
    return [path for path in files if path not in {*links}], names


def _lines(path: Path) -> Iterator[tuple[str, int]]:
    """Stripped lines, "" for a blank one, with the bytes of the file that were read."""
    with open(path, "rb") as raw:
        file, number = compressed.opened(path, raw), 0
        try:
            while line := file.readline(MOST_LINE):
                number += 1
                yield _decoded(line), raw.tell()
        except UnicodeDecodeError as error:
            raise WorkbenchError(
                _(
                    "Line {number} of {path} is not valid UTF-8 (byte {byte}).",
                    number=number,
                    path=path,
                    byte=f"0x{error.object[error.start]:02x}",
                ),
                hint=_("Convert the file to UTF-8."),
            ) from error
        except compressed.ERRORS as error:
            raise WorkbenchError(
                _(
                    "{path} cannot be read after line {number}: {error}.",
                    path=path,
                    number=number,
                    error=error,
                ),
                hint=_("The file may be damaged or incomplete."),
            ) from error


def _decoded(line: bytes) -> str:
    """Divided lines may end inside a character, which is dropped at both ends."""
    if len(line) >= MOST_LINE or (line and 0x80 <= line[0] < 0xC0):
        return line.decode("utf-8", "ignore").strip()
    return line.decode("utf-8").removeprefix("\ufeff").strip()
