"""Unsupported formats: what a file is, and what to export or convert to instead.

Without this, a file of another tool would be read as a table or as lines of text. If importing
its lines may be wanted, `Foreign.as_text` is set and the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from workbench.base.errors import ImportFailed
from workbench.base.i18n import N_, _
from workbench.importers import foreign_xml, inception
from workbench.importers.binary import huggingface
from workbench.importers.columns import webanno_lines
from workbench.importers.json import jsonl

_START = 4_000  # number of characters searched for the markers of a format
_LINES = 200


@dataclass(frozen=True)
class Foreign:
    """`what` is a sentence with a placeholder `{name}` for the file name, `hint` the advice.

    `as_text`: its lines may be imported as texts after confirmation. `is_companion`: it describes
    the data beside it, see `companions`.
    """

    what: str
    hint: str
    as_text: bool = False
    is_companion: bool = False

    def error(self, name: str) -> ImportFailed:
        return ImportFailed(self.what.format(name=name), hint=self.hint)


def recognize(head: str, name: str) -> Foreign | None:
    """Description of a file in an unsupported format, from its beginning and its name;

    None for others.
    """
    start = head.lstrip("\ufeff \t\r\n")
    ending = name.lower().rpartition(".")[2]
    if inception.is_cas(start):
        return None
    if jsonl.opens(start):
        return _json(head)
    if start.startswith("<") and (markup := foreign_xml.recognize(start)):
        return Foreign(_(markup.what), _(markup.hint), markup.as_text, markup.is_companion)
    for test, what, hint, as_text in _TEXTS:
        if test(start, ending):
            return Foreign(_(what), _(hint), as_text, ending == _CONF)
    return None


# ---------------------------------------------------------------- JSON

_INCEPTION = N_("In INCEpTION or WebAnno, export as WebAnno TSV v3.3, CoNLL 2002 or CoNLL-U.")
_SPACY = N_("Convert it to JSON Lines with “text” and “entities” as [start, end, label].")
_MEDIA = N_("Only annotations of text can be imported.")


def _json(head: str) -> Foreign | None:
    start = head[:_START]
    keys = set(jsonl.first_object(head)) or set(jsonl.keys_in(head))
    if keys & {"_referenced_fss", "_views"}:
        return Foreign(_("{name} is a UIMA CAS in an old form of JSON."), _(_INCEPTION))
    if "text" in keys and keys & {"suffix_key", "background_color"}:
        return Foreign(
            _("{name} holds the labels of a project of doccano."),
            _("It holds no texts. Import it as labels, or import an export of the project."),
            is_companion=True,
        )
    is_squad = '"qas"' in head or ('"context"' in start and "paragraphs" in keys)
    if "paragraphs" in keys and not is_squad and ("id" in keys or "sentences" in start):
        return Foreign(_("{name} holds training data in the JSON format of spaCy 2."), _(_SPACY))
    if "filename" in keys and "text" not in keys:
        return Foreign(
            _("{name} holds annotations of images or audio, as doccano exports them."), _(_MEDIA)
        )
    if "cells" in keys and ("nbformat" in keys or '"cell_type"' in start):
        return Foreign(
            _("{name} is a Jupyter notebook."), _("Write its data to a CSV or JSONL file.")
        )
    return None


# ---------------------------------------------------------------- text

_CONF = "conf"
_ONE_LINE = N_("Write one token per line, followed by its tags, separated by tabs (CoNLL).")
_LATEX = re.compile(r"\\(?:documentclass|usepackage|begin\{|section\*?\{|chapter\*?\{|input\{)")
_SUBTITLE = re.compile(r"^(?:\d\d:)?\d\d:\d\d[,.]\d{3} --> ", re.M)
_PIPES = re.compile(r"(?:[^\s|]+(?:\|[^\s|]+){1,2} +){3,}")
_INI = re.compile(r"^\[(?:entities|relations|events|attributes|labels|drawing|options)\]", re.M)
_CUSTOM = re.compile(
    r"^(?:#(?:FORMAT=WebAnno|T_(?:SP|RL|CH)=)| ?# ?(?:de\.tudarm|webanno)\S)", re.M
)


def _starting(start: str) -> list[str]:
    return [line for line in start[:_START].split("\n") if line.strip()][:_LINES]


def _is_webanno(start: str, _ending: str) -> bool:
    if start.startswith(webanno_lines.START):
        return False
    if _CUSTOM.search(start[:_START]):
        return True
    return bool(re.match(r"#id=\d+\r?\n#text=", start))


def _is_piped(start: str, _ending: str) -> bool:
    """Sentences of `word|TAG|tag` with a space between the words."""
    lines = _starting(start)
    return bool(lines) and sum(bool(_PIPES.match(line)) for line in lines) > 0.8 * len(lines)


def _is_markdown(start: str, ending: str) -> bool:
    if huggingface.is_card(start):
        return False
    marks = re.findall(r"^(?:#{1,6} |```|\|? ?:?---|[-*] |\d+\. )", start[:_START], re.M)
    return ending in ("md", "markdown", "rst") and bool(marks)


def _is_subtitle(start: str, _ending: str) -> bool:
    return start.startswith("WEBVTT") or len(_SUBTITLE.findall(start[:_START])) > 1


def _starts(*marks: str) -> Callable[[str, str], bool]:
    return lambda start, _ending: start.startswith(marks)


_TEXTS: tuple[tuple[Callable[[str, str], bool], str, str, bool], ...] = (
    (_is_webanno, N_("{name} is a file of WebAnno TSV 1 or 2."), _INCEPTION, False),
    (
        lambda start, ending: ending in ("a1", "a2") and bool(re.match(r"[TER\*]\d*\t", start)),
        N_("{name} is a file of the BioNLP shared task (.a1, .a2)."),
        N_("Join both files of a text into one file with the suffix .ann, and import that file."),
        False,
    ),
    (
        lambda start, ending: ending == _CONF and bool(_INI.search(start)),
        N_("{name} is a configuration of brat."),
        N_("Import the texts and annotations instead."),
        False,
    ),
    (
        lambda start, ending: ending in ("ttl", "nt", "n3") or start.startswith("@prefix "),
        N_("{name} is an RDF file (Turtle)."),
        _INCEPTION,
        False,
    ),
    (_starts('File type = "ooTextFile"'), N_("{name} is a Praat TextGrid."), _ONE_LINE, False),
    (
        _starts("{\\rtf"),
        N_("{name} is a Rich Text document."),
        N_("Save it as plain text (UTF-8)."),
        False,
    ),
    (
        _starts("%!PS"),
        N_("{name} is a PostScript document."),
        N_("Save it as plain text (UTF-8)."),
        False,
    ),
    (
        _is_piped,
        N_(
            "{name} holds one sentence per line with tags after bars (“word|tag”), as spaCy "
            "reads it."
        ),
        _ONE_LINE,
        False,
    ),
    (
        lambda start, _ending: bool(_LATEX.search(start[:_START])),
        N_("{name} is a LaTeX document."),
        N_("Convert it to plain text, for example with pandoc."),
        True,
    ),
    (
        _is_subtitle,
        N_("{name} holds subtitles."),
        N_("Remove numbers and times, and keep only the lines of text."),
        True,
    ),
    (
        _is_markdown,
        N_("{name} is a Markdown document."),
        N_("Convert it to plain text, for example with pandoc."),
        True,
    ),
)
