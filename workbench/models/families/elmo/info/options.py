"""The sizes in `options.json` of an ELMo model, and the datasets that its weights must have.

Source: Peters et al. 2018, Deep contextualized word representations; the format is that of
https://github.com/allenai/bilm-tf (Apache-2.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.base.i18n import _
from workbench.models.formats.json_files import quoted

BYTES = 261  # rows of the character table: 256 bytes, begin and end of sentence and word, padding
CHARACTER_COUNTS = (
    BYTES,
    BYTES + 1,
)  # `n_characters` of training, and with a row for masked tokens
ACTIVATIONS = ("relu", "tanh")
MAX_SIZE = 100_000  # of any size


@dataclass(frozen=True)
class Sizes:
    """cell: width of the LSTM's cell. projection: of its output, half of a layer's width.

    cell_clip, projection_clip: largest magnitudes, None for no limit. skip: whether each layer's
    input is added to its output, except in the first. characters: width of a character's vector.
    filters: (width in characters, number). longest: characters per word.
    """

    layers: int
    cell: int
    projection: int
    cell_clip: float | None
    projection_clip: float | None
    skip: bool
    characters: int
    filters: tuple[tuple[int, int], ...]
    highway: int
    activation: str
    longest: int

    @property
    def convolved(self) -> int:
        """Number of all filters."""
        return sum(count for _width, count in self.filters)


def sizes(options: Mapping[str, Any], problems: list[str]) -> Sizes | None:
    """None, with a problem for each value that is missing or out of range."""
    count = len(problems)
    lstm = _section(options, "lstm", problems)
    cnn = _section(options, "char_cnn", problems)
    embedding = _section(cnn, "embedding", problems) if cnn else {}
    if len(problems) > count:
        return None
    sizes = Sizes(
        _size(lstm, "n_layers", problems),
        _size(lstm, "dim", problems),
        _size(lstm, "projection_dim", problems),
        _clip(lstm, "cell_clip", problems),
        _clip(lstm, "proj_clip", problems),
        bool(lstm.get("use_skip_connections", False)),
        _size(embedding, "dim", problems),
        _filters(cnn.get("filters"), problems),
        _size(cnn, "n_highway", problems, least=0, default=0),
        str(cnn.get("activation", "")),
        _size(cnn, "max_characters_per_token", problems, least=3),
    )
    if sizes.activation not in ACTIVATIONS:
        problems.append(_unexpected("activation", cnn.get("activation"), ", ".join(ACTIVATIONS)))
    if cnn.get("n_characters") not in CHARACTER_COUNTS:
        expected = " or ".join(map(str, CHARACTER_COUNTS))
        problems.append(_unexpected("n_characters", cnn.get("n_characters"), expected))
    if any(width > sizes.longest for width, _count in sizes.filters):
        problems.append(_("options.json has a filter that is wider than the longest word"))
    return sizes if len(problems) == count else None


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Name → shape of every dataset of the weights, in the order of the network."""
    wide, narrow = sizes.convolved, sizes.projection
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (BYTES, sizes.characters)}
    for number, (width, count) in enumerate(sizes.filters):
        shapes[f"CNN/W_cnn_{number}"] = (1, width, sizes.characters, count)
        shapes[f"CNN/b_cnn_{number}"] = (count,)
    for number in range(sizes.highway):
        for gate in ("carry", "transform"):
            shapes[f"CNN_high_{number}/W_{gate}"] = (wide, wide)
            shapes[f"CNN_high_{number}/b_{gate}"] = (wide,)
    shapes["CNN_proj/W_proj"], shapes["CNN_proj/b_proj"] = (wide, narrow), (narrow,)
    for direction in range(2):
        for layer in range(sizes.layers):
            cell = cell_name(direction, layer)
            shapes[f"{cell}/W_0"] = (2 * narrow, 4 * sizes.cell)
            shapes[f"{cell}/B"] = (4 * sizes.cell,)
            shapes[f"{cell}/W_P_0"] = (sizes.cell, narrow)
    return shapes


def cell_name(direction: int, layer: int) -> str:
    """The group of a layer's LSTM. `direction` is 0 for forward, 1 for backward."""
    return f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def _section(raw: Mapping[str, Any], name: str, problems: list[str]) -> Mapping[str, Any]:
    section = raw.get(name)
    if isinstance(section, Mapping):
        return section
    problems.append(_unexpected(name, section, _("an object")))
    return {}


def _size(
    raw: Mapping[str, Any], name: str, problems: list[str], *, least: int = 1, default: int = -1
) -> int:
    value = raw.get(name, default)
    if isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_SIZE:
        return value
    problems.append(_unexpected(name, raw.get(name), _("a whole number")))
    return 0


def _clip(raw: Mapping[str, Any], name: str, problems: list[str]) -> float | None:
    value = raw.get(name)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    problems.append(_unexpected(name, value, _("a positive number")))
    return None


def _filters(value: object, problems: list[str]) -> tuple[tuple[int, int], ...]:
    pairs = value if isinstance(value, list) else []
    filters = tuple(tuple(pair) for pair in pairs if isinstance(pair, list) and len(pair) == 2)
    fits = all(type(size) is int and 0 < size <= MAX_SIZE for pair in filters for size in pair)
    if filters and len(filters) == len(pairs) and len(filters) <= 100 and fits:
        return tuple((width, count) for width, count in filters)
    problems.append(_unexpected("filters", value, _("a list of [width, number]")))
    return ()


def _unexpected(name: str, value: object, expected: str) -> str:
    return _(
        "options.json gives {name} as {value}, expected {expected}",
        name=name,
        value=quoted(value),
        expected=expected,
    )
