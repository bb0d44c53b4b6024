"""Binary files, recognized by their first bytes."""

from __future__ import annotations

import zipfile
from pathlib import Path

from workbench.base.i18n import N_, _

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
    (b"PAR1", N_("{name} is a Parquet table."), _TABLE),
    (b"ARROW1", N_("{name} is an Arrow table."), _TABLE),
    (b"\x89HDF", N_("{name} is an HDF5 file."), _TABLE),
    (b"\x93NUMPY", N_("{name} is a NumPy array."), _TABLE),
    (b"\x89PNG", N_("{name} is an image."), ""),
    (b"\xff\xd8\xff", N_("{name} is an image."), ""),
    (b"GIF8", N_("{name} is an image."), ""),
    (b"RIFF", N_("{name} is an audio or video file."), ""),
    (b"ID3", N_("{name} is an audio file."), ""),
    (b"\x7fELF", N_("{name} is an executable program."), ""),
)
_SPACY = N_("Convert it to JSON Lines with “text” and “entities” as [start, end, label].")
_INCEPTION = N_("In INCEpTION, export the documents as CoNLL 2003, CoNLL 2002 or CoNLL-U.")
_ZIPPED = (
    (
        "xl/",
        N_("{name} is an Excel workbook."),
        N_("Save the sheet as CSV (UTF-8), and import that file."),
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
    if head[:2] in (b"\x78\x01", b"\x78\x9c", b"\x78\xda") and not head[:200].isascii():
        if path.suffix == ".spacy":
            return _("{name} is a spaCy DocBin file."), _(_SPACY)
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
