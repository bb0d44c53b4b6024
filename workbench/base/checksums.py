"""Checksums of the files of a model, stored beside them and signed by this installation.

They show whether the weights are still those that were saved, and whether this installation has
saved them. A folder without them makes neither claim.

The key is in the data folder of the user, so the signature of another installation is as good as
none. Not covered are the description of a run, which calibration changes, and README.md.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.base import paths
from workbench.base.errors import ModelError
from workbench.base.i18n import _

FILE = "glossbench.checksums.json"  # a published model may have a file of a shorter name
_NOT_COVERED = frozenset({FILE, ".glossbench", "glossbench.json", "glossbench.new", "README.md"})
_KEY, _KEY_BYTES = "signing.key", 32
_MOST_BYTES = 10_000_000  # of a file of checksums
_STORED_FROM = 10_000_000  # bytes of a file whose digest is stored for other processes


def write(folder: Path) -> None:
    """Store the checksums of all files in the folder, once they are complete."""
    files = of(folder)
    key = _key(create=True)
    content = {"files": files, "signature": _signature(files, key) if key else ""}
    draft = folder / f"{FILE}.new"
    draft.write_text(json.dumps(content, indent=1, ensure_ascii=True), encoding="utf-8")
    os.replace(draft, folder / FILE)


def of(folder: Path) -> dict[str, str]:
    """The digest of each covered file in the folder. Raises OSError."""
    return {name: digest(folder / name) for name in sorted(_names(folder))}


def changed(folder: Path) -> tuple[str, ...]:
    """Names of the files that are missing or not as they were saved; () without checksums.

    A file is read once, and again when its size or one of its times changes.
    """
    if not (folder / FILE).is_file():
        return ()
    files, _signed = _read(folder)
    if files is None:
        return (FILE,)
    return tuple(name for name, value in files.items() if not _is_equal(folder / name, value))


def ensure_unchanged(folder: Path) -> None:
    """Raises ModelError if the model in the folder is not as it was saved."""
    if names := changed(folder):
        raise ModelError(
            _(
                "{folder} is not as it was saved: {name} is damaged, changed or missing.",
                folder=folder,
                name=names[0],
            ),
            hint=_(
                "Restore the folder from a backup, or train again. If you changed it on purpose, "
                "delete {file} in it.",
                file=FILE,
            ),
        )


def is_ours(folder: Path) -> bool:
    """Whether this installation has written every file in the folder, and none has changed."""
    files, signature = _read(folder)
    key = _key(create=False)
    if files is None or not key:
        return False
    pair = (text.encode("utf-8", "replace") for text in (signature, _signature(files, key)))
    if not hmac.compare_digest(*pair):
        return False
    # only now, as the folder may be anything, even the root of the disk
    if any(entry.is_symlink() for entry in (folder, *folder.rglob("*"))):
        return False
    return set(_names(folder)) == files.keys() and not changed(folder)


def _read(folder: Path) -> tuple[Mapping[str, str] | None, str]:
    """File → digest, None if it cannot be read; and the signature."""
    path = folder / FILE
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None, ""
        raw = json.loads(path.read_text(encoding="utf-8"))
        files, signature = raw["files"], raw["signature"]
        names = all(isinstance(text, str) for item in files.items() for text in item)
        inside = names and not any(_is_outside(name) for name in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, ""
    return (files if inside else None), signature if isinstance(signature, str) else ""


def _is_outside(name: str) -> bool:
    path = Path(name)
    return path.is_absolute() or ".." in path.parts


def _names(folder: Path) -> Iterator[str]:
    """The covered files, as paths relative to the folder with slashes."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in _NOT_COVERED:
            yield path.relative_to(folder).as_posix()


# ---------------------------------------------------------------- digests

_Stamp = tuple[str, int, int, int, int]
_seen: dict[_Stamp, str] = {}


def _is_equal(path: Path, value: str) -> bool:
    try:
        return path.is_file() and digest(path) == value
    except OSError:
        return False


def digest(path: Path) -> str:
    """SHA-256 of a file; read once for its size, times and place on the disk."""
    about = path.stat()
    stamp = (
        str(path.absolute()), about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino,
    )  # fmt: skip
    if stamp in _seen:
        return _seen[stamp]
    stored = _stored(stamp) if about.st_size >= _STORED_FROM else None
    value = ""
    if stored is not None:
        with suppress(OSError):
            value = stored.read_text(encoding="ascii")
    if len(value) != hashlib.sha256().digest_size * 2:
        with open(path, "rb") as file:
            value = hashlib.file_digest(file, "sha256").hexdigest()
        if stored is not None:
            with suppress(OSError):  # a full disk, or a cache that cannot be written
                stored.parent.mkdir(parents=True, exist_ok=True)
                stored.write_text(value, encoding="ascii")
    _seen[stamp] = value
    return value


def _stored(stamp: _Stamp) -> Path:
    name = hashlib.sha256(repr(stamp).encode("utf-8", "surrogatepass")).hexdigest()
    return paths.cache_folder() / "checksums" / name


# ---------------------------------------------------------------- signature


def _signature(files: Mapping[str, str], key: bytes) -> str:
    text = json.dumps(sorted(files.items()))
    return hmac.new(key, text.encode("ascii"), "sha256").hexdigest()


def _key(*, create: bool) -> bytes:
    """The key of this installation; b"" if there is none, or it cannot be stored."""
    path = paths.data_folder() / _KEY
    with suppress(OSError):
        content = path.read_bytes()
        return content if len(content) == _KEY_BYTES else b""
    if not create:
        return b""
    key = secrets.token_bytes(_KEY_BYTES)
    draft = path.with_name(f"{_KEY}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key)
        with suppress(FileExistsError):  # another process was first
            os.link(draft, path)
    except OSError:
        return b""
    finally:
        with suppress(OSError):
            draft.unlink()
    with suppress(OSError):
        return path.read_bytes()
    return b""
