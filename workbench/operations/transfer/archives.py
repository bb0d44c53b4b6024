"""Zip archives that an import unpacks: projects of INCEpTION, and files of data such as doccano's.

INCEpTION writes annotation/DOCUMENT/NAME.xmi (.json, .tsv, or a .zip with one of them) and
curation/DOCUMENT/CURATION_USER.xmi; doccano a file for each member, named after the member.
"""

from __future__ import annotations

import io
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from workbench.base import scratch
from workbench.base.errors import ImportFailed
from workbench.base.i18n import _, ngettext

SUFFIX = ".zip"
MEMBERS = "members"  # folder of files that are named after people
MOST_BYTES = 4 << 30  # unpacked
MOST_FILES = 200_000
_MOST_INNER = 256 << 20  # bytes of an archive within the archive, which is read into memory
_KIND = "archive"
PROJECT_FOLDERS = ("annotation", "curation")
_INITIAL = "INITIAL_CAS"  # of INCEpTION: a document before anybody labelled it
_SUFFIXES = (".xmi", ".json", ".tsv", SUFFIX)  # of annotations, the first one is preferred
_ANNOTATIONS = re.compile(r"(?:.*/)?((?:annotation|curation)/[^/]+/[^/]+)(\.[^/.]+)")
_OF_MEMBERS = (".jsonl", ".json", ".csv")


def is_archive(path: Path) -> bool:
    """Whether an import unpacks it; other zip archives may be spreadsheets."""
    return path.suffix.lower() == SUFFIX and path.is_file()


def named_after(path: Path) -> str:
    """The person whose labels a file of an unpacked archive holds, "" if its name does not say."""
    is_member = path.parent.name == MEMBERS and path.parent.parent.name.startswith(f"{_KIND}-")
    return path.stem if is_member else ""


def of_project(names: Iterable[str]) -> dict[str, str]:
    """Files with annotations of a project of INCEpTION: place without suffix → name.

    Of several forms of one file one is taken. Documents that were labelled are left out as they
    were before.
    """
    chosen: dict[str, str] = {}
    for name in names:
        match = _ANNOTATIONS.fullmatch(name)
        if match is None or match[2].lower() not in _SUFFIXES:
            continue
        place, other = match[1], chosen.get(match[1])
        if other is None or _order(name) < _order(other):
            chosen[place] = name
    labelled = {place.rpartition("/")[0] for place in chosen if not place.endswith(_INITIAL)}
    return {
        place: name
        for place, name in chosen.items()
        if not place.endswith(_INITIAL) or place.rpartition("/")[0] not in labelled
    }


def _order(name: str) -> int:
    return _SUFFIXES.index(PurePosixPath(name).suffix.lower())


def unpacked(path: Path, is_data: Callable[[str], bool]) -> tuple[Path, ...]:
    """The data files of an archive, in a folder that `remove` deletes, in order of their names.

    is_data: whether a file name is one of data. Raises ImportFailed for a damaged, encrypted, too
    large or hostile archive, and for one without data; then nothing is left of it.
    """
    folder = scratch.make(_KIND)
    try:
        with _explained(path), zipfile.ZipFile(path) as archive:
            infos = _checked(path, archive)
            files = list(_unpack(archive, infos, folder, is_data))
        if not files:
            raise ImportFailed(
                _("{name} holds no data files.", name=path.name),
                hint=_("Unpack it, and choose the files to import."),
            )
        return tuple(sorted(files))
    except BaseException:
        scratch.remove(folder)
        raise


def remove(files: Iterable[Path]) -> None:
    """Delete the folders of unpacked files; other files are left alone."""
    folders = {folder for file in files for folder in file.parents}
    for folder in folders:
        if folder.name.startswith(f"{_KIND}-"):
            scratch.remove(folder)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise ImportFailed(
            _("{name} is a damaged zip archive: {error}.", name=path.name, error=error),
            hint=_("Export or download it again. Nothing was imported."),
        ) from error
    except RuntimeError as error:  # an entry is encrypted
        raise ImportFailed(
            _("{name} cannot be unpacked: {error}.", name=path.name, error=error),
            hint=_("Unpack it yourself, and import the files."),
        ) from error
    except OSError as error:
        raise ImportFailed(
            _("{name} cannot be unpacked: {error}.", name=path.name, error=error.strerror or error),
            hint=_("Check the file and the free disk space."),
        ) from error


def _checked(path: Path, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Name → entry of all files. Raises ImportFailed."""
    infos = [info for info in archive.infolist() if not info.is_dir()]
    size = sum(info.file_size for info in infos)
    if len(infos) > MOST_FILES or size > MOST_BYTES:
        raise ImportFailed(
            ngettext(
                "{name} is too large: {n:,} file, {size:,} MB unpacked.",
                "{name} is too large: {n:,} files, {size:,} MB unpacked.",
                len(infos),
                name=path.name,
                size=size >> 20,
            ),
            hint=_("Unpack it yourself, and import the files in parts."),
        )
    for info in infos:
        parts = info.filename.split("/")
        is_link = stat.S_ISLNK(info.external_attr >> 16)
        if is_link or {"", ".", ".."} & {*parts} or "\\" in info.filename or ":" in parts[0]:
            raise ImportFailed(
                _("{name} has the entry {entry!r}, whose path leads outside the archive.",
                  name=path.name, entry=info.filename[:200]),
                hint=_("Nothing was unpacked or imported."),
            )  # fmt: skip
    return {info.filename: info for info in infos}


def _unpack(
    archive: zipfile.ZipFile,
    infos: dict[str, zipfile.ZipInfo],
    folder: Path,
    is_data: Callable[[str], bool],
) -> Iterator[Path]:
    if project := of_project(infos):
        for place, name in project.items():
            suffix = PurePosixPath(name).suffix
            if suffix.lower() != SUFFIX:
                yield _write(archive, infos[name], folder / f"{place}{suffix}")
            elif (inner := _inner(archive, infos[name], folder / place)) is not None:
                yield inner
        return
    names = _top(name for name in infos if is_data(PurePosixPath(name).name))
    target = folder / MEMBERS if _are_members(names) else folder
    for name in names:
        yield _write(archive, infos[name], target / PurePosixPath(name).name)


def _top(names: Iterable[str]) -> list[str]:
    """The files at the highest level that has any; hidden ones are of the system."""
    visible = [name for name in names if not PurePosixPath(name).name.startswith((".", "__MACOSX"))]
    visible = [name for name in visible if not name.startswith("__MACOSX/")]
    level = min((name.count("/") for name in visible), default=0)
    top = [name for name in visible if name.count("/") == level]
    return [name for name in top if PurePosixPath(name).parent == PurePosixPath(top[0]).parent]


def _are_members(names: Sequence[str]) -> bool:
    """Whether these may be the files of the members of a project of doccano."""
    suffixes = {PurePosixPath(name).suffix.lower() for name in names}
    return len(names) > 1 and len(suffixes) == 1 and suffixes <= {*_OF_MEMBERS}


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, open(path, "xb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    return path


def _inner(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> Path | None:
    """The annotations in an archive within the archive, beside a description of their types."""
    if info.file_size > _MOST_INNER:
        raise zipfile.BadZipFile(_("{entry} is too large", entry=info.filename))
    with zipfile.ZipFile(io.BytesIO(archive.read(info))) as inner:
        entries = sorted(
            (
                entry
                for entry in inner.infolist()
                if PurePosixPath(entry.filename).suffix.lower() in _SUFFIXES[:-1]
            ),
            key=lambda entry: _order(entry.filename),
        )
        if not entries:
            return None
        if entries[0].file_size > _MOST_INNER:
            raise zipfile.BadZipFile(_("{entry} is too large", entry=info.filename))
        suffix = PurePosixPath(entries[0].filename).suffix
        return _write(inner, entries[0], place.with_name(f"{place.name}{suffix}"))
