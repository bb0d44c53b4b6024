"""What the columns of a file of tokens are, guessed from its first lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.text import schemes

DOCSTART = "-DOCSTART-"
COMMENT = re.compile(
    r"#\s*(?:(newdoc id|newdoc|doc(?! id))|(sent_id|id)|((?:\w+:)?(?:document|doc)[_ ]?id)"
    r"|newpar|text|relations|meta|global\.columns|split)\b\s*=?\s*(.*)$",
    re.I,
)
_OTHER_COMMENT = re.compile(r"#(?:begin|end) document|# ?[^\t ]+ = ")
_MARKED_DOCUMENT = re.compile(r"###(?:\w+:)?\s*(\S.*?)\s*#*$")  # ###MEDLINE:95369245, as in JNLPBA
_STARTED = re.compile(r"-DOCSTART-(?![\w-])[ \t]*(.*)$")
_GLOBAL = re.compile(r"^#\s*global\.columns\s*=\s*(.+?)\s*$", re.M)  # of CoNLL-U Plus
_BARE = re.compile(r"[^\W\d_][\w./+&:-]*$")  # labels without prefixes
_PLACEHOLDERS = frozenset(("O", "o", "0", "_", "-", "-X-", "X", "*"))
WORD_NAMES = frozenset("word words token tokens form".split())
TEXT_NAMES = WORD_NAMES | {"text"}
POS_NAMES = frozenset("pos upos xpos pos_tag pos_tags".split())
_NAMES = (
    TEXT_NAMES
    | POS_NAMES
    | frozenset(
        "id index lemma tag tags label labels ner ner_tag ner_tags chunk chunk_tag iob bio misc "
        "entity".split()
    )
)
_SAMPLE = 2000  # lines
# Tjong Kim Sang and Buchholz 2000, table 1.
_CHUNKS = frozenset("NP VP PP ADVP SBAR ADJP PRT CONJP INTJ LST UCP".split())
CHUNK_LAYER, POS_LAYER = "chunks", "pos"
_MIN_LABELLED_TOKENS = 20  # tokens with a label, below which different labels may be a coincidence
_MAX_MEAN_WORDS = 1.5  # of a token, on average: more are a table of texts
# Values that say whether a space follows a token, those for none first.
_SPACING = (("-", "+"), ("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"))
_SPACING_NAMES = re.compile(r"(?:no)?(?:space|whitespace|blank)s?(?:after|follows?)?", re.I)
_CLOSING = frozenset(".,;:!?)]}")


def delimiter(lines: Sequence[str]) -> str:
    """A tab where most lines hold one within, else spaces; another sign if there are neither."""
    lines = [line.strip(" \t") for line in lines if not line.startswith(("#", DOCSTART))]
    if sum("\t" in line for line in lines) * 2 > len(lines):
        return "\t"
    if not any(re.search(r"[ \t]", line) for line in lines):
        for sign in ",;|":
            if lines and all(sign in line for line in lines):
                return sign
    return " "


def sample(head: str, by: str = "") -> tuple[str, list[list[str]]]:
    """The delimiter and the rows of a file's first lines, without comments and -DOCSTART-."""
    lines = [
        line.rstrip("\r")
        for line in (head.lstrip("\ufeff").split("\n")[:-1] or [head])[:_SAMPLE]
        if line.strip()
    ]
    by = by or delimiter(lines)
    rows = [
        columns(line, by)
        for line in lines
        if not line.startswith(("# ", "#\t", "##")) and not _STARTED.match(line)
    ]
    if (
        lines
        and lines[0].startswith("#")
        and is_header(names := columns(lines[0].lstrip("# "), by))
    ):
        rows.insert(0, names)
    width = width_of(rows)
    if width > 2 and not any(row[-1] for row in rows if len(row) == width):
        rows = [row[:-1] if len(row) == width else row for row in rows]  # a tab ends the lines
    return by, [row for row in rows if row]


def columns(line: str, by: str) -> list[str]:
    if by == " ":
        return [part for part in re.split("[ \t]+", line) if part]
    return line.split(by)


def fitted(line: str, by: str, width: int) -> list[str]:
    """The columns of a line, `width` if it can be read so: without empty ones at its end, with
    spaces where the others have tabs, or with a token that is white space.
    """
    row = columns(line, by)
    if len(row) == width:
        return row
    while len(row) > width and not row[-1].strip():
        row.pop()
    if len(row) == 1 < width and by != " " and len(other := columns(line, " ")) == width:
        return other
    if by == " " and len(row) == width - 1 and line[:1] in (" ", "\t"):
        return ["", *row]
    return row


def width_of(rows: Sequence[Sequence[str]]) -> int:
    """How many columns most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


# ---------------------------------------------------------------- the names of the columns


def plain_name(name: str) -> str:
    """The name of a column in lower case, with underscores: "Sentence #" → "sentence"."""
    return re.sub(r"[\s#:.-]+", "_", name.lower()).strip("_")


def is_header(row: Sequence[str]) -> bool:
    """Whether a row has only names that columns of tokens often have."""
    return len(row) > 1 and all(plain_name(cell) in _NAMES for cell in row)


def names_words(row: Sequence[str]) -> bool:
    """Whether a header names the column of the tokens."""
    return not TEXT_NAMES.isdisjoint(map(plain_name, row))


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: by known names, or because no cell of it has a tag
    where all others have one.
    """
    if not rows or len(rows[0]) < 2:
        return False
    first = rows[0]
    if is_header(first):
        return True
    rest = [row for row in rows[1:] if len(row) == len(first) and row != first]
    tagged = tag_columns(rest)
    if len(first) != width_of(rows[1:]) or not tagged or not all(map(str.strip, first)):
        return False
    prefixed, labelled = True, False
    for column in tagged:
        cells = [row[column] for row in rest]
        scheme = schemes.detect([cells])
        labels = {schemes.read_tag(cell, scheme)[1] for cell in cells}
        if first[column] in cells or first[column] in labels or first[column] in _PLACEHOLDERS:
            return False
        if schemes.read_tag(first[column], scheme) != ("I", first[column]):
            return False
        prefixed &= schemes.are_tags(cells)
        labelled |= bool(labels - {None})
    return plain_name(first[text_column(rest)]) in TEXT_NAMES or (prefixed and labelled)


def global_names(head: str) -> tuple[str, ...]:
    """The names of the columns in a comment of CoNLL-U Plus."""
    match = _GLOBAL.search(head)
    return tuple(match[1].split()) if match else ()


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with the number of the column where one is missing or occurs twice."""
    counts = Counter(name.strip() for name in names)
    return tuple(
        name.strip() if name.strip() and counts[name.strip()] == 1 else str(n)
        for n, name in enumerate(names, 1)
    )


# ---------------------------------------------------------------- what the columns hold


def tag_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns (from 0, not the first) that hold tags: nearly all like O or B-X, or O and names."""
    width = width_of(rows)
    full = [row for row in rows if len(row) == width]
    if not full:
        return []
    text = text_column(full)
    words = sum(len(row[text].split()) for row in full) / len(full)
    return [
        n for n in range(1, width) if n != text and _are_tags([row[n] for row in full], words=words)
    ]


def _are_tags(cells: Sequence[str], *, words: float) -> bool:
    """words: average number in a token."""
    if schemes.are_tags(cells):
        return True
    outside = cells.count("O") or cells.count("o")
    return (
        outside > 1
        and outside * 5 >= len(cells)
        and words <= _MAX_MEAN_WORDS
        and all(cell in schemes.MISSING or _BARE.match(cell) for cell in cells)
    )


def regular(rows: Sequence[Sequence[str]], by: str) -> bool:
    """Whether the rows are columns at all: prose between spaces has another number in each line."""
    width = width_of(rows)
    same = sum(len(row) == width for row in rows)
    return by != " " or (same > 1 and same * 2 > len(rows))


def text_column(rows: Sequence[Sequence[str]], names: Sequence[str] = ()) -> int:
    """The column of the tokens: by its name, else the first that is not empty in all rows, or the
    one after it where it counts the words or names the document of each.
    """
    for n, name in enumerate(names):
        if plain_name(name) in WORD_NAMES:
            return n
    width = width_of(rows)
    full = [row for row in rows if len(row) == width]
    first = next((n for n in range(width - 1) if any(row[n].strip() for row in full)), 0)
    if width - first < 3 or not full:
        return first
    counted = full[0][first] in ("0", "1") and all(row[first].isdigit() for row in full)
    return first + (counted or _names_documents(full, first))


def _names_documents(rows: Sequence[Sequence[str]], column: int) -> bool:
    """Whether values stay the same for many rows, while those of the next column, which are no
    tags, change: words are seldom repeated.
    """
    if len(rows) < 4 or schemes.are_tags([row[column + 1] for row in rows]):
        return False
    pairs = [*zip(rows, rows[1:], strict=False)]
    same, same_words = (
        sum(before[n] == after[n] for before, after in pairs) for n in (column, column + 1)
    )
    return same > 0.5 * len(pairs) and same_words < 0.1 * len(pairs)


def unused(rows: Sequence[Sequence[str]], text: int, taken: Iterable[int]) -> tuple[int, ...]:
    """The columns whose contents get lost: those without a role that have different values, but for
    numbers before the tokens. taken: columns with a role.
    """
    width, used = width_of(rows), frozenset(taken)
    full = [row for row in rows if len(row) == width]
    counted = text if all(cell.isdigit() for row in full for cell in row[:text]) else 0
    return tuple(
        n for n in range(counted, width) if n not in used and len({row[n] for row in full}) > 1
    )


@dataclass(frozen=True)
class Spacing:
    """The column that says where no space follows a token, and its values there.

    Without values, it holds entries such as SpaceAfter=No (CoNLL-U) or NoSpaceAfter (HIPE).
    """

    column: int
    none: frozenset[str] = frozenset()

    def glued(self, row: Sequence[str]) -> bool:
        """Whether no space follows the token of a row."""
        cell = row[self.column]
        if self.none:
            return cell.lower() in self.none
        return not {"SpaceAfter=No", "NoSpaceAfter"}.isdisjoint(cell.split("|"))


def spacing(
    rows: Sequence[Sequence[str]], names: Sequence[str], text: int, taken: Iterable[int]
) -> Spacing | None:
    """How a file says where no space follows a token. taken: columns with another role."""
    width = width_of(rows)
    full = [row for row in rows if len(row) == width]
    free = [n for n in range(width) if n not in (text, *taken)]
    for n in free:
        if any("SpaceAfter=" in row[n] or "NoSpaceAfter" in row[n].split("|") for row in full):
            return Spacing(n)
    for n in free:
        values = {row[n].lower() for row in full}
        for none, some in _SPACING:
            if values and values <= {none, some}:
                named = bool(names) and _SPACING_NAMES.fullmatch(
                    plain_name(names[n]).replace("_", "")
                )
                if named and plain_name(names[n]).startswith("no"):
                    none = some
                if named or _fits(full, text, n, none, surely=(none, some) != _SPACING[0]):
                    return Spacing(n, frozenset((none,)))
    return None


def _fits(
    rows: Sequence[Sequence[str]], text: int, column: int, none: str, *, surely: bool
) -> bool:
    """Whether closing punctuation marks mostly follow tokens that have the value for no space."""
    before = [
        row[column].lower() == none
        for row, after in zip(rows, rows[1:], strict=False)
        if after[text] in _CLOSING
    ]
    varied = len({row[column] for row in rows}) > 1
    return varied and sum(before) * 5 >= len(before) * 4 and (bool(before) or not surely)


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
    tags = [row[column] for row in rows if len(row) > column]
    scheme = schemes.detect([tags])
    labels = (schemes.read_tag(tag, scheme)[1] for tag in tags)
    return Counter(label for label in labels if label)


def _same_annotation(counter: Counter[str], other: Counter[str]) -> bool:
    if not counter or not other or counter.keys() & other.keys():
        return True
    if (counter.keys() <= _CHUNKS) != (other.keys() <= _CHUNKS):
        return False
    return min(counter.total(), other.total()) < _MIN_LABELLED_TOKENS


def _layer_name(labels: Counter[str], column: int) -> str:
    return CHUNK_LAYER if labels.keys() <= _CHUNKS else f"column {column + 1}"


def docstart(line: str, width: int) -> str | None:
    """What a -DOCSTART- line says of its document, "" for nothing; None for another line.

    In a line as wide as the table, only a name in parentheses is one: others are tags.
    """
    if not (match := _STARTED.match(line)):
        return None
    cells = match[1].split()
    if match[1].startswith("(") and ")" in match[1]:
        return match[1][: match[1].index(")") + 1]
    named = len(cells) == 1 and width > 2 and cells[0] not in _PLACEHOLDERS
    return cells[0] if named else ""


def marked_document(line: str) -> str | None:
    """The document that begins at a line such as ###MEDLINE:95369245; None for another line."""
    match = _MARKED_DOCUMENT.match(line)
    return match[1] if match and "\t" not in line else None


def is_comment(line: str, by: str, width: int) -> bool:
    """A line of its own kind, not a token "#": such a one has as many columns as the others."""
    if not line.startswith("#"):
        return False
    if by != " ":
        cells = line.count(by) + 1
        marked = line.startswith(("##", "#begin", "#end")) or COMMENT.match(line)
        return cells != width and (line.startswith(("#\t", "# ")) or (cells == 1 and bool(marked)))
    return bool(_OTHER_COMMENT.match(line) or ("=" in line and COMMENT.match(line))) or len(
        columns(line, by)
    ) not in (width, 2)
