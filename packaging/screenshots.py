"""Draw the pictures of the README: the real application on the sample project, light and dark.

    .venv/bin/python packaging/screenshots.py [FOLDER]          default: resources/help/screenshots

Trains two short runs with the starter (a few minutes on two cores). Does not use files of the user.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SIZE = (1440, 900)
PICTURES = (
    ("data", "light"),
    ("annotate", "light"),
    ("annotate", "dark"),
    ("train", "light"),
    ("results", "light"),
    ("results", "dark"),
)
PICTURES += (
    ("inspect", "light"),
    ("prompts", "light"),
    ("models", "light"),
    ("labels", "light"),
    ("export", "light"),
)


class Studio:
    """The application, driven from outside: its own loop waits and takes pictures."""

    def __init__(self, home: Path, out: Path):
        for name in ("CONFIG", "DATA", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
        os.environ["XDG_DOCUMENTS_DIR"] = str(home / "Documents")
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        from workbench.base import settings
        from workbench.ui.app import App, make_qt

        self.out = out
        self.qt = make_qt()
        self.app = App(self.qt, settings.Settings(theme="light", warm_worker=False))
        self.app.window.resize(*SIZE)
        self.app.go("welcome")
        self.app.window.show()

    def wait(self, condition, seconds: float = 600) -> None:
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise SystemExit("The application did not reach this state in time.")
            self.qt.processEvents()
            time.sleep(0.02)

    def rest(self, seconds: float = 1.5) -> None:
        end = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() > end)

    def picture(self, name: str) -> None:
        self.app.window.resize(
            *SIZE
        )  # an offscreen screen is smaller, and the window fits itself to it
        self.app.window.note_line.hide()  # it would lie over the status bar
        self.rest()
        path = self.out / f"{name}.png"
        if not self.app.window.grab().save(str(path), "PNG"):
            raise SystemExit(f"{path} cannot be written.")
        print(path)

    def theme(self, name: str) -> None:
        self.app.change_theme(name)

    def jobs_end(self) -> None:
        self.wait(lambda: not self.app.queue.running and not self.app.queue.waiting)


def main(folder: str = "") -> None:
    sys.path.insert(0, str(ROOT))
    out = Path(folder) if folder else ROOT / "resources" / "help" / "screenshots"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        studio = Studio(Path(home), out)
        studio.rest()
        studio.picture("welcome-light")
        studio.app.act("sample")
        studio.wait(lambda: studio.app.project is not None)
        train(studio, "tag", "10")
        train(studio, "classify", "8")
        suggest(studio)
        for page, theme in PICTURES:
            studio.theme(theme)
            studio.app.go(page)
            PREPARE.get((page, theme), lambda _studio: None)(studio)
            studio.picture(f"{page}-{theme}")
        studio.app.stop_jobs()
        studio.app.closed()


def train(studio: Studio, task: str, epochs: str) -> None:
    studio.app.go("train")
    state = studio.app.window.panel("train").state
    state.choose_task(task)
    state.set_values({"epochs": epochs})
    studio.wait(lambda: state.ready)
    state.start()
    studio.wait(lambda: bool(studio.app.queue.running))
    studio.jobs_end()


def suggest(studio: Studio) -> None:
    """Suggestions of the tag run, so that Annotate shows some."""
    from workbench.operations.runs import results

    run = next(run for run in results.all_runs(studio.app.project) if run.spec.get("task") == "tag")
    studio.app.go("results", run=run.id)
    studio.rest()
    studio.app.window.panel("results").state.suggest()
    studio.rest()
    studio.jobs_end()


def to_nested_spans(studio: Studio) -> None:
    """A submitted document with spans within spans."""
    state = studio.app.window.panel("annotate").state
    state.open(next(id for id in state.ids if state.rows([id])[0].key == "m-0020"))


def to_a_document_with_suggestions(studio: Studio) -> None:
    """The first one to do, the surest of its suggestions accepted."""
    state = studio.app.window.panel("annotate").state
    state.next_unlabelled()
    studio.rest(0.5)
    state.accept_all()


def to_an_answer(studio: Studio) -> None:
    """What the tag run makes of a document."""
    state = studio.app.window.panel("inspect").state

    def has_answered() -> bool:
        shown = state.current
        return shown is not None and shown.answer is not None and not shown.asking

    studio.wait(has_answered)
    state.choose(
        next(
            choice.key
            for choice in state.choices
            if choice.run is not None and choice.task == "tag"
        )
    )
    studio.wait(has_answered)


PREPARE = {
    ("annotate", "light"): to_nested_spans,
    ("annotate", "dark"): to_a_document_with_suggestions,
    ("inspect", "light"): to_an_answer,
}


if __name__ == "__main__":
    main(*sys.argv[1:2])
