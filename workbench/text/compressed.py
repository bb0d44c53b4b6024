"""Reading of compressed text files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import IO

ERRORS = (OSError, EOFError, lzma.LZMAError)  # of damaged and truncated files


def opened(path: Path, raw: IO[bytes]) -> IO[bytes]:
    """The content of the open file `raw`, decompressed if its name ends with .gz, .bz2 or .xz."""
    if path.suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value] # it reads like a file
    if path.suffix == ".bz2":
        return bz2.BZ2File(raw)
    if path.suffix == ".xz":
        return lzma.LZMAFile(raw)
    return raw
