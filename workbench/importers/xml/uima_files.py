"""The feature structures of a UIMA CAS, from XMI or from JSON.

Sources: “XMI CAS Serialization” in the UIMA References; “UIMA CAS JSON format” 0.4 of the Apache
UIMA Java SDK. An XMI file does not say which of its attributes refer to other structures: those
are recognized by their values, all of which are numbers of structures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.parsers.expat import ErrorString

from workbench.base.i18n import _
from workbench.importers.base import Fault, show
from workbench.importers.source import Source

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SOFA, VIEW = "uima.cas.Sofa", "uima.cas.View"
MAIN_VIEW = "_InitialView"
_LIST = "%FEATURE_STRUCTURES"
_XMI = "{http://www.omg.org/XMI}"
_FIXED = frozenset({"id", "sofa", "begin", "end"})
_NUMBERS = re.compile(r"\d{1,9}(?: \d{1,9})*$")


@dataclass(frozen=True)
class Structure:
    """values: feature → text. refs: feature → numbers of other structures. begin, end: UTF-16
    units of the text with the number `sofa`, -1 where it has no place.
    """

    id: int
    type: str
    sofa: int = 0
    begin: int = -1
    end: int = -1
    values: Mapping[str, str] = field(default_factory=dict)
    refs: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The type without its package."""
        return self.type.rpartition(".")[2]


@dataclass(frozen=True)
class Cas:
    """structures: number → structure. texts: number of a sofa → text. main: the first to read."""

    structures: Mapping[int, Structure]
    texts: Mapping[int, str]
    main: int


def read(source: Source) -> Cas:
    """Raises Fault for a file that cannot be parsed or has no text."""
    text = source.text().lstrip("\ufeff")
    parsed = _of_xmi(text) if text.lstrip().startswith("<") else _of_json(text)
    structures: dict[int, Structure] = {}
    for item in parsed:
        structures[item.id] = item
    sofas = [item for item in structures.values() if item.type == SOFA]
    texts = {item.id: content for item in sofas if (content := item.values.get("sofaString"))}
    if not texts:
        raise Fault(_("the file has no text"))
    names = {item.values.get("sofaID"): item.id for item in sofas if item.id in texts}
    return Cas(structures, texts, names.get(MAIN_VIEW, min(texts)))


# ---------------------------------------------------------------- JSON


def _of_json(text: str) -> Iterator[Structure]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Fault(_("the file is not valid JSON: {error}", error=error)) from None
    listed = whole.get(_LIST) if isinstance(whole, dict) else None
    if not isinstance(listed, list):
        message = _("“{name}” is not a list of feature structures, as in version 0.4 of the format")
        raise Fault(message.format(name=_LIST))
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(entry.get("%TYPE"), str):
            raise Fault(_("a feature structure is {value}", value=show(entry)))
        yield Structure(
            _whole(entry, "%ID"),
            entry["%TYPE"],
            _whole(entry, "@sofa"),
            _whole(entry, "begin", -1),
            _whole(entry, "end", -1),
            {name: _written(value) for name, value in entry.items() if _is_value(name, value)},
            {name[1:]: _ids(value) for name, value in entry.items() if name.startswith("@")},
        )


def _is_value(name: str, value: object) -> bool:
    plain = isinstance(value, str | int | float)
    return plain and name[:1] not in "%@^" and name not in _FIXED


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ids(value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(item for item in listed if type(item) is int)


def _whole(entry: Mapping[str, Any], name: str, default: int = 0) -> int:
    value = entry.get(name, default)
    if type(value) is not int:
        message = _("“{name}” of a feature structure is {value}, expected a whole number")
        raise Fault(message.format(name=name, value=show(value)))
    return value


# ---------------------------------------------------------------- XMI


def _of_xmi(text: str) -> Iterator[Structure]:
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"), _parser())
    except ElementTree.ParseError as error:
        line, column = error.position
        raise Fault(
            _(
                "the XML is not valid in line {line}, column {column}: {reason}",
                line=line,
                column=column + 1,
                reason=ErrorString(error.code),
            )
        ) from None
    elements = [(element, id) for element in root if (id := element.get(_XMI + "id")) is not None]
    known = {id for _element, id in elements}
    referring = _references(elements, known)
    for element, id in elements:
        yield _structure(element, id, referring)


def _parser() -> Any:
    """Declared encodings are ignored: the text is decoded already."""
    from xml.etree import ElementTree

    return ElementTree.XMLParser(encoding="utf-8")


def _type(element: Element) -> str:
    """`{http:///webanno/custom.ecore}Span` is webanno.custom.Span."""
    space, _brace, name = element.tag.removeprefix("{").rpartition("}")
    package = space.partition(":///")[2].removesuffix(".ecore").replace("/", ".")
    return f"{package}.{name}" if package not in ("", "uima.noNamespace") else name


def _references(elements: list[tuple[Element, str]], known: set[str]) -> set[tuple[str, str]]:
    """(tag, attribute) of the attributes whose values are all numbers of structures."""
    fits: dict[tuple[str, str], bool] = {}
    for element, _id in elements:
        for name, value in element.attrib.items():
            if name.startswith("{") or name in _FIXED:
                continue
            place = element.tag, name
            if fits.get(place, True):
                fits[place] = bool(_NUMBERS.match(value)) and known.issuperset(value.split(" "))
    return {place for place, all_fit in fits.items() if all_fit}


def _structure(element: Element, id: str, referring: set[tuple[str, str]]) -> Structure:
    values: dict[str, str] = {}
    refs: dict[str, tuple[int, ...]] = {}
    for name, value in element.attrib.items():
        if name.startswith("{") or name in _FIXED:
            continue
        if (element.tag, name) in referring:
            refs[name] = tuple(map(int, value.split(" ")))
        else:
            values[name] = value
    sofa, begin, end = (
        _number(element, name, default)
        for name, default in (("sofa", 0), ("begin", -1), ("end", -1))
    )
    return Structure(_int(id, "xmi:id"), _type(element), sofa, begin, end, values, refs)


def _number(element: Element, name: str, default: int) -> int:
    value = element.get(name)
    return default if value is None else _int(value, name)


def _int(value: str, name: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", value):
        message = _("“{name}” of a feature structure is {value}, expected a whole number")
        raise Fault(message.format(name=name, value=show(value)))
    return int(value)
