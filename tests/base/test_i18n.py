"""Every visible sentence passes `_()`: checked in the source.

tests/ui/test_every_string.py checks it in the window.
"""

import ast
import gettext
import os
import re
import string
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests import source
from tests.source import CODE
from workbench.base import i18n, terms
from workbench.base.i18n import N_, _
from workbench.runtime.chat_template import PLAIN

ROOT = CODE.parent

# Files whose texts are no texts of the application: file → why.
WHOLE = {
    "base/deprecation.py": "warnings for the authors of plugins",
    "ui/style/style_sheet.py": "style sheets",
    "operations/application/sample.py": "the sample's own labels, stored with it",
    "exporters/model/card.py": "the model card is English: it travels with the model",
    "exporters/model/gguf/card.py": "as the model card",
    "exporters/model/bundle.py": "files of an exported program, English as the model card",
    "exporters/model/plain/exporter.py": "as the bundle",
    "exporters/model/spacy/exporter.py": "as the bundle",
    "storage/annotation/versions.py": "SQL alone",
    "storage/integrity/checksums.py": "SQL alone",
    "storage/journal/replay.py": "SQL alone",
    "storage/staging/differing_versions.py": "SQL alone",
    "storage/labels/label_changes.py": "SQL alone",
    "storage/labels/label_moves.py": "SQL alone",
    "text/language.py": "frequent words of languages",
    "storage/schema/tables.py": "conditions of SQL",
    "ui/dialogs/about.py": "diagnostics are English: those who look for the fault read them",
}
# Single texts that look like sentences: file → text → why.
SINGLE = {
    "base/errors.py": dict.fromkeys(
        (
            *("no space left", "disk is full", "disk quota"),
            *("out of memory", "not enough memory", "can't allocate memory"),
            *("could not create a primitive", "could not create a memory"),
        ),
        "looked for in what systems and torch say",
    ),
    "exporters/data/brat.py": dict.fromkeys(
        ("*\tEquiv ", "\tAnnotatorNotes "), "parts of the format's lines"
    ),
    "runtime/chat_template.py": {PLAIN: "a template that models read"},
    "exporters/data/webanno.py": {"#FORMAT=WebAnno TSV 3.3": "a line of the format"},
    "exporters/data/conll.py": {"# doc = ": "a line of the format"},
    "exporters/data/conll2012.py": dict.fromkeys(
        ("#begin document (", "); part 000\n", "\n#end document\n"), "lines of the format"
    ),
    "exporters/data/conllu.py": dict.fromkeys(
        ("# newdoc id = ", "# sent_id = ", "# text = "), "lines of the format"
    ),
    "models/pickled.py": dict.fromkeys(
        ("attributes of ", "persistent id ", "persistent id as text"),
        "what a pickle does, as names of its modules and classes",
    ),
    "exporters/model/proof.py": dict.fromkeys(
        ("👩\u200d👩\u200d👧\u200d👦 🚋🚋🚋 late again 😡 10/10 👍🏽", "Who was late?"),
        "unusual texts that formats are checked on",
    ),
    "models/recurrent.py": {"RNN module weights": "the beginning of a warning of torch"},
    "metrics/definitions.py": {"GAP (Webster et al. 2018)": "a publication"},
    "models/loading.py": dict.fromkeys(
        ("Two words.", "A longer text, so that the shorter one is padded in a batch of both."),
        "texts that an encoder is tried with",
    ),
    "exporters/model/onnx/exporter.py": dict.fromkeys(
        ("A few words to trace with, and more.", "Two words"), "inputs of the trace"
    ),
    "operations/schema/guideline_page.py": dict.fromkeys(
        (
            "); box-shadow: inset 0 -2px light-dark(",
            '<a class="chip ',
            '<td dir="auto">',
            '<tr><td dir="auto">',
            *("example good", "example bad"),
            '<span class="sign" title="',
        ),
        "HTML",
    ),
    "text/html_page.py": {'<td dir="auto"': "HTML"},
    "storage/staging/copy_staged.py": dict.fromkeys(
        (" on k.seq = v.doc", ") c on c.doc = p.seq"), "SQL"
    ),
    "importers/columns/conllu.py": {"newdoc id": "a line of the format"},
    "importers/foreign.py": {'File type = "ooTextFile"': "how such a file begins"},
    "importers/columns/conll2012.py": dict.fromkeys(
        ("#begin document", "#end document"), "lines of the format"
    ),
    "importers/foreign_xml.py": {"<!doctype html": "how such a file begins"},
    "importers/columns/webanno_lines.py": {"#FORMAT=WebAnno TSV 3": "how such a file begins"},
    "importers/json/jsonl.py": dict.fromkeys(
        ("integer string conversion", "Unterminated string"), "looked for in what Python says"
    ),
    "importers/tables/table_rows.py": dict.fromkeys(
        ("unexpected end of data", "expected after"), "looked for in what Python says"
    ),
    "inspection/serve.py": {"A few words to begin with.": "a text to warm the model up"},
    "serving/app.py": {'Basic realm="Glossbench"': "a header of HTTP"},
    "serving/pages.py": dict.fromkeys(
        (
            "The 42 tram was late again.",
            "The tram did not come on time.",
            "It was early.",
            "It was late.",
            "Which tram was late?",
        ),
        "texts in examples of requests",
    ),
    "models/precision.py": dict.fromkeys(
        ("model name", "cpu family"), "names of lines in /proc/cpuinfo"
    ),
    "text/formulas.py": {"escaped cells": "the name of a column in files"},
    "storage/queries/columns.py": dict.fromkeys(
        (
            " glob '*[0-9]' and ltrim(",
            " then cast(",
            " then lower(",
            ") else ",
            " nulls last, d.id",
        ),
        "SQL",
    ),
    "storage/queries/conditions.py": dict.fromkeys(
        (
            "d.split is ?",
            "exists (",
            "s.kind in ",
            " like ? escape '\\', 0)",
            " = ? collate nocase, 0)",
        ),
        "conditions of SQL",
    ),
    "storage/schema/migrations.py": {"alter table ": "SQL"},
    "storage/connections/failures.py": {
        "Could not decode to UTF-8": "looked for in what SQLite says"
    },
    "ui/dialogs/error.py": {"Uncaught exception\n%s": "a line of the log"},
    "ui/style/theme.py": {"JetBrains Mono": "a font"},
    "text/queries/query.py": dict.fromkeys(
        ('note:"ask Ada"', 'assigned:"Ada Lovelace"', 'filter:"my filter"'),
        "examples of the query language",
    ),
    "storage/integrity/repair.py": {'" = null': "SQL"},
    "storage/journal/journal.py": {"CREATE TRIGGER ": "SQL"},
    "storage/staging/staging.py": {" then '": "SQL"},
    "storage/documents/statistics.py": dict.fromkeys((") then '", " then '", "' else '"), "SQL"),
}
SENTENCE = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}|\S [a-z]{3,}[.:,]?$")
PIECE = re.compile(
    r"(?:^|[ .,;:(–])[A-Za-z]{3,}(?= |$)|[A-Za-z]{3,} $"
)  # of an f-string: a word with a place beside it
SQL = re.compile(
    r"\b(select|insert|update|delete|from|where|join|create|drop|pragma|values|trigger|savepoint"
    r"|release|rollback|begin|commit|order by|group by|limit|union|set|and|or|on main|primary key"
    r"|case|when|is null|as|not|end|after|detach|in(?= \()|SET|ACTION)\b"
)
COLUMNS = re.compile(r'["a-z_, ]+_[a-z_, ]+')
EXPORTED = re.compile(r"^import ")  # that loads an exported model
BUGS = {
    "ValueError",
    "TypeError",
    "KeyError",
    "RuntimeError",
    "AssertionError",
    "NotImplementedError",
    "FileNotFoundError",
    "LookupError",
}
SHOWN = ("importers/", "text/dataset.py")  # where a ValueError's words become a part of the message
AS_THEY_ARE = {
    *("NAME", "LAYER"),  # places on the command line
    *("bf16", "fp32"),
    *("pyarrow", "python-calamine"),  # packages
}
DOORS = {"_", "N_", "ngettext"}
OTHERS = {"debug", "info", "warning", "exception", "getLogger", "compile"}  # the log; patterns
SKIPPED = DOORS | OTHERS


@cache
def files() -> dict[str, Path]:
    """The modules of the program: path relative to workbench/ → path."""
    return {path.relative_to(CODE).as_posix(): path for path in source.files()}


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )


@cache
def visible(file: str) -> list[tuple[ast.Constant, bool]]:
    """The literals of a file that a user may see, and whether each is part of an f-string."""
    found: list[tuple[ast.Constant, bool]] = []

    def visit(node: ast.AST, piece: bool = False) -> None:
        if isinstance(node, ast.Name):  # the most frequent kind
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node, ast.Call) and (
            called(node) in SKIPPED
            or called(node) == "split"
            and isinstance(node.func.value, ast.Constant)
        ):
            return
        if isinstance(node, ast.Raise) and called(node.exc) in BUGS and not file.startswith(SHOWN):
            return
        if isinstance(node, ast.arg) or isinstance(node, ast.AnnAssign) and node.value is None:
            return
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append((node, piece))
        piece = isinstance(node, ast.JoinedStr)
        for child in source.children(node):
            visit(child, piece)

    visit(source.trees()[files()[file]])
    return found


def is_sentence(file: str, text: str, piece: bool) -> bool:
    text = text.replace("Glossbench", "")
    if (
        file.startswith("storage/")
        and (SQL.search(text) or COLUMNS.fullmatch(text))
        or EXPORTED.search(text)
    ):
        return False
    key = piece and re.fullmatch(r"[a-z]+ ", text)  # f"run {id}" names something within the program
    return not key and (
        bool(SENTENCE.search(text)) or piece and " " in text and bool(PIECE.search(text))
    )


def test_no_sentence_stands_outside_the_door():
    wrong = [
        f"{file}:{node.lineno}: {node.value[:80]!r}"
        for file in files()
        if file not in WHOLE
        for node, piece in visible(file)
        if is_sentence(file, node.value, piece) and node.value not in SINGLE.get(file, {})
    ]

    assert wrong == []


def test_what_is_let_through_is_still_there():
    literals = {file: {node.value for node, _piece in visible(file)} for file in files()}

    assert set(WHOLE) <= set(literals)
    assert [
        (file, text)
        for file, texts in SINGLE.items()
        for text in texts
        if text not in literals.get(file, ())
    ] == []


@cache
def doors() -> list[tuple[str, ast.Call]]:
    return [
        (file, node)
        for file, path in files().items()
        for node in source.nodes(path, ast.Call)
        if called(node) in DOORS
    ]


def test_only_whole_texts_go_in():
    """No f-string and nothing put together: a literal, or the name of one that a table holds."""
    plain = ast.Constant, ast.Name, ast.Attribute, ast.Subscript
    wrong = [
        f"{file}:{node.lineno}: {ast.unparse(node)}"
        for file, node in doors()
        if not isinstance(node.args[0], plain)
    ]

    assert wrong == []


def test_no_text_is_a_piece_of_a_sentence():
    """One that begins with a comma or ends with a space is made to be stuck to others."""
    texts = [
        (file, node.lineno, node.args[0].value)
        for file, node in doors()
        if isinstance(node.args[0], ast.Constant)
    ]

    assert [text for text in texts if text[2] != text[2].strip() or text[2][0] in ",;:."] == []


def filled_in(node: ast.AST) -> list[str]:
    """The literals that may be the value of an expression."""
    if isinstance(node, ast.IfExp):
        return filled_in(node.body) + filled_in(node.orelse)
    if isinstance(node, ast.BoolOp):
        return [name for part in node.values for name in filled_in(part)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def test_no_word_is_put_into_a_text_untranslated():
    """`_("… {what} …").format(what="with")` would bring English into any language."""
    wrong = []
    for file, path in files().items():
        for node in source.nodes(path, ast.Call):
            if (
                called(node) == "format"
                and isinstance(node.func, ast.Attribute)
                and not file.startswith("storage/")
            ):
                words = [
                    name
                    for argument in (*node.args, *(key.value for key in node.keywords))
                    for name in filled_in(argument)
                ]
                wrong += [
                    f"{file}:{node.lineno}: {word!r}"
                    for word in words
                    if re.search("[A-Za-z]{2}", word) and word not in AS_THEY_ARE
                ]

    assert wrong == []


def test_every_place_has_a_name():
    """`{}` and `{0}` could not change their order in another language."""
    faults = []
    for file, node in doors():
        if isinstance(node.args[0], ast.Constant) and "{%" not in node.args[0].value:
            for _before, place, _spec, _conversion in string.Formatter().parse(node.args[0].value):
                if place is not None and not re.match(r"[a-z]\w*", place):
                    faults.append(f"{file}:{node.lineno}: {node.args[0].value!r}")

    assert faults == []


# ---------------------------------------------------------------- the door itself


class German(gettext.NullTranslations):
    def ngettext(self, singular, plural, n):
        return "{n} Dokument" if n == 1 else "{n} Dokumente"


class Backwards(gettext.NullTranslations):
    def gettext(self, message):
        return message[::-1]


@pytest.fixture
def backwards():
    i18n.install(Backwards())
    yield
    i18n.install(None)


def test_what_passes_is_in_the_language_installed(backwards):
    assert _("saved") == "devas"
    assert N_("saved") == "saved"
    assert _("") == ""


def test_plural_forms_follow_the_count_and_the_language(monkeypatch):
    monkeypatch.setattr(i18n, "_installed", None)
    forms = ("{n} document", "{n} documents")
    assert [i18n.ngettext(*forms, n).format(n=n) for n in (0, 1, 2)] == [
        "0 documents",
        "1 document",
        "2 documents",
    ]

    i18n.install(German())

    assert [i18n.ngettext(*forms, n).format(n=n) for n in (0, 1)] == ["0 Dokumente", "1 Dokument"]


def test_without_a_language_texts_are_english():
    assert _("saved") == "saved"


def test_stored_words_are_translated_and_words_of_the_project_are_not(backwards):
    assert terms.term("submitted") == "dettimbus"
    assert terms.term("out_of_memory") == "yromem fo tuo"
    assert terms.term("my own") == "my own"


def catalogue(folder: Path, texts: dict[str, str]) -> None:
    """A compiled catalogue, as from msgfmt (GNU gettext manual, "The Format of GNU MO Files")."""
    texts = {"": "Content-Type: text/plain; charset=UTF-8\n", **texts}
    keys = sorted(texts)
    stored = [key.encode() for key in keys] + [texts[key].encode() for key in keys]
    begin, places = 28 + 16 * len(keys), []
    for text in stored:
        places.append((len(text), begin))
        begin += len(text) + 1
    head = struct.pack("<7I", 0x950412DE, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0)
    table = b"".join(struct.pack("<2I", *place) for place in places)
    folder = folder / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "glossbench.mo").write_bytes(head + table + b"\0".join(stored) + b"\0")


@pytest.fixture
def german(tmp_path, monkeypatch):
    catalogue(
        tmp_path,
        {"Interrupted.": "Unterbrochen.", "Import data files into a project.": "Daten einlesen."},
    )
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    yield tmp_path
    i18n.install(None)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", "Unterbrochen."),
        ("fr:de", "Unterbrochen."),
        ("fr", "Interrupted."),
        ("", "Interrupted."),
    ],
)
def test_the_language_is_that_of_the_environment(german, monkeypatch, language, said):
    monkeypatch.setenv("LANGUAGE", language)

    i18n.choose(german)

    assert _("Interrupted.") == said
    assert _("Tags") == "Tags"  # not in the catalogue


@pytest.mark.process
def test_the_language_stands_before_the_tables_are_imported(german):
    """The list of commands calls `_()` while its module is imported."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom workbench.base import paths\n"
        "import workbench.__main__ as door\n"
        f"paths.resource = lambda name: Path({str(german)!r})\nsys.exit(door.main(['--help']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        cwd=ROOT,
        env={**os.environ, "LANGUAGE": "de", "PYTHONUTF8": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert "Daten einlesen." in done.stdout
    assert "Export documents and labels to a file." in done.stdout
