"""Points painted into an image by numpy: 100,000 of them take a few milliseconds.

Every group has a shape, as a mask with soft edges that is copied to each point. Qt draws points one
by one, which takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

FINE = 5  # samples per pixel and axis for the edges of a shape
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "wedge")
SMOOTH = 4_000  # points up to which edges are soft
TINY, SMALLEST = 2.0, 1.4  # radius in pixels of points that are squares of 3 or of 2 pixels
_DOTS = (
    [(row, column) for row in (0, 1) for column in (0, 1)],
    [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)],
)
_GROWN = {"square": 0.88, "triangle": 1.2, "diamond": 1.15, "cross": 1.15, "wedge": 1.2}


@lru_cache(maxsize=128)
def stamp(shape: str, radius: float) -> tuple[tuple[int, int, float], ...]:
    """(row, column, coverage) of the pixels around a point; coverage in (0, 1]."""
    reach = int(np.ceil(1.3 * radius))
    steps = (np.arange((2 * reach + 1) * FINE) + 0.5) / FINE - reach - 0.5
    y, x = np.meshgrid(steps, steps, indexing="ij")
    inside = _inside(shape, x, y, radius * _GROWN.get(shape, 1.0))
    size = 2 * reach + 1
    cover = inside.reshape(size, FINE, size, FINE).mean((1, 3))
    return tuple(
        (int(row) - reach, int(column) - reach, float(cover[row, column]))
        for row, column in zip(*np.nonzero(cover > 0.02), strict=True)
    )


def _inside(shape: str, x: np.ndarray, y: np.ndarray, radius: float) -> np.ndarray:
    mask: np.ndarray
    if shape == "square":
        mask = np.maximum(np.abs(x), np.abs(y)) <= radius
    elif shape == "diamond":
        mask = np.abs(x) + np.abs(y) <= radius
    elif shape == "triangle":
        mask = (y <= 0.6 * radius) & (y >= 1.9 * np.abs(x) - radius)
    elif shape == "wedge":
        mask = (y >= -0.6 * radius) & (y <= radius - 1.9 * np.abs(x))
    elif shape == "cross":
        long, thin = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
        mask = (long <= radius) & (thin <= 0.36 * radius)
    else:
        mask = x * x + y * y <= radius * radius
    return mask


def paint(
    image: np.ndarray,
    places: np.ndarray,
    codes: np.ndarray,
    colours: Sequence[tuple[int, int, int]],
    shapes: Sequence[str],
    radius: float,
) -> None:
    """Paint points into an image uint32 (H, W) in the layout of QImage.Format_RGB32.

    places int32 (N, 2): column and row of each, those outside are skipped; codes (N,): of a group.
    More than SMOOTH points have hard edges, and at most TINY pixels of radius no shapes either.
    The first group is on top.
    """
    height, width = image.shape
    reach = 1 if radius <= TINY else int(np.ceil(1.3 * radius))
    x, y = places[:, 0], places[:, 1]
    inside = (x >= reach) & (x < width - reach) & (y >= reach) & (y < height - reach)
    at, colour_codes = (y * np.int32(width) + x)[inside], codes[inside]
    packed = np.array([_packed(colour) for colour in colours], np.uint32)
    flat = image.reshape(-1)
    if radius <= TINY:
        shades = packed[colour_codes]
        for row, column in _DOTS[radius > SMALLEST]:
            flat[at + np.int32(row * width + column)] = shades
        return
    for code in reversed(range(len(colours))):
        here = at[colour_codes == code]
        if len(here):
            smooth = len(places) <= SMOOTH
            _paint_group(image, here, colours[code], shapes[code], radius, smooth=smooth)


def _paint_group(
    image: np.ndarray,
    at: np.ndarray,
    colour: tuple[int, int, int],
    shape: str,
    radius: float,
    *,
    smooth: bool,
) -> None:
    flat, channels = image.reshape(-1), image.view(np.uint8).reshape(-1, 4)
    red, green, blue = colour
    shade, parts = _packed(colour), np.array((blue, green, red, 255), np.float32)
    for row, column, cover in stamp(shape, radius):
        pixels = at + np.int32(row * image.shape[1] + column)
        if cover > 0.98 or (not smooth and cover >= 0.5):
            flat[pixels] = shade
        elif smooth:
            mixed = channels[pixels] * np.float32(1 - cover) + parts * np.float32(cover)
            channels[pixels] = mixed.astype(np.uint8)


def _packed(colour: tuple[int, int, int]) -> int:
    red, green, blue = colour
    return 0xFF000000 | red << 16 | green << 8 | blue
