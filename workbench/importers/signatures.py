"""Binary files, recognized by their first bytes."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from workbench.base.i18n import N_, _

ADVICE = N_("Let the format be detected, or choose the one of its program.")
_TABLE = N_("Save it as CSV or JSON Lines, and import that file.")
_UNPACK = N_("Unpack it first.")
_TEXT = N_("Save it as plain text (UTF-8).")
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", N_("{name} is compressed with gzip."), _UNPACK),
    (b"BZh", N_("{name} is compressed with bzip2."), _UNPACK),
    (b"\xfd7zXZ\0", N_("{name} is compressed with xz."), _UNPACK),
    (b"\x28\xb5\x2f\xfd", N_("{name} is compressed with zstd."), _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", N_("{name} is a 7-Zip archive."), _UNPACK),
    (b"Rar!", N_("{name} is a RAR archive."), _UNPACK),
    (b"%PDF", N_("{name} is a PDF."), N_("Copy its text into a text file.")),
    (b"SQLite format 3\0", N_("{name} is a database."), N_("A project is opened with File, Open.")),
    (
        b"\xd0\xcf\x11\xe0",
        N_("{name} is an old Word or Excel file."),
        N_("Save it as CSV or plain text."),
    ),
    (b"PAR1", N_("{name} is a Parquet table."), ADVICE),
    (b"ARROW1", N_("{name} is an Arrow table."), ADVICE),
    (b"\xff\xff\xff\xff", N_("{name} is an Arrow table."), ADVICE),
    (b"\x89HDF", N_("{name} is an HDF5 file."), _TABLE),
    (b"\x93NUMPY", N_("{name} is a NumPy array."), _TABLE),
    (b"\x89PNG", N_("{name} is an image."), ""),
    (b"\xff\xd8\xff", N_("{name} is an image."), ""),
    (b"GIF8", N_("{name} is an image."), ""),
    (b"RIFF", N_("{name} is an audio or video file."), ""),
    (b"ID3", N_("{name} is an audio file."), ""),
    (b"\x7fELF", N_("{name} is an executable program."), ""),
)
_INCEPTION = N_("In INCEpTION, export the documents as CoNLL 2003, CoNLL 2002 or CoNLL-U.")
_ZIPPED = (
    (
        "xl/",
        N_("{name} is an Excel workbook."),
        ADVICE,
    ),
    ("word/", N_("{name} is a Word document."), _TEXT),
    ("ppt/", N_("{name} is a PowerPoint file."), _TEXT),
    (
        "content.xml",
        N_("{name} is an OpenDocument file."),
        N_("Save it as CSV or plain text (UTF-8)."),
    ),
    ("exportedproject", N_("{name} is an INCEpTION project."), _INCEPTION),
    ("META-INF/container.xml", N_("{name} is an e-book (EPUB)."), _TEXT),
    ("data.pkl", N_("{name} is a PyTorch model."), N_("Models are added on the Models page.")),
)


_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
OLE, ZIP = b"\xd0\xcf\x11\xe0", b"PK\x03\x04"
ARROW = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")  # the last is the form of a stream
_NOT_EXCEL = (".doc", ".dot", ".ppt", ".pps", ".msg", ".msi", ".vsd")


def is_read(path: Path, head: bytes) -> bool:
    """Whether an importer reads the bytes of the file instead of its text."""
    if head.startswith(ZIP):
        return is_workbook(path)
    if head.startswith(OLE):
        return path.suffix.lower() not in _NOT_EXCEL
    return head.startswith(ARROW) or is_docbin(head)


def is_workbook(path: Path) -> bool:
    """Whether a zip archive holds sheets of Excel or OpenDocument."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            kind = archive.read("mimetype")[:100] if "mimetype" in names else b""
    except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, NotImplementedError, zlib.error):
        return False
    return any(name.startswith("xl/workbook.") for name in names) or b".spreadsheet" in kind


def is_docbin(head: bytes) -> bool:
    """Whether a file begins as the `DocBin` of spaCy: a compressed map with the key `attrs`."""
    if head[:2] not in _ZLIB:
        return False
    try:
        return b"\xa5attrs" in zlib.decompressobj().decompress(head, 400)
    except zlib.error:
        return False


def recognize(path: Path, head: bytes) -> tuple[str, str] | None:
    """(description of the file, advice) if the first bytes show that it is not text, else None.

    The description has a placeholder `{name}` for the file name.
    """
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(path)
    for magic, what, hint in _MAGIC:
        if head.startswith(magic):
            return _(what), _(hint) if hint else ""
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and b"\0" in head[:64]:
        return _("{name} is a Python pickle."), _(_TABLE)
    if head[:2] in _ZLIB and not head[:200].isascii():
        if path.suffix == ".spacy" or is_docbin(head):
            return _("{name} is a spaCy DocBin file."), _(ADVICE)
        return _("{name} is compressed with zlib."), _(_UNPACK)
    return None


def _zipped(path: Path) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return _("{name} is a damaged zip archive, Excel or Word file."), _(_UNPACK)
    for mark, what, hint in _ZIPPED:
        if any(name.startswith(mark) or name.endswith("/" + mark) for name in names):
            return _(what), _(hint)
    return _("{name} is a zip archive."), _(_UNPACK)
