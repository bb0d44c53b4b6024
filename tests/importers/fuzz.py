"""A seeded mutation fuzzer for the importers: damaged sample files must never cause a Python error.

`python -m tests.importers.fuzz --cases 20000 --seed 1` runs many cases; `test_fuzz.py` runs some.
A case is determined by its number and by the sample files alone, so a failure can be repeated.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workbench.base import scratch
from workbench.base.errors import ImportFailed, WorkbenchError
from workbench.importers import encoding
from workbench.importers.base import Options, Row, Skipped
from workbench.importers.detect import detect, formats, importer
from workbench.importers.source import Source
from workbench.operations.transfer import data_import, import_preview, staging_job
from workbench.project.project import Project
from workbench.storage.integrity import integrity

DATA = Path(__file__).resolve().parents[1] / "data"
_JSON = (
    '{"id": "a", "text": "Ada met Bob", "label": [[0, 3, "PER"], [8, 11, "PER"]], "note": 1}',
    '{"text": "in Rome", "entities": [{"start_offset": 3, "end_offset": 7, "label": "LOC"}]}',
    '{"text": "good film", "cats": {"POS": 1.0, "NEG": 0.0}, "split": "train"}',
    '{"premise": "a", "hypothesis": "b", "label": "same", "meta": {"x": [1]}}',
)
_PRODIGY = (
    '{"text": "Ada met", "_task_hash": 1, "answer": "accept", "tokens": [{"text": "Ada", "start": '
    '0, "end": 3, "id": 0}], "spans": [{"start": 0, "end": 3, "label": "PER"}]}',
    '{"text": "b", "options": [{"id": "X"}], "accept": ["X"], "answer": "accept"}',
    '{"text": "c", "label": "X", "answer": "reject", "meta": {"score": 0.5}}',
)
_STUDIO = (
    '{"id": 1, "data": {"text": "Ada met 😀 Bob", "n": 1}, "annotations": [{"id": 2, "was_cancelled"'
    ': false, "result": [{"type": "labels", "from_name": "ner", "value": {"start": 0, "end": 3, '
    '"text": "Ada", "labels": ["PER"]}}, {"type": "choices", "from_name": "topic", "value": '
    '{"choices": ["A"]}}]}], "predictions": [{"result": []}]}',
    '{"id": 2, "text": "Ada", "label": [{"start": 0, "end": 3, "labels": ["PER"], "text": "Ada"}],'
    ' "annotation_id": 3, "annotator": 1, "lead_time": 1.5, "topic": {"choices": ["A"]}}',
)
_BRAT = (
    "T1\tPER 0 3\tAda\nT2\tPER 8 11;15 19\tBob Rome\nR1\tknows Arg1:T1 Arg2:T2\n"
    "E1\tMeet:T1 Who:T2\n#1\tNote T1\tsure\n*\tEquiv T1 T2\n"
)
_WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.Name|value\n#T_CH=x.Coref|referenceType|referenceRelation\n"
    "#T_RL=x.Link|role|BT_x.Name\n\n\n#Text=Ada met 😀 her\n1-1\t0-3\tAda\tPER[1]|Q\t*[1]\t*->1-1\t_\t_\t\n"
    "1-2\t4-7\tmet\tACT\t_\t_\tagent\t1-1[1_0]\t\n1-2.1\t4-5\tm\tPER[1]\t_\t_\t_\t_\t\n"
    "1-3\t8-10\t😀\t_\t_\t_\t_\t_\t\n1-4\t11-14\ther\tx\\|y\tpro[1]\t*->1-2\t_\t_\t\n"
)
_XMI = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:c="http:///x.ecore" xmi:version="2.0">\n'
    '<c:Token xmi:id="2" sofa="1" begin="0" end="3"/>\n'
    '<c:Name xmi:id="3" sofa="1" begin="0" end="3" value="PER"/>\n'
    '<c:Name xmi:id="4" sofa="1" begin="8" end="10" value="LOC"/>\n'
    '<c:Rel xmi:id="5" sofa="1" begin="8" end="10" Governor="3" Dependent="4" role="near"/>\n'
    '<c:Link xmi:id="6" sofa="1" begin="0" end="3"/>\n<c:Chain xmi:id="7" first="6"/>\n'
    '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" sofaString="Ada met 😀 her"/>\n</xmi:XMI>'
)
_OWN = (
    '{"glossbench": 1, "layers": [{"name": "ner", "kind": "span", "labels": [{"name": "PER", '
    '"key": "1"}]}, {"name": "topic", "kind": "class", "labels": [{"name": "A"}]}]}',
    '{"key": "k1", "texts": {"text": "Ada met Bob"}, "tokens": {"text": [[0, 3], [4, 7]]}, '
    '"split": "dev", "states": {"ner": "submitted"}, "spans": {"ner": [[0, 3, "PER"]]}}',
    '{"key": "k2", "texts": {"text": "x"}, "states": {"topic": "draft"}, '
    '"marks": {"topic": ["A"]}, "meta": {"a": 1}}',
)
_TABLE = (
    'id,text,label,split\nk1,"one, two",A,train\nk2,"three\nfour",B,\nk3,"say ""hi""",A,dev\n',
    'text\tlabel\tspans\nAda met\tA\t[[0, 3, "PER"]]\n"Stop" he said\tB\t\n',
    "words;tags\nAda met Bob;B-PER O B-PER\nin Rome;O B-LOC\n",
)
_COLUMNS = (
    "# doc = novel\nAda\tB-PER\tO\nmet\tO\tO\nBob\tB-PER\tB-X\n\n北\tB-LOC\tO\n京\tI-LOC\tO\n",
    "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nPeter NNP I-NP I-PER\n",
    "# sent_id = s1\n# text = du pain\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tde\tde\tADP\t_\t_\t3\tcase\t_\t_\n2\tle\tle\tDET\t_\t_\t3\tdet\t_\t_\n"
    "3\tpain\tpain\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No\n\n",
)
_MARKUP = (
    '<sentences>\n<sentence id="1">\n<text>Bad soup</text>\n<aspectTerms>\n<aspectTerm term="soup" '
    'polarity="negative" from="4" to="8"/>\n</aspectTerms>\n<aspectCategories><aspectCategory '
    'category="food" polarity="negative"/></aspectCategories>\n</sentence>\n</sentences>\n',
    '<Reviews>\n<Review rid="1">\n<sentences>\n<sentence id="1:0">\n<text>Kind staff</text>\n'
    '<Opinions>\n<Opinion target="staff" category="SERVICE#GENERAL" polarity="positive" from="5" '
    'to="10"/>\n</Opinions>\n</sentence>\n</sentences>\n</Review>\n</Reviews>\n',
    '<?xml version="1.0"?>\n<collection><source>x</source><key>k</key>\n<document><id>1</id>\n'
    '<passage><offset>0</offset><text>Ada met 😀 Bob</text>\n<annotation id="1"><infon key="type">PER'
    '</infon>\n<location offset="0" length="3"/><text>Ada</text></annotation>\n<annotation id="2">'
    '<infon key="type">PER</infon><location offset="10" length="3"/><text>Bob</text></annotation>\n'
    '<relation id="R"><infon key="type">met</infon><node refid="1"/><node refid="2"/></relation>\n'
    "</passage>\n</document>\n</collection>\n",
    '<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<text><body>\n<p>In <placeName>Rome</placeName> '
    '<rs type="ship">it</rs> <w pos="N">x</w></p>\n<p><choice><orig>a</orig></choice></p>\n'
    "</body></text>\n</TEI>\n",
)
_PUBTATOR = (
    "1|t|Ada met\n1|a|Bob in Rome\n1\t0\t3\tAda\tPER\tA\n1\t8\t11\tBob\tPER\tB|C\n1\tmet\tA\tB\n\n"
    "2|t|x\n2|a|\n"
)
_BIOC = (
    '{"source": "x", "documents": [{"id": "1", "infons": {}, "passages": [{"offset": 0, "text": '
    '"The abl gene", "infons": {"type": "title"}, "annotations": [{"id": "1", "infons": {"type": '
    '"Gene", "identifier": "9"}, "text": "abl", "locations": [{"offset": 4, "length": 3}]}]}], '
    '"relations": [{"id": "R", "infons": {"type": "x", "entity1": "9", "entity2": "9"}, "nodes": '
    "[]}]}]}"
)
OWN_SAMPLES: tuple[tuple[str, bytes], ...] = tuple(
    (name, content.encode())
    for name, content in (
        ("lines.jsonl", "\n".join(_JSON) + "\n"),
        ("list.json", "[" + ",\n ".join(_JSON) + "]"),
        ("spread.json", "\n".join(json.dumps(json.loads(line), indent=2) for line in _JSON)),
        ("tasks.jsonl", "\n".join(_PRODIGY) + "\n"),
        ("studio.json", "[" + ",\n".join(_STUDIO) + "]"),
        ("spans.ann", _BRAT),
        ("layers.tsv", _WEBANNO),
        ("cas.xmi", _XMI),
        ("own.jsonl", "\n".join(_OWN) + "\n"),
        ("comma.csv", _TABLE[0]),
        ("tabs.tsv", _TABLE[1]),
        ("semicolon.csv", _TABLE[2]),
        ("two.conll", _COLUMNS[0]),
        ("four.conll", _COLUMNS[1]),
        ("words.conllu", _COLUMNS[2]),
        ("aspects.xml", _MARKUP[0]),
        ("opinions.xml", _MARKUP[1]),
        ("bioc.xml", _MARKUP[2]),
        ("tei.xml", _MARKUP[3]),
        ("bioc.json", _BIOC),
        ("abstracts.pubtator", _PUBTATOR),
        ("plain.txt", "One line.\n\nAnother line, größer.\n\u2028third\n"),
    )
)
BINARY = (
    "messages.xls", "messages.ods", "huggingface/reviews/train/data-00000-of-00001.arrow",
    "spacy/all.spacy",
)  # fmt: skip
OWN_SAMPLES += tuple((Path(name).name, (DATA / name).read_bytes()) for name in BINARY)
_PER_FOLDER = 40  # real files used of each folder
_LARGEST = 6_000  # bytes of a real file that are used

_VALUES = (
    "1.5", "-1", "0", "1e999", "NaN", "-Infinity", "null", "true", "[]", "{}", '""', '"\\ud800"',
    "1" * 30, "1" * 5000, "[[[]]]", '{"a": {}}', '"x"', "[1.5]", '"\\u0000"', "[null]",
    '[[0, "1", "A"]]', '{"start": 1e9}', '" "',
)  # fmt: skip
_PIECES = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\xfe\xff", b"\xe9", b"\xe2\x80\xa8", b"\r", b"\r\n", b"\n",
    b"\n\n", b"\t", b"\t\t", b",", b";", b"|", b'"', b'""', b'","', b"'", b"{", b"}", b"[", b"]",
    b"\\", b"\\u", b"#", b"# ", b"# text = ", b"# newdoc id = x\n", b"-DOCSTART-", b"B-", b"I-X",
    b"O", b"_", b"1-9", b"8.1", b"99999999999", b"-1", b"SpaceAfter=No", b"=1+1", b"\x0c", b"\x1a",
    b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b" " * 50, b"a" * 9000, b"a,b," * 400, b"<x>", b"\\x85",
)  # fmt: skip
_ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1251", "utf-8-sig", "shift_jis")
_ENDINGS = (".jsonl", ".json", ".csv", ".tsv", ".conll", ".conllu", ".txt", ".md", ".xml", "")
_ROLES = (
    "text", "text_b", "id", "split", "group", "label:a", "label:b", "tag:a", "tag:b", "spans:a",
    "spans:b", "meta:x", "meta:meta",
)  # fmt: skip
_PYTHON = re.compile(r"\b\w+(?:Error|Exception)\(|object at 0x|Traceback|NoneType")


@dataclass(frozen=True)
class Case:
    number: int
    name: str
    content: bytes
    format: str
    options: Options


class Failure(AssertionError):
    """What went wrong in which case."""


def real_samples(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Small files, and the beginnings of larger ones, in a fixed order."""
    for part in sorted(folder.iterdir()):
        files = sorted(path for path in part.rglob("*") if path.is_file())
        step = max(1, len(files) // _PER_FOLDER)
        for path in files[::step]:
            with open(path, "rb") as file:
                yield path.name, file.read(_LARGEST)


# ---------------------------------------------------------------- mutations


def make_case(number: int, samples: tuple[tuple[str, bytes], ...], *, seed: int = 0) -> Case:
    rng = random.Random(seed * 1_000_003 + number)
    name, content = rng.choice(samples)
    for _turn in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 6))):
        content = rng.choice(_MUTATIONS)(rng, content, samples)[: 1 << 18]
    if rng.random() < 0.15:
        name = name.partition(".")[0] + rng.choice(_ENDINGS)
    format = rng.choice(formats()) if rng.random() < 0.4 else ""
    return Case(number, f"f{number}-{name}", content, format, _options(rng, content))


def _options(rng: random.Random, content: bytes) -> Options:
    if rng.random() < 0.75:
        return Options()
    first = content.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    names = [cell.strip('"') for cell in re.split(r"[,;\t|]", first)]
    names += re.findall(r'"(\w+)":', first) + ["1", "2", "3", "-1", "form", "upos", "text", "none"]
    chosen = rng.sample(_ROLES, rng.randint(1, 4))
    mapping = tuple((role, rng.choice(names)) for role in chosen)
    return Options(
        delimiter=rng.choice(("", "", ",", "\t", "tab", ";")),
        mapping=mapping if rng.random() < 0.8 else (),
        header=rng.choice((None, None, True, False)),
        span_layer=rng.choice(("spans", "a")),
    )


def _cut(rng: random.Random, content: bytes, _samples) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _delete(rng: random.Random, content: bytes, _samples) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.choice((1, 1, 2, 10, 200)) :]


def _insert(rng: random.Random, content: bytes, _samples) -> bytes:
    start = rng.randrange(len(content) + 1)
    return content[:start] + rng.choice(_PIECES) + content[start:]


def _prefix(rng: random.Random, content: bytes, _samples) -> bytes:
    return rng.choice(_PIECES) + content


def _flip(rng: random.Random, content: bytes, _samples) -> bytes:
    changed = bytearray(content)
    for _turn in range(rng.choice((1, 3, 20)) if changed else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _repeat(rng: random.Random, content: bytes, _samples) -> bytes:
    start = rng.randrange(len(content) + 1)
    part = content[start : start + rng.choice((5, 50, 500))]
    return content[:start] + part * rng.choice((2, 3, 60)) + content[start:]


def _splice(rng: random.Random, content: bytes, samples) -> bytes:
    other = rng.choice(samples)[1]
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]


def _lines(rng: random.Random, content: bytes, _samples) -> bytes:
    lines = content.split(b"\n")
    here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        del lines[here]
    elif how == 1:
        lines.insert(there, lines[here])
    elif how == 2:
        lines[here], lines[there] = lines[there], lines[here]
    elif how == 3:
        lines.insert(here, b"")
    else:
        lines = [line.split(b"\t", 1)[0] for line in lines]
    return b"\n".join(lines)


def _recode(rng: random.Random, content: bytes, _samples) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(rng.choice(_ENCODINGS), "replace")


def _line_ends(rng: random.Random, content: bytes, _samples) -> bytes:
    return content.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b"\x85", b"")))


def _value(rng: random.Random, content: bytes, _samples) -> bytes:
    """Another value in the place of a number, a string or a cell."""
    result = list(re.finditer(rb'"[^"\\]*"|-?\d+(?:\.\d+)?|(?<=[\t,])[^\t,\n]*', content))
    if not result:
        return content
    place = rng.choice(result)
    return content[: place.start()] + rng.choice(_VALUES).encode() + content[place.end() :]


def _node(rng: random.Random, content: bytes, _samples) -> bytes:
    """Another value in the place of a node of one line's JSON."""
    lines = content.split(b"\n")
    n = rng.randrange(len(lines))
    try:
        tree = json.loads(lines[n])
    except (ValueError, RecursionError):
        return content
    places: list[tuple] = []
    _places(tree, places)
    if not places:
        return content
    owner, key = rng.choice(places)
    value = rng.choice(_VALUES)
    if rng.random() < 0.2:
        del owner[key]
    else:
        owner[key] = "@@"
    lines[n] = json.dumps(tree).replace('"@@"', value, 1).encode()
    return b"\n".join(lines)


def _places(tree: object, places: list[tuple]) -> None:
    items = list(
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    for key, value in items:
        places.append((tree, key))
        _places(value, places)


_MUTATIONS = (
    _cut, _delete, _insert, _insert, _prefix, _flip, _repeat, _splice, _lines, _lines, _recode,
    _line_ends, _value, _value, _value, _node, _node, _node,
)  # fmt: skip


# ---------------------------------------------------------------- checks


def check(case: Case, project: Project, folder: Path) -> str:
    """Detect, preview, read and import one file: how it ended ("refused" or "read").

    Raises Failure where anything but a WorkbenchError comes out, or where a message lacks what a
    user needs: the name of the file, or the line of a skipped record.
    """
    path = folder / case.name
    path.write_bytes(case.content)
    text = path.with_suffix(".txt")
    if path.suffix == ".ann":
        text.write_text("Ada met Bob in Rome. " * 40, encoding="utf-8")
    try:
        try:
            items = _read(case, path)
        except WorkbenchError as error:
            _check_message(case, str(error))
            items = None
        _preview(case, path)
        documents = _import(case, path, project)
    except Failure:
        raise
    except Exception as error:
        raise Failure(f"case {case.number}, {case.name}: {error!r}") from error
    finally:
        path.unlink()
        text.unlink(missing_ok=True)
    if items is None:
        return "refused"
    rows = sum(isinstance(item, Row) for item in items)
    if documents is None or documents > rows:
        raise Failure(f"case {case.number}: {rows} records were read, {documents} imported")
    return "read"


def _read(case: Case, path: Path) -> list:
    source = Source(path)
    format = case.format
    if not format:
        detected = detect(source)
        if detected.question:
            raise ImportFailed(detected.question)
        format = detected.format
    items = list(importer(format).read(source, case.options))
    if source.is_binary:  # records are counted, not lines
        return items
    lines = case.content.count(b"\n") + case.content.count(b"\r") + 1
    for item in items:
        if isinstance(item, Skipped) and (
            not 1 <= item.line <= lines or not item.reason or _PYTHON.search(item.reason)
        ):
            raise Failure(f"case {case.number}: {item} of {lines} lines")
    return items


def _preview(case: Case, path: Path) -> None:
    mapping, delimiter = case.options.mapping, case.options.delimiter
    try:
        import_preview.preview(path, format=case.format, mapping=mapping, delimiter=delimiter)
    except WorkbenchError as error:
        _check_message(case, str(error))


def _import(case: Case, path: Path, project: Project) -> int | None:
    """The number of new documents, None where the file was refused."""
    options = data_import.asdict(case.options)
    duplicates = data_import.DUPLICATES[case.number % len(data_import.DUPLICATES)]
    params = {"files": [str(path)], "format": case.format, "options": options}
    target = scratch.make("import")
    try:
        for _event in staging_job.run({**params, "duplicates": duplicates}, target):
            pass
        return data_import.copy_documents(
            project, target / data_import.STAGING, [path], duplicates=duplicates
        ).documents
    except WorkbenchError as error:
        _check_message(case, str(error))
        return None


def _check_message(case: Case, message: str) -> None:
    if case.name not in message or _PYTHON.search(message):
        raise Failure(f"case {case.number}: {message}")


@contextmanager
def _small_buffers(number: int) -> Iterator[None]:
    """Read in chunks of a few bytes in half of the cases, to test chunk boundaries."""
    kept = encoding.CHUNK, import_preview.SCANNED
    if number % 2:
        encoding.CHUNK, import_preview.SCANNED = 7 + number % 90, 50 + number % 400
    try:
        yield
    finally:
        encoding.CHUNK, import_preview.SCANNED = kept


def run(
    cases: range, samples: tuple[tuple[str, bytes], ...], folder: Path, *, seed: int = 0
) -> tuple[dict[str, int], list[str]]:
    """How many cases ended how, and a sentence on each failure."""
    ended: dict[str, int] = {}
    failures: list[str] = []
    project = Project.create(folder / "fuzz.glossbench")
    try:
        for number in cases:
            try:
                with _small_buffers(number):
                    how = check(make_case(number, samples, seed=seed), project, folder)
                ended[how] = ended.get(how, 0) + 1
            except Failure as failure:
                cause = failure.__cause__
                where = traceback.format_tb(cause.__traceback__)[-1] if cause else ""
                failures.append(f"{failure}\n{where}")
        failures += integrity.problems(project.db)
    finally:
        project.close()
    return ended, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="a folder of folders with real files")
    parser.add_argument("--batch", type=int, default=250, help="cases for each new project")
    chosen = parser.parse_args()
    samples = OWN_SAMPLES + (tuple(real_samples(chosen.data)) if chosen.data else ())
    failed = 0
    for first in range(chosen.first, chosen.first + chosen.cases, chosen.batch):
        last = min(first + chosen.batch, chosen.first + chosen.cases)
        with tempfile.TemporaryDirectory() as folder:
            ended, failures = run(range(first, last), samples, Path(folder), seed=chosen.seed)
        failed += len(failures)
        print(f"cases {first}–{last - 1}: {ended}, {len(failures)} failures", flush=True)
        for failure in failures:
            print(failure, flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
