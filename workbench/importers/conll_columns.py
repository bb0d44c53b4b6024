"""What the columns of a file of tokens are, guessed from its first lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from workbench.text.schemes import OUTSIDE, split_tag

DOCSTART = "-DOCSTART-"
COMMENT = re.compile(
    r"#\s*(?:(newdoc id|newdoc|doc)|(sent_id|id)"
    r"|newpar|text|relations|meta|global\.columns|split)\b\s*=?\s*(.*)$",
    re.I,
)
_OTHER_COMMENT = re.compile(r"#(?:begin|end) document|# ?[^\t ]+ = ")
_TAG = re.compile(r"^(?:O|[BIESLUMW][-_].+)$")
_BARE = re.compile(r"^(?:O|[A-Z][\w./+-]*)$")  # tags without prefixes
_NAMES = frozenset(
    "word words token tokens form text lemma tag tags label labels ner pos upos xpos chunk".split()
)
_SAMPLE = 2000  # lines
# Tjong Kim Sang and Buchholz 2000, table 1.
_CHUNKS = frozenset("NP VP PP ADVP SBAR ADJP PRT CONJP INTJ LST UCP".split())
CHUNK_LAYER = "chunks"
_FEW = 20  # tokens with a label, below which different labels may be a coincidence


def delimiter(lines: Sequence[str]) -> str:
    """A tab where most lines hold one, else spaces."""
    tabs = sum("\t" in line for line in lines if not line.startswith("# "))
    return "\t" if tabs * 2 > len(lines) else " "


def sample(head: str) -> tuple[str, list[list[str]]]:
    """The delimiter and the rows of a file's first lines, without comments."""
    lines = [
        line.rstrip("\r") for line in (head.split("\n")[:-1] or [head])[:_SAMPLE] if line.strip()
    ]
    by = delimiter(lines)
    return by, [
        row for line in lines if not line.startswith(("# ", "#\t")) and (row := columns(line, by))
    ]


def columns(line: str, by: str) -> list[str]:
    if by == "\t":
        return line.split("\t")
    return [part for part in re.split("[ \t]+", line) if part]


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """How many columns most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def is_header(row: Sequence[str]) -> bool:
    """Whether the row names the columns."""
    return len(row) > 1 and all(cell.strip().lower() in _NAMES for cell in row)


def tag_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns (from 0, not the first) that hold tags: nearly all like O or B-X, or O and names."""
    width = width_of(rows)
    full = [row for row in rows if len(row) == width and row[0] != DOCSTART]
    return [n for n in range(1, width) if full and _are_tags([row[n] for row in full])]


def _are_tags(cells: Sequence[str]) -> bool:
    if sum(bool(_TAG.match(cell)) for cell in cells) > 0.9 * len(cells):
        return True
    outside = cells.count("O")
    return outside > 1 and outside * 5 >= len(cells) and all(map(_BARE.match, cells))


def regular(rows: Sequence[Sequence[str]], by: str) -> bool:
    """Whether the rows are columns at all: prose between spaces has another number in each line."""
    width = width_of(rows)
    same = sum(len(row) == width for row in rows)
    return by == "\t" or (same > 1 and same * 2 > len(rows))


def text_column(rows: Sequence[Sequence[str]]) -> int:
    """The first column, or the second where the first counts the words."""
    width = width_of(rows)
    counted = [row for row in rows if len(row) == width and row[0] != DOCSTART]
    return int(
        width > 2
        and bool(counted)
        and all(row[0].isdigit() for row in counted)
        and counted[0][0] == "1"
    )


def layers_of(rows: Sequence[Sequence[str]], tagged: Sequence[int], layer: str) -> dict[int, str]:
    """The layer for each column of tags; that of the last column is `layer`.

    Columns that share a label are levels of one nested annotation and get the same layer. Columns
    whose labels are all different, over enough tokens to tell, annotate different things.
    """
    groups: list[tuple[Counter[str], list[int]]] = []
    for column in tagged:
        labels = _labels(rows, column)
        alike = [group for group in groups if _same_annotation(group[0], labels)]
        groups = [group for group in groups if group not in alike]
        labels = sum((group[0] for group in alike), labels)
        groups.append((labels, sorted({column, *(n for group in alike for n in group[1])})))
    last = max(tagged, default=0)
    return {
        column: layer if last in members else _layer_name(labels, members[0])
        for labels, members in groups
        for column in members
    }


def _labels(rows: Sequence[Sequence[str]], column: int) -> Counter[str]:
    """The labels of a column and on how many tokens they are."""
    tags = (row[column] for row in rows if len(row) > column and row[0] != DOCSTART)
    return Counter((split_tag(tag) or ("", tag))[1] for tag in tags if tag not in OUTSIDE)


def _same_annotation(counter: Counter[str], other: Counter[str]) -> bool:
    if not counter or not other or counter.keys() & other.keys():
        return True
    if (counter.keys() <= _CHUNKS) != (other.keys() <= _CHUNKS):
        return False
    return min(counter.total(), other.total()) < _FEW


def _layer_name(labels: Counter[str], column: int) -> str:
    return CHUNK_LAYER if labels.keys() <= _CHUNKS else f"column {column + 1}"


def is_comment(line: str, by: str, width: int) -> bool:
    """A line of its own kind, not a token "#": such a one has as many columns as the others."""
    if not line.startswith("#"):
        return False
    if by == "\t":
        if line.startswith("#\t"):
            return line.count("\t") + 1 != width
        return "\t" not in line and (
            line.startswith(("# ", "#begin", "#end")) or bool(COMMENT.match(line))
        )
    return bool(_OTHER_COMMENT.match(line) or ("=" in line and COMMENT.match(line))) or len(
        columns(line, by)
    ) not in (width, 2)
