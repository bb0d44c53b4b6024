"""XML and its relatives, recognized by the first element."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.base.i18n import N_

_PROLOGUE = re.compile(
    r"(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>|\s)+", re.S | re.I
)
_ELEMENT = re.compile(r"<([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)(?=[\s/>])")

_SENSES = re.compile(r"<(?:wf|instance)\s[^>]*\blemma=")
_SENTENCE = re.compile(r"<sentence\s[^>]*\bid=[^>]*>\s*<text>")
_REVIEW = re.compile(r"<Review\s[^>]*\brid=")
_BIOC = re.compile(r"BioC\.dtd|<document>\s*(?:<id|<infon|<passage)|<source\b.*<key\b", re.S)


@dataclass(frozen=True)
class Markup:
    """As `foreign.Foreign`, before translation."""

    what: str
    hint: str
    as_text: bool = False
    is_companion: bool = False


_INCEPTION = N_("In INCEpTION or WebAnno, export as WebAnno TSV v3.3, CoNLL 2002 or CoNLL-U.")
_TEXT = N_("Convert it to plain text, or to CSV or JSONL to keep its annotations.")
_LINES = N_("Convert it to JSON Lines with “text” and “entities” as [start, end, label].")
_ROOTS = {
    "cas": Markup(N_("{name} is a UIMA XCAS file."), _INCEPTION),
    "typesystemdescription": Markup(
        N_("{name} is a UIMA type system, which holds no text."),
        N_("Import the annotated documents instead; export them as WebAnno TSV v3.3."),
        is_companion=True,
    ),
    "view": Markup(
        N_("{name} is a labelling configuration of Label Studio."),
        N_("It holds labels and no text. Import an export of the project instead."),
        is_companion=True,
    ),
    "folia": Markup(
        N_("{name} is a FoLiA document."), N_("Convert it with folia2txt or folia2columns.")
    ),
    "annotation_document": Markup(
        N_("{name} is an ELAN file (.eaf)."),
        N_("In ELAN, export as tab-delimited text, and import that file."),
    ),
    "basic-transcription": Markup(N_("{name} is an EXMARaLDA transcription."), _TEXT),
    "d-spin": Markup(
        N_("{name} is a TCF file (WebLicht)."), N_("Convert it to CoNLL in WebLicht.")
    ),
    "gatedocument": Markup(N_("{name} is a GATE document."), _LINES),
    "naf": Markup(N_("{name} is a NAF document."), _LINES),
    "pcgts": Markup(N_("{name} is a PAGE XML file (text recognition)."), _TEXT),
    "alto": Markup(N_("{name} is an ALTO XML file (text recognition)."), _TEXT),
    "svg": Markup(N_("{name} is an image (SVG)."), N_("Only text can be imported.")),
}
_HTML = frozenset(
    "html head body div p span table ul ol h1 h2 h3 br a b i article section main".split()
)
_BLOCKS = frozenset(("s", "doc", "text", "corpus"))


def has_senses(start: str) -> bool:
    """Whether a file is an all-words corpus for word sense disambiguation, see `wsd`."""
    prologue = _PROLOGUE.match(start)
    rest = start[prologue.end() :] if prologue else start
    return rest.startswith("<corpus") and _SENSES.search(rest) is not None


def root(start: str) -> str:
    """The name of the first element in lower case, without its prefix; "" for other files."""
    start = start.lstrip("\ufeff \t\r\n")
    prologue = _PROLOGUE.match(start)
    element = _ELEMENT.match(start, prologue.end() if prologue else 0)
    return element[1].lower().rpartition(":")[2] if element else ""


def has_aspects(start: str) -> bool:
    """Whether a file has sentences of SemEval with aspects or opinions, see `absa`."""
    name = root(start)
    if name == "sentences":
        return "<aspect" in start or bool(_SENTENCE.search(start))
    return name == "reviews" and bool(_REVIEW.search(start))


def is_bioc(start: str) -> bool:
    """Whether a file is a collection of BioC, see `bioc`."""
    return root(start) == "collection" and bool(_BIOC.search(start))


def is_tei(start: str) -> bool:
    return root(start) in ("tei", "tei.2", "teicorpus", "teicorpus.2")


def recognize(start: str) -> Markup | None:
    """What a file is that begins with "<";

    None for a text that only begins so ("<3", "<unk> …").
    """
    if any(test(start) for test in (has_senses, has_aspects, is_bioc, is_tei)):
        return None
    prologue = _PROLOGUE.match(start)
    rest = start[prologue.end() :] if prologue else start
    element = _ELEMENT.match(rest)
    name = element.group(1).lower() if element else ""
    if name in _ROOTS:
        return _ROOTS[name]
    local = name.rpartition(":")[2]
    if local in _ROOTS and local != "view":
        return _ROOTS[local]
    if start[:20].lower().startswith(("<!doctype html", "<html")):
        return Markup(N_("{name} is a web page (HTML)."), _TEXT, as_text=True)
    if local in _BLOCKS and "\t" in rest[:2_000]:
        return Markup(
            N_(
                "{name} holds columns of tokens between XML elements, as Corpus "
                "Workbench reads them."
            ),
            N_("Replace the lines of elements with blank lines (CoNLL)."),
        )
    if local in _HTML and _mostly_tags(start):
        return Markup(N_("{name} is a web page (HTML)."), _TEXT, as_text=True)
    if start.startswith(("<?xml", "<!ELEMENT", "<!ENTITY", "<!--")) or (
        element and _mostly_tags(start)
    ):
        return Markup(N_("{name} is an XML file."), _TEXT, as_text=True)
    return None


def _mostly_tags(start: str) -> bool:
    """Whether at least half of the first lines begin with an element."""
    lines = [line.lstrip() for line in start[:4_000].split("\n") if line.strip()]
    tags = sum(bool(re.match(r"</?[A-Za-z_!?]", line)) for line in lines)
    return tags * 2 >= len(lines)
