"""CPU seconds of a project of many documents, from the import to the deletion of all of them.

    .venv/bin/python tests/benchmarks/size.py [documents, default 20,000] [--project FILE]
        [--only PART …]

Every document has a class and three spans in 24 words of a vocabulary with Zipf's frequencies. The
parts: `import` (parsing and copying, in this process), `lists` (what the storage answers), `window`
(the offscreen application: opening to the painted document, labels, search, scrolling, memory),
`long` (keys in a text of 1 MB with 20,000 spans), `delete` (all documents, with a backup, and its
undo). `--project` keeps the file there and imports only if it does not exist; `delete` is then left
out unless named by `--only`. CPU seconds are those of all threads of this process.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from meter import parsed, percentile, print_machine  # noqa: E402

PARTS = ("import", "lists", "window", "long", "delete")
WORDS = 24
TYPED = "abracadabra"  # a prefix of each length is searched for
GOALS = {
    "import, documents per CPU-s": 15_000,
    "open to the painted document": 1.0,
    "next unlabelled, there is none": 0.05,
    "a key in the search, first rows": 0.05,
    "clear the search": 0.1,
    "page down": 0.016,
    "one label": 0.05,
    "delete all": 30.0,
    "window, MB": 400,
    "long text, a key (p99)": 0.016,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "documents", nargs="?", type=lambda s: int(s.replace(",", "")), default=20_000
    )
    parser.add_argument("--project", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=())
    asked = parsed(parser, documents=300, only=("lists", "window", "delete"))
    wanted = asked.only or (PARTS if asked.project is None else PARTS[:-1])
    print_machine()
    print(f"{asked.documents:,} documents with a class and three spans; goals for 1,000,000 in []")
    with tempfile.TemporaryDirectory(prefix="glossbench-size-") as folder:
        _own_home(Path(folder))
        path = asked.project or Path(folder) / "size.glossbench"
        if not path.exists():
            _in_child(lambda made: measure_import(made, Path(folder), asked.documents), path)
        for name in wanted:
            if name != "import":
                _in_child(PARTS_BY_NAME[name], path)
    return 0


def _own_home(folder: Path) -> None:
    os.environ.update(
        {
            "HOME": str(folder),
            **{f"XDG_{item}_HOME": f"{folder}/{item}" for item in ("CONFIG", "DATA", "CACHE")},
        }
    )


def _in_child(part: Callable[[Path], None], path: Path) -> None:
    """Run in a child process, whose memory and caches no other part has touched."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            part(path)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(1)


def report(name: str, value: float, note: str = "") -> None:
    goal = f"[{GOALS[name]:g}]" if name in GOALS else ""
    shown = f"{value:12,.0f}" if value >= 100 else f"{value:12.3f}"
    print(f"{name:40}{shown} {goal:9} {note}", flush=True)


def cpu(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


# ---------------------------------------------------------------- import


def texts(count: int) -> Iterator[str]:
    draw = random.Random(11)
    letters = "abcdefghijklmnoprstuvw"
    made = {"".join(draw.choices(letters, k=draw.randint(2, 11))) for _ in range(30_000)}
    words = [TYPED, *sorted(made)]
    draw.shuffle(words)
    heavy = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    for _ in range(count):
        yield " ".join(draw.choices(words, cum_weights=heavy, k=WORDS))


def write_jsonl(path: Path, count: int) -> None:
    import json

    draw = random.Random(12)
    labels = {"topic": ["news", "sport", "work"], "names": ["PER", "LOC", "ORG"]}
    layers = [
        {"name": name, "kind": kind, "labels": [{"name": label} for label in labels[name]]}
        for name, kind in (("topic", "class"), ("names", "span"))
    ]
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"glossbench": 1, "layers": layers}) + "\n")
        for number, text in enumerate(texts(count)):
            spans = []
            end = 0
            for _ in range(3):
                start = text.find(" ", end + draw.randrange(20)) + 1
                end = text.find(" ", start)
                if start and end > start:
                    spans.append([start, end, draw.choice(labels["names"])])
            raw = {
                "key": f"doc-{number}",
                "texts": {"text": text},
                "split": ("train", "train", "train", "dev")[number % 4],
                "states": {"topic": "submitted", "names": "submitted"},
                "marks": {"topic": [draw.choice(labels["topic"])]},
                "spans": {"names": spans},
            }
            file.write(json.dumps(raw) + "\n")


def measure_import(path: Path, folder: Path, count: int) -> None:
    from tests.inline import InlineQueue
    from workbench.operations.transfer import data_import
    from workbench.project.project import Project

    source = folder / "many.jsonl"
    queue = InlineQueue()

    def act(project: Project) -> None:
        data_import.import_files(project, queue, [source])

    write_jsonl(source, 10)
    small = Project.create(folder / "small.glossbench")
    act(small)  # imports the modules
    small.close()
    write_jsonl(source, count)
    gc.collect()
    project = Project.create(path)
    seconds = cpu(lambda: act(project))
    queue.close()
    project.close()
    source.unlink()
    report("import", seconds, f"file {path.stat().st_size / 1e6:,.0f} MB")
    report("import, documents per CPU-s", count / seconds)


# ---------------------------------------------------------------- lists


def measure_lists(path: Path) -> None:
    from workbench.operations.annotation import annotate
    from workbench.operations.documents import corpus
    from workbench.operations.schema import labels as schema
    from workbench.project.project import Project
    from workbench.storage.queries.listing import Filter

    project = None

    def open_it() -> None:
        nonlocal project
        project = Project.open(path)

    report("open the file", cpu(open_it))
    layers = [layer.id for layer in schema.layers(project)]
    for name, act in {
        "counts": lambda: corpus.counts(project),
        "all ids": lambda: corpus.filter_ids(project, Filter()),
        "open count": lambda: annotate.open_count(project, layers),
        "queue, to do": lambda: annotate.queue(
            project, Filter(queued="to_do", queue_layers=layers)
        ),
        "queue, submitted": lambda: annotate.queue(
            project, Filter(queued="submitted", queue_layers=layers)
        ),
        "next unlabelled, there is none": lambda: annotate.next_unlabelled(project, 5, layers),
        "counts by label": lambda: corpus.labels(project),
        "search a letter, all ids": lambda: corpus.filter_ids(project, Filter(text="a")),
        "search a word, all ids": lambda: corpus.filter_ids(project, Filter(text=TYPED + " ")),
    }.items():
        act()
        report(name, cpu(act))
    project.close()


# ---------------------------------------------------------------- window


def _wait_until(done: Callable[[], bool], seconds: float = 300) -> None:
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        time.sleep(0.001)
    assert done()


def _idle() -> None:
    """Until no work is left: no task in a thread, no event, no timer of some milliseconds."""
    from workbench.jobs import threads

    quiet = time.monotonic() + 0.4

    def still() -> bool:
        nonlocal quiet
        if not threads.idle():
            quiet = time.monotonic() + 0.4
        return time.monotonic() > quiet

    _wait_until(still)


def measure_window(path: Path) -> None:
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from workbench.base.settings import Settings
    from workbench.ui.app import App, make_qt

    app = App(make_qt(), Settings(theme="light", warm_worker=False))
    app.window.resize(1280, 800)
    app.window.show()
    app.go("welcome")
    # the modules of pages are imported before, so that the times are those of the project
    _wait_until(lambda: app._ahead is not None and app._ahead.done)
    _idle()
    before = time.process_time()
    app.open_project(path, page="annotate")
    view = app.window.stack.currentWidget()
    _wait_until(lambda: view.state.session.doc is not None)
    view.first.viewport().repaint()
    report("open to the painted document", time.process_time() - before)
    _idle()
    report("  and until nothing runs", time.process_time() - before)
    _measure_annotate(view)
    app.go("data")
    view = app.window.stack.currentWidget()
    before = time.process_time()
    _wait_until(lambda: not view.state.selection.searching)
    _idle()
    report("first visit of Data", time.process_time() - before)
    table = view.table
    frames = []
    for _ in range(150):
        start = time.thread_time()
        QTest.keyClick(table, Qt.Key.Key_PageDown)
        table.viewport().repaint()
        frames.append(time.thread_time() - start)
        QApplication.processEvents()
    report("page down", sorted(frames)[75], f"p99 {percentile(frames, 0.99):.4f}")
    _measure_search(view)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    report("window, MB", _resident(), f"peak {peak:,.0f}")
    app.closed()


def _measure_annotate(view) -> None:
    state = view.state
    report("next unlabelled, there is none", cpu(state.queue.next_unlabelled))
    _idle()
    state.session.open(state.queue.ids[len(state.queue.ids) // 2])
    _idle()
    label = next(iter(state.session.label_of))
    blocked, whole = [], []
    for _ in range(10):
        start, thread = time.process_time(), time.thread_time()
        state.session.label(label)
        view.first.viewport().repaint()
        blocked.append(time.thread_time() - thread)
        _idle()
        whole.append(time.process_time() - start)
        labels = list(state.session.label_of)
        label = labels[(labels.index(label) + 1) % 3]
    report("one label", sorted(blocked)[5], f"until nothing runs {sorted(whole)[5]:.3f}")


def _measure_search(view) -> None:
    selection = view.state.selection
    first, whole = [], []
    for end in range(1, len(TYPED) + 1):
        start = time.process_time()
        selection.filters.set_filter(text=TYPED[:end])
        _wait_until(lambda end=end: selection.found_by == TYPED[:end])
        view.table.viewport().repaint()
        first.append(time.process_time() - start)
        _idle()
        whole.append(time.process_time() - start)
    keys = " ".join(f"{value:.3f}" for value in first)
    report("a key in the search, first rows", max(first), f"all: {keys}")
    report("  and until nothing runs", max(whole), f"sum {sum(whole):.3f}")
    start = time.process_time()
    selection.filters.set_filter(text="")
    _wait_until(lambda: selection.found_by == "" and not selection.searching)
    view.table.viewport().repaint()
    report("clear the search", time.process_time() - start)
    _idle()


def _resident() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


# ---------------------------------------------------------------- a long text


def measure_long(_path: Path) -> None:
    import annotate_view as bench
    from PySide6.QtWidgets import QApplication

    from workbench.base.settings import Settings
    from workbench.ui.style import style_sheet, theme

    app = QApplication.instance() or QApplication([])
    app.setStyle("Fusion")
    theme.load_fonts()
    style_sheet.apply(app, Settings(theme="light"))
    with tempfile.TemporaryDirectory() as folder:
        worst = bench.measure_big_page(Path(folder))
    size = f"{bench.BIG_LENGTH:,} characters, {bench.BIG_SPANS:,} spans"
    report("long text, a key (p99)", worst / 1000, size)


# ---------------------------------------------------------------- deletion


def measure_delete(path: Path) -> None:
    from workbench.operations.documents import corpus
    from workbench.project.project import Project
    from workbench.storage.queries.listing import Filter

    project = Project.open(path)
    ids = corpus.filter_ids(project, Filter())
    report("delete all", cpu(lambda: corpus.delete_documents(project, ids)))
    report("undo it", cpu(project.undo))
    project.close()


PARTS_BY_NAME = {
    "lists": measure_lists,
    "window": measure_window,
    "long": measure_long,
    "delete": measure_delete,
}

if __name__ == "__main__":
    sys.exit(main())
