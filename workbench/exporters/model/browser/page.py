"""index.html: one file with the model, its tokenizer, onnxruntime and the script that draws its
answers, for a browser without a server or a network.
"""

from __future__ import annotations

import base64
import html
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.base.paths import resource

BLOCK = 1 << 20  # bytes that are read at once
PART = 6 << 20  # bytes of a script; a multiple of 3, so that no padding is between parts
LEVEL = 6  # of gzip, also for weights: it saves about a tenth of them
LIBRARIES = {
    "ort": "ort.wasm.bundle.min.mjs",
    "tokenizers": "tokenizers.min.mjs",
    "wasm": "ort-wasm-simd-threaded.wasm.xz",
}
SCRIPTS = {"model": "model.js", "page": "page.js"}
LICENCES = ("LICENCE-onnxruntime.txt", "LICENCE-tokenizers.txt")
PLACE = re.compile(r"\{([a-z]+)\}")  # of a value in the template


def write(path: Path, title: str, labels: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Write the page.

    labels: labels.json of the export, with "kind" (see `info.kind_of`), "texts" (1 or 2) and
    "about": {run, base_model, model}, as far as they are known. files: "graph", "tokenizer",
    "settings" → file.
    """
    web = resource("web")
    values = {name: (web / file).read_text(encoding="utf-8") for name, file in SCRIPTS.items()}
    sources = {name: web / file for name, file in LIBRARIES.items()} | dict(files)
    most = sum(1 + source.stat().st_size // PART for source in sources.values())
    values |= {"title": html.escape(title), "parts": str(most)}
    template = (web / "page.html").read_text(encoding="utf-8")
    head, tail = (
        PLACE.sub(lambda match: values[match[1]], half) for half in template.split("{data}")
    )
    with open(path, "w", encoding="utf-8", newline="\n") as page:
        page.write(head)
        _write_data(page.write, "labels", [json.dumps(labels).encode()])
        for name, source in sources.items():
            _write_data(page.write, name, _blocks(source))
        page.write(tail)


def _write_data(write: Callable[[str], object], name: str, blocks: Iterable[bytes]) -> None:
    for part in _parts(blocks):
        write(f'<script>part("{name}", "{base64.b64encode(part).decode()}");</script>\n')


def _parts(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Compressed with gzip, in parts."""
    compress = zlib.compressobj(LEVEL, wbits=31)
    waiting = bytearray()
    for block in blocks:
        waiting += compress.compress(block)
        while len(waiting) >= PART:
            yield bytes(waiting[:PART])
            del waiting[:PART]
    waiting += compress.flush()
    yield from (bytes(waiting[start : start + PART]) for start in range(0, len(waiting), PART))


def _blocks(source: Path) -> Iterator[bytes]:
    with lzma.open(source) if source.suffix == ".xz" else open(source, "rb") as file:
        while block := file.read(BLOCK):
            yield block


def write_licences(path: Path) -> None:
    """The licences of what the page carries, in one file; at its end, those of the parts of
    onnxruntime, as its Python package names them.
    """
    import onnxruntime

    parts = Path(onnxruntime.__file__).with_name("ThirdPartyNotices.txt")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for name in LICENCES:
            text = (resource("web") / name).read_text(encoding="utf-8").strip()
            file.write(f"{name.removeprefix('LICENCE-').removesuffix('.txt')}\n\n{text}\n\n\n")
        if parts.is_file():
            file.write(parts.read_text(encoding="utf-8", errors="replace"))
