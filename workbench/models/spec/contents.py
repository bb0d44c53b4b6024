"""What a file is that no family reads, from its first bytes: one clause for the card."""

from __future__ import annotations

import codecs
from pathlib import Path

from workbench.base.i18n import N_, _

# Suffixes of files that could be meant as a model; the largest in a folder is described.
SUFFIXES = frozenset(
    ".bin .ckpt .gguf .gz .h5 .hdf5 .model .msgpack .npy .npz .onnx .pb .pkl .pt .pth .safetensors "
    ".tar .tgz .txt .vec .xz .zip .bz2 .zst".split()
)
OWN_NAMES = ("config.json", "model.safetensors", "pytorch_model.bin")  # reported by their family
LOOK = 1 << 14  # bytes
_PICKLE = N_(
    "{file} is a pickle file. Readable are pytorch_model.bin with config.json (transformers), .pt "
    "(Flair), and .pth with itos.pkl (fastai)"
)
_TORCH = N_(
    "{file} is a pickle of PyTorch, under an unexpected name or without the files beside it. "
    "Readable are pytorch_model.bin with config.json (transformers), .pt (Flair), and .pth with "
    "itos.pkl (fastai)"
)
_ARCHIVE = N_("{file} is a compressed archive. Unpack it and choose the file or folder inside")
_GGUF = N_("{file} is a GGUF file, which is not supported. Download the model it was made from")
_HDF5 = N_("{file} is an HDF5 file. ELMo's weights need options.json in the same folder")
_NUMPY = N_("{file} is a NumPy array. Word vectors are text or word2vec binary, with their words")
_TEXT = N_("{file} is a text file, but not of word vectors: line 1 is {line}")
_UNKNOWN = N_("{file} is in no known format: it begins with the bytes {bytes}")
# First bytes, and what they mean
_MARKS = (
    (b"\x1f\x8b", _ARCHIVE),
    (b"BZh", _ARCHIVE),
    (b"\xfd7zXZ", _ARCHIVE),
    (b"\x28\xb5\x2f\xfd", _ARCHIVE),
    (b"GGUF", _GGUF),
    (b"\x89HDF\r\n\x1a\n", _HDF5),
    (b"\x93NUMPY", _NUMPY),
    *((bytes((0x80, version)), _PICKLE) for version in range(2, 6)),
)
MAX_QUOTED_CHARS = 40  # characters


def describe(path: Path) -> str:
    """What the file is, or the largest in the folder that could be a model; "" for nothing.

    Folders with files of a Hugging Face model are left to their family.
    """
    file = _largest(path) if path.is_dir() else path
    if file is None:
        return ""
    if file.name in OWN_NAMES:
        return _("{file} is one file of a Hugging Face folder. Choose the folder", file=file.name)
    with open(file, "rb") as opened:
        head = opened.read(LOOK)
    return _described(file.name, head) if head.strip() else ""


def _largest(folder: Path) -> Path | None:
    names = [path for path in folder.iterdir() if path.is_file()]
    if any(name.name in OWN_NAMES for name in names):
        return None
    candidates = [name for name in names if name.suffix.lower() in SUFFIXES]
    return max(candidates, key=lambda item: (item.stat().st_size, item.name), default=None)


def _described(name: str, head: bytes) -> str:
    for mark, message in _MARKS:
        if head.startswith(mark):
            return _(message, file=name)
    if head.startswith(b"PK\x03\x04"):
        template = _(_TORCH) if b"data.pkl" in head else _(_ARCHIVE)
        return template.format(file=name)
    if b"\0" in head or not _is_text(head):
        return _(_UNKNOWN, file=name, bytes=head[:8].hex(" "))
    first = head.decode("utf-8", "ignore").splitlines()[0]
    short = first if len(first) <= MAX_QUOTED_CHARS else f"{first[: MAX_QUOTED_CHARS - 1]}…"
    return _(_TEXT, file=name, line=repr(short))


def _is_text(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return True
