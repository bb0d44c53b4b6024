"""The program of a plain export: alone, in a Python with three packages, for every task."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from workbench.base.errors import ExportFailed  # noqa: E402
from workbench.base.registry import builtins  # noqa: E402
from workbench.exporters.model import bundle  # noqa: E402
from workbench.exporters.model.plain import exporter as plain  # noqa: E402
from workbench.exporters.model.plain.info import INFO  # noqa: E402
from workbench.exporters.model.spec import loading_code  # noqa: E402
from workbench.text.document import CHOICES, QUESTIONS, from_json  # noqa: E402

PACKAGES = ("numpy", "onnxruntime", "tokenizers")
TASKS = tuple(id for id in builtins().ids("task") if builtins().info("task", id).has_graph)
TEXTS = (
    "The 42 tram was late at the harbour gate.",
    "",
    "a",
    "word " * 90 + "to paris",
    "¿Qué? 😀👍🏽 naïve",
    "שלום עולם, שלום",
    "Ada met Bob\nin Paris, 10.30.",
)


@pytest.fixture(scope="module")
def exported(task_graph, tmp_path_factory):
    """exported(task) → (the predictor of a tiny model of the task, its plain export)."""
    written = {}

    def export(task):
        if task not in written:
            predictor, graph = task_graph(task)
            written[task] = predictor, tmp_path_factory.mktemp(task) / "plain 🙂"
            plain.write(graph, written[task][1])
        return written[task]

    return export


def rows_of(task):
    info = builtins().info("task", task)
    if info.asks:
        return [{"text": text, "questions": ["late ?", "Wer? 🙂"]} for text in TEXTS], QUESTIONS
    if info.texts == CHOICES:
        rows = [{"text": text, "choices": ["late", text, "🙂"]} for text in TEXTS]
        rows[0]["question"] = "the tram was _ ?"
        return rows, CHOICES
    if info.texts == 2:
        return [{"text": text, "text_b": text[::-1]} for text in TEXTS], 2
    if info.connects:
        return [{"text": text, "spans": spans_in(text)} for text in TEXTS], 1
    return [{"text": text} for text in TEXTS], 1


def spans_in(text):
    """The first three letters or fewer, and the rest."""
    places = ((0, min(3, len(text))), (min(3, len(text)), len(text)))
    return [{"start": a, "end": b, "label": "delay"} for a, b in places if a < b]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder that holds nothing but the three packages."""
    folder = tmp_path_factory.mktemp("packages")
    for name in PACKAGES:
        package = Path(importlib.util.find_spec(name).origin).parent
        for path in (package, package.with_name(f"{name}.libs")):
            if path.is_dir():
                (folder / path.name).symlink_to(path)
    return folder


@pytest.fixture
def ask(packages):
    """ask(folder, lines) → the process of its program, in a Python with the three packages."""

    def run(folder, lines=b"", *options, path=packages):
        start = (
            f"import runpy, sys; sys.path.append({str(path)!r}); sys.argv[0] = 'predict.py'; "
            f"runpy.run_path({str(folder / 'predict.py')!r}, run_name='__main__')"
        )
        command = [sys.executable, "-I", "-S", "-c", start, *options]
        return subprocess.run(command, input=lines, capture_output=True, timeout=120)

    return run


def answers_of(done):
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def assert_alike(first, second):
    """Equal but for rounding."""
    if isinstance(first, float) and isinstance(second, float):
        assert first == pytest.approx(second, abs=1e-4)
    elif isinstance(first, dict) and isinstance(second, dict):
        assert first.keys() == second.keys()
        for key in first:
            assert_alike(first[key], second[key])
    elif isinstance(first, list) and isinstance(second, list):
        assert len(first) == len(second)
        for item, other in zip(first, second, strict=True):
            assert_alike(item, other)
    else:
        assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_the_program_of_every_task_gives_the_predictions_of_the_model(task, exported, ask):
    predictor, folder = exported(task)
    rows, form = rows_of(task)
    connects = predictor.task.info.connects
    documents = [from_json(row, form=form, connects=connects) for row in rows]

    done = ask(folder, b"".join(json.dumps(row).encode() + b"\n" for row in rows), "--batch=3")

    assert (done.returncode, done.stderr.decode()) == (0, "")
    expected = predictor.predict(documents)
    for answer, document, prediction in zip(answers_of(done), documents, expected, strict=True):
        own = json.loads(json.dumps({**dict(document.texts), **prediction.to_json()}))
        assert_alike(answer, own)


@pytest.mark.parametrize("task", [id for id in TASKS if builtins().info("task", id).connects])
def test_the_program_connects_the_spans_of_a_line(task, exported, ask):
    predictor, folder = exported(task)
    rows, _form = rows_of(task)

    done = ask(folder, json.dumps(rows[0]).encode() + b"\n" + b"The 42 tram\n{}\n")

    first, text, empty = answers_of(done)
    connected = [*first["relations"], *first["other_relations"]]
    assert connected and all(row["from"] in rows[0]["spans"] for row in connected)
    assert "no JSON object" in text["error"] and "'text' is missing" in empty["error"]
    documents = [from_json(row, connects=True) for row in rows]
    checked = bundle.BundledPredictor(folder, folder).predict(documents)
    for answer, expected in zip(checked, predictor.predict(documents), strict=True):
        assert_alike(*(json.loads(json.dumps(item.to_json())) for item in (answer, expected)))


def test_the_loading_code_asks_the_program(exported, tmp_path):
    _predictor, folder = exported("pairs")
    code = loading_code("plain", folder, "pairs").replace("…", "the tram")

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)

    assert "'text_b': 'the tram', 'label': '" in done.stdout.decode(), done.stderr.decode()


def test_a_wrong_line_is_answered_by_an_error_and_the_next_one_by_a_prediction(exported, ask):
    _predictor, folder = exported("pairs")
    lines = [
        b'{"text": "late", "text_b": "bus", "key": "k"}',
        b"late",
        b'{"text": "late"}',
        b"\xff",
    ]
    lines += [b'{"text": 3, "text_b": ""}', b"[" * 9, b'{"text": "\\ud800", "text_b": ""}']

    done = ask(folder, b"\r\n".join(lines))

    answers = answers_of(done)
    assert [answer.get("line") for answer in answers] == [None, 2, 3, 4, 5, 6, None]
    assert answers[0]["key"] == "k" and answers[0]["label"] and answers[6]["text"] == "\ud800"
    assert answers[2]["error"] == "'text_b' is missing or is not a text"
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[2] == "Line 4: it is not valid UTF-8"


def test_what_reads_the_answers_may_end_early(exported, packages):
    _predictor, folder = exported("pairs")
    line = json.dumps({"text": "the tram", "text_b": "late"})
    command = f"yes '{line}' | '{sys.executable}' predict.py --batch 1 | head -n 2"

    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, timeout=120)

    assert len(done.stdout.splitlines()) == 2 and done.stderr == b""


def test_help_and_wrong_options(exported, ask):
    _predictor, folder = exported("pairs")

    shown, refused = ask(folder, b"", "--help"), ask(folder, b"", "--batch", "0")

    assert shown.returncode == 0 and b"--threads" in shown.stdout
    assert refused.returncode == 2 and b"'0' is no positive number" in refused.stderr


def test_a_missing_package_and_a_damaged_folder_are_named(exported, ask, tmp_path):
    _predictor, folder = exported("pairs")

    for name in sorted(PACKAGES):  # one after the other is installed
        done = ask(folder, b"", path=tmp_path)
        missing = f"The package {name} is missing: pip install -r requirements.txt"
        assert done.returncode == 1 and done.stderr.decode().splitlines() == [missing]
        (tmp_path / f"{name}.py").write_text("")
    for name in PACKAGES:
        (tmp_path / f"{name}.py").unlink()

    (tmp_path / "predict.py").write_text((folder / "predict.py").read_text())
    (tmp_path / bundle.PACKAGE).symlink_to(folder / bundle.PACKAGE)
    done = ask(tmp_path, b"late")
    assert done.returncode == 1 and b"holds 0 .onnx files" in done.stderr
    assert done.stderr.count(b"Specify the onnx folder") == 1


def test_what_a_check_in_this_process_leaves_is_removed(exported):
    _predictor, folder = exported("pairs")
    document = from_json({"text": "the tram", "text_b": "late"}, form=2)

    checked = bundle.BundledPredictor(folder, folder).predict([document])
    bundle.forget(folder)

    assert checked[0].label and not list(folder.rglob("__pycache__"))
    assert not [name for name in sys.modules if name.startswith(bundle.PACKAGE)]


def test_a_run_with_a_plugin_is_not_offered_and_not_written(exported, tmp_path):
    _predictor, folder = exported("pairs")
    (tmp_path / "glossbench.json").write_text(json.dumps({"task": "mine.task"}))
    assert INFO.unfit(tmp_path).startswith("This run needs the plugin mine, whose code")

    described = json.loads((folder / "labels.json").read_text())
    (tmp_path / "labels.json").write_text(json.dumps({**described, "family": "mine.family"}))
    with pytest.raises(ExportFailed, match="plugin mine"):
        plain.write(tmp_path, tmp_path / "out")


def test_the_package_of_a_segmenter_is_among_the_requirements(exported, tmp_path):
    _predictor, folder = exported("pairs")
    described = json.loads((folder / "labels.json").read_text())
    (tmp_path / "labels.json").write_text(json.dumps({**described, "segmenter": "icu"}))

    assert bundle.requirements(tmp_path) == (*bundle.requirements(folder), "icu4py")


def test_the_package_has_a_name_of_its_own_and_no_heavy_module(exported):
    _predictor, folder = exported("pairs")
    sources = [path.read_text() for path in (folder / bundle.PACKAGE).rglob("*.py")]

    assert (folder / "LICENSE").read_text().strip().startswith("Apache License")
    assert not any("import workbench" in text or "from workbench" in text for text in sources)
    assert not any(
        line.startswith(("import ", "from "))
        and line.split()[1].partition(".")[0] in ("torch", "regex", "platformdirs", "click")
        for text in sources
        for line in text.splitlines()
    )
    assert sum(map(len, sources)) < 1_000_000
