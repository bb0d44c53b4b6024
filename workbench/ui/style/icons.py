"""Icons from `resources/icons` (Lucide), tinted with a theme colour and cached per theme."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from workbench.base import paths, scratch
from workbench.ui.style import theme

STROKE = "1.8"
_SCALE = 3  # large enough for a device pixel ratio of 3


@lru_cache(maxsize=128)
def source(name: str) -> str:
    """The SVG source of an icon. Raises FileNotFoundError with its name."""
    return paths.resource(f"icons/{name}.svg").read_text(encoding="utf-8")


def tinted(name: str, colour: str) -> bytes:
    """The SVG with `currentColor` replaced by #RRGGBB and our stroke width."""
    return (
        source(name)
        .replace("currentColor", colour)
        .replace('stroke-width="2"', f'stroke-width="{STROKE}"')
        .encode()
    )


def icon(name: str, tone: str = "muted", size: int = 18) -> QIcon:
    """An icon in a colour of the current theme (`tone`, or #RRGGBB).

    Call again after `theme.changed`.
    """
    return QIcon(pixmap(name, tone, size))


def pixmap(name: str, tone: str = "muted", size: int = 18) -> QPixmap:
    """The icon as a pixmap of `size` points, at a device pixel ratio of 3."""
    return _draw(name, tone if tone.startswith("#") else theme.colour(tone), size)


def two_state(name: str, off: str = "muted", on: str = "accent", size: int = 20) -> QIcon:
    """An icon for a checkable button: one tone when unchecked, another when checked."""
    it = QIcon()
    it.addPixmap(pixmap(name, off, size), QIcon.Mode.Normal, QIcon.State.Off)
    it.addPixmap(pixmap(name, on, size), QIcon.Mode.Normal, QIcon.State.On)
    return it


@lru_cache(maxsize=512)
def _draw(name: str, colour: str, size: int) -> QPixmap:
    picture = QPixmap(size * _SCALE, size * _SCALE)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(tinted(name, colour))).render(
        painter, QRectF(0, 0, size * _SCALE, size * _SCALE)
    )
    painter.end()
    picture.setDevicePixelRatio(_SCALE)
    return picture


def app_icon() -> QIcon:
    """The application icon; a simpler drawing is used below 32 pixels."""
    it = QIcon()
    for name, sizes in (("glossbench-small", (16, 24)), ("glossbench", (32, 48, 64, 128, 256))):
        for size in sizes:
            it.addPixmap(_application(name, size))
    return it


def _application(name: str, size: int) -> QPixmap:
    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(QByteArray(source(name).encode())).render(painter)
    painter.end()
    return picture


def file(name: str, tone: str) -> str:
    """Path of the tinted icon as a file, as style sheets can only refer to files.

    Written once per colour.
    """
    colour = theme.colour(tone)
    path = _folder() / f"{name}-{colour[1:]}.svg"
    if not path.exists():
        path.write_bytes(tinted(name, colour))
    return path.as_posix()


@lru_cache(maxsize=1)
def _folder() -> Path:
    folder = paths.cache_folder() / "icons"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".write").touch()
        return folder
    except OSError:  # the home folder is not writable
        return scratch.make("icons")
