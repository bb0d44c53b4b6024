"""Which differences are equal cases: the same layer, labels and kind; of boundaries, also the words
at the edge, or their word classes.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.operations.people.cases import Difference
from workbench.operations.people.differences import BOUNDARY, Mark, partition
from workbench.text.segment import words


def alike(difference: Difference, every: Iterable[Difference]) -> tuple[Difference, ...]:
    """The equal cases among other differences, those with the same words first.

    difference, every: with the words of their marks.
    """
    like = (item for item in every if may_be_alike(item, difference))
    signed, words = signature(difference), words_of(difference)
    equal = [item for item in like if signature(item) == signed]
    return tuple(sorted(equal, key=lambda item: words_of(item) != words))


def may_be_alike(item: Difference, difference: Difference) -> bool:
    """Whether it is open, with the same layer, labels and kind. Marks need no words."""
    return (
        item.taken is None
        and (item.layer.id, item.kind) == (difference.layer.id, difference.kind)
        and (item.document_id, item.key) != (difference.document_id, difference.key)
        and _labels_of(item) == _labels_of(difference)
    )


def _labels_of(item: Difference) -> tuple[object, ...]:
    """The labels in each version; values distinguish those without labels."""
    return tuple(
        None if version is None else tuple(sorted(mark.label for mark in version))
        for version in item.versions
    )


def words_of(item: Difference) -> tuple[object, ...]:
    """The words of each version, by chain if it has chains. item: with the words of its marks."""
    if item.layer.traits.in_chains:
        return tuple(
            None if version is None else tuple(sorted(map(_words, partition(version))))
            for version in item.versions
        )
    return tuple(None if version is None else _words(version) for version in item.versions)


def _words(marks: Iterable[Mark]) -> tuple[str, ...]:
    return tuple(sorted(mark.text.casefold() for mark in marks))


def signature(item: Difference) -> tuple[object, ...]:
    """Equal for differences that are equal cases. item: with the words of its marks."""
    traits = item.layer.traits
    same: tuple[object, ...] = (item.layer.id, item.kind, _labels_of(item))
    if traits.in_chains or traits.asks or not traits.has_labels:
        return *same, words_of(item)
    if item.kind == BOUNDARY and not traits.between_spans:
        return *same, _edges(item)
    return same


def _edges(item: Difference) -> tuple[object, ...]:
    """Per version the classes of the words before and after what all versions cover."""
    versions = [version for version in item.versions if version]
    start = max(min(mark.offsets[0] for mark in version) for version in versions)
    end = min(max(mark.offsets[1] for mark in version) for version in versions)
    edges: list[object] = []
    for version in item.versions:
        if not version:
            edges.append(version)
        elif len(version) > 1 or version[0].parts or start >= end:
            edges.append(tuple(mark.text.casefold() for mark in version))
        else:
            first, text = version[0].offsets[0], version[0].text
            edges.append((_classes(text[: max(0, start - first)]), _classes(text[end - first :])))
    return tuple(edges)


ARTICLES = frozenset(
    "a an the der die das den dem des ein eine einen einem einer eines le la les l un une des el"
    " los las una unos unas il lo gli i o os as um uma de het een".split()
)  # of English, German, French, Spanish, Italian, Portuguese and Dutch


def _classes(text: str) -> tuple[str, ...]:
    """The class of each word: an article, a number, a capitalized word; others are themselves."""
    return tuple(_class(text[start:end]) for start, end in words(text))


def _class(word: str) -> str:
    if word.casefold() in ARTICLES:
        return "<article>"
    if word[0].isnumeric():
        return "<number>"
    return "<capitalized>" if word[0].isupper() else word.casefold()
