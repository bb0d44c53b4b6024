"""Open every page, dock, menu and dialog of the application; `hostile.py` checks each place."""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from tests.prompt_runs import add_prompt_run
from tests.ui.pseudo import CYRILLIC, Seen
from workbench.models.results import Repository, RepositoryFile
from workbench.operations.documents.splits import SplitChoice

PATIENCE = 60.0  # seconds to wait for threads; slow machines must not fail


class Walk:
    """The application and the steps through it; `seen` checks each place."""

    def __init__(self, seen: Seen, *, theme: str = "light"):
        from tests.inline import InlineQueue
        from tests.ui.panels.inspect.test_state import Host, holding
        from workbench.base import settings
        from workbench.jobs import threads
        from workbench.operations.inspecting import inspect_host as inspecting
        from workbench.ui.app import App, make_qt

        self.seen, self.host = seen, Host()
        foreign_catalogue()
        inspecting.InspectorHost = lambda **_named: self.host
        threads.run = holding(threads.run)
        self.qt = make_qt()
        self.app = App(self.qt, settings.Settings(theme=theme, warm_worker=False))
        self.app.queue, self.app._queue_used = InlineQueue(dispatch=self.app.dispatch), True
        self.window = self.app.window
        self.window.show()
        self.window.load_commands()
        sys.excepthook = broken

    def wait(self, condition, about=lambda: "") -> None:
        """Until the condition holds; `about()` is added to the message where it never does."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{self.seen.place}: nothing came {about()}"
            self.qt.processEvents()
            time.sleep(0.002)  # else threads that are waited for get little of the interpreter

    def settle(self) -> None:
        """Wait until all background work has finished and its results are shown."""
        from workbench.jobs import threads

        for _round in range(3):
            self.wait(threads.idle)
            self.qt.processEvents()

    def at(self, place: str, *, hidden: bool = False, within=None) -> None:
        """Check the visible widgets, with `hidden` also the others, or those `within` a widget."""
        self.seen.place = place
        self.settle()
        for window in self.qt.topLevelWidgets():
            if window.isVisible():
                window.grab()
        self.seen.look(hidden=hidden, within=within)

    def go(self, page: str, place: str = "", **args):
        """Open a page; returns its panel."""
        self.seen.place = place or page
        self.window.go(page, **args)
        self.at(place or page)
        return self.window.panel(page)

    def dialog(self, place: str, show, act=lambda dialog: None) -> None:
        """`show` runs a dialog by `exec`: call `act` in it, then check and close it."""
        from PySide6.QtCore import QTimer

        def shown() -> None:
            dialog = self.qt.activeModalWidget()
            assert dialog is not None, f"{place} did not open"
            self.seen.place = place
            act(dialog)
            self.at(place, within=dialog)
            dialog.reject()

        QTimer.singleShot(0, shown)
        show()

    def menus(self, place: str) -> None:
        """Open every menu of the menu bar; only its own texts are checked."""
        self.seen.place = place
        for menu in self.window.menus.menus.values():
            for action in menu.actions():
                self.seen.note(action.text(), "menu")
                for inner in action.menu().actions() if action.menu() is not None else ():
                    self.seen.note(inner.text(), "menu")
            menu.aboutToHide.emit()

    def menu(self, menu) -> None:
        """A menu outside the menu bar, with its submenus."""
        menu.aboutToShow.emit()
        for action in menu.actions():
            self.seen.note(action.text(), "menu")
            if action.menu() is not None:
                self.menu(action.menu())

    def context_menu(self, place: str, choices) -> None:
        """The entries of a context menu, without their shortcuts."""
        self.seen.place = place
        for choice in choices:
            if choice is not None:
                self.seen.note(choice.title, "context menu")
                self.context_menu(place, choice.choices)


def foreign(text: str) -> str:
    """Letters that no test takes for English: names in the catalogue are data."""
    return text.translate(CYRILLIC)


def foreign_catalogue() -> None:
    """The catalogue of models with foreign names; titles of families and objectives are kept."""
    from dataclasses import replace

    from workbench.models.spec import catalogue as module

    real = module.catalogue()
    fields = ("name", "paper", "corpus", "licence", "language", "hub")
    models = tuple(
        replace(model, **{name: foreign(getattr(model, name)) for name in fields})
        for model in real.models
    )
    module.read = lambda _path: module.Catalogue(real.groups, models)
    module.catalogue.cache_clear()
    module.catalogue()


def broken(*error) -> None:
    traceback.print_exception(*error)
    sys.stderr.flush()
    os._exit(3)


# ---------------------------------------------------------------- places


def without_project(way: Walk) -> None:
    way.go("welcome")
    way.menus("menus without a project")
    for page in way.window.pages():
        way.go(page.id, f"{page.id} without a project")


def empty_project(way: Walk, folder: Path) -> None:
    from workbench.project.project import Project

    Project.create(folder / "κενό.glossbench").close()
    assert way.app.open_project(folder / "κενό.glossbench")
    for page in way.window.pages():
        way.go(page.id, f"{page.id} of an empty project")


def pages(way: Walk) -> None:
    for page in way.window.pages():
        way.go(page.id)
        way.menus(f"menus on {page.id}")
    for dock in ("jobs", "history"):
        way.window.toggle_dock(dock, True)
        way.at(dock)
    way.at("all pages", hidden=True)
    way.window.tear_off()
    way.at("a page in its own window")
    way.window.bring_back(way.window.page)
    for dock in ("jobs", "history"):
        way.window.toggle_dock(dock, False)
    way.go("welcome", "welcome beside a project")


def data(way: Walk) -> None:
    panel = way.go("data")
    panel.view.table.selectAll()
    way.at("data, all selected")
    way.context_menu("menu of documents", panel.view._row_choices())
    panel.state.selection.filters.set_filter(text="τίποτα")
    way.at("data, nothing found")
    panel.state.selection.filters.clear_filters()
    panel.state.actions.set_split("dev")
    way.at("data, split set")
    way.app.undo()
    way.at("undone")
    way.dialog("make splits", panel.view.ask_splits)
    panel.state.actions.make_splits(
        SplitChoice(tuple(layer.name for layer in panel.state.selection.filters.layers), 1)
    )
    way.at("splits made")
    way.app.work.line.begin("έργο", 0.4)
    way.at("a long act")
    way.app.work.line.end()


def annotate(way: Walk) -> None:
    panel = way.go("annotate")
    for id in panel.state.queue.ids[-4:]:
        panel.state.session.open(id)
        way.at("annotate, another document")
    menus = panel.view._menus
    way.context_menu("menu of the text", menus._words(panel.view._document_pane.text))
    way.context_menu("menu of the queue", menus.document())
    for name in [("gold", span.id) for span in panel.state.session.spans] + [
        ("suggested", suggestion.id) for suggestion in panel.state.session.suggestions
    ]:
        panel.state.session.choose(name)
        way.context_menu(f"menu of a {name[0]} span", menus.chosen())
    way.context_menu("menu of an answer", menus._answer())
    panel = way.go("annotate", "annotate, errors of a run", run=1, errors=(1, 2, 5), document=1)
    panel.state.queue.next_error(1)
    way.at("annotate, next error")
    panel.view.open_palette()
    way.at("annotate, a label by typing")
    panel.view._palette.hide()
    panel.view.toggle_guideline()
    way.at("annotate, guideline")
    way.dialog("add to the guideline", panel.view.ask_example)
    panel.state.session.leave_review()
    way.menu(panel.view.queue._menu)
    panel.view.find()
    for wanted in ("ο", "τίποτα εδώ"):
        panel.state.finder.set(text=wanted)
        way.at(f"annotate, {wanted!r} searched for")
    panel.view.leave_find()
    layer = next(layer for layer in panel.state.session.layers if layer.labels)
    panel.state.queue.narrow(
        state="to_do", suggested=True, label_id=layer.labels[0].id, split="dev"
    )
    way.at("annotate, queue narrowed")
    panel.state.queue.clear_filters()
    panel.state.queue.skip()
    way.at("annotate, skipped")


def results(way: Walk) -> None:
    panel = way.go("results")
    for run in panel.state.selection.runs:
        panel.state.selection.choose((run.id,))
        way.at(f"results of a run that is {run.status}")
        way.context_menu("menu of a run", panel.view._left._choices())
    first, second = panel.state.selection.runs[-1].id, panel.state.selection.runs[-2].id
    panel.state.selection.choose((first, second))
    way.at("results of two runs")
    comparison = panel.view._right.widget(2)
    for number in range(comparison._tabs.count()):
        comparison._tabs.setCurrentIndex(number)
        way.at(f"part {number} of the comparison")
    panel.state.update(view="board")
    way.at("the board")
    panel.state.board.choose((first, second))
    way.at("the board with two systems")
    panel.state.update(view="runs")
    panel.state.selection.choose((first,))
    way.settle()
    way.dialog("delete a run", panel.view.delete)
    way.dialog("organise a run", panel.view.organise)
    way.dialog("apply to files", panel.view.apply_to_files)
    panel.state.update(asked=(1, 2))
    way.at("results, suggestions asked for")


def inspect(way: Walk) -> None:
    import numpy as np

    from tests.ui.panels.inspect.test_attention import attention
    from workbench.inspection.attention_cell.info import AttentionCell
    from workbench.inspection.attributions.info import Attributions, Target
    from workbench.inspection.class_scores.info import ClassProbabilities
    from workbench.inspection.document_map.info import DocumentMap
    from workbench.inspection.label_scores.info import LabelProbabilities, LabelProbability
    from workbench.inspection.logit_lens.info import LogitLens
    from workbench.inspection.masked_words.info import FromBoundary, MaskedPosition, MaskedWords
    from workbench.inspection.near_documents.info import NearDocument, NearDocuments
    from workbench.inspection.next_words.info import NextToken, NextWords
    from workbench.inspection.number.info import PredictedNumber
    from workbench.inspection.samples.info import SampledText, Samples
    from workbench.inspection.smallest_change.info import Change, SmallestChange, Trial
    from workbench.inspection.spans.info import PredictedSpans
    from workbench.inspection.spec import Inspection, TokenRow, WordRow
    from workbench.inspection.subwords.info import EmbeddingParts, Tokenized
    from workbench.inspection.surprisal.info import Surprisal
    from workbench.inspection.token_scores.info import TokenLabels
    from workbench.inspection.transitions.info import TransitionScores
    from workbench.inspection.uses.info import LayerSenses, Senses, Use, UseRanking, Uses
    from workbench.inspection.vocabulary.info import ExpectedWords
    from workbench.text.spans import Span

    panel = way.go("inspect")
    words = (WordRow(0, 5, "text", "Νίκος"), WordRow(6, 9, "text", "ζει"))

    def tokens(*best):
        return (
            TokenRow("νι", "νι", 7, 0, 5, "text", 0, best=best),
            TokenRow("ζει", "ζει", 8, 6, 9, "text", 1, best=best, unknown=True),
        )

    expected = tokens(("ζω", 0.7), ("ζει", 0.2))
    results = {
        "subwords": (
            Tokenized(tokens(), words, True, (EmbeddingParts(0, 0, 1.0, 1.0, 1.0, 2.0),) * 2),
        ),
        "token_scores": (
            TokenLabels(tokens(("B-άτομο", 0.9), ("O", 0.1)), words, True, ("άτομο",)),
            TokenLabels(tokens(("B-άτομο", 0.6), ("O", 0.4)), words, True, ("άτομο",)),
        ),
        "spans": (PredictedSpans((Span(0, 5, "άτομο", score=0.9),), ("άτομο",)),),
        "class_scores": (ClassProbabilities((("καλό", 0.8), ("κακό", 0.2))),),
        "vocabulary": tuple(
            ExpectedWords(expected, words, True, masked, 0, 1) for masked in (True, False)
        ),
    }
    boundary = FromBoundary("νι", "ζει", 1, 0.2, 3, (("ζω", 0.4),))
    masked = MaskedPosition(0, "νι", 0.1, 7, 3.2, (("ζω", 0.5), ("νι", 0.1)), boundary)
    results["masked_words"] = (
        MaskedWords(words, (), (9.5,), 1, True),
        MaskedWords(words, (masked,), (9.5, 3.0), 3, True, 0.8),
    )
    results["next_words"] = (
        NextWords(
            (7,), ("νι",), (0.2,), (NextToken(8, "ζει", 0.4, 1.0),) * 2, 1, 9, "top-k", (2, 1)
        ),
    )
    results["surprisal"] = (Surprisal(words, (None, 9.5), 1),)
    results["samples"] = (Samples((SampledText("ζει καλά", 2, -3.5),)),)
    targets = (Target("class:καλό", "καλό", 0.8), Target("word:0:O", "O", 0.9, 0, 0))
    results["attributions"] = (
        Attributions(words, (0.4, -0.2), 0.01, "occlusion", "class:καλό", targets, 0.8, 0.5, 0.002),
    )
    item, two = np.ones(2), np.ones((2, 2))
    steps = (1, 2, 1, 2, 0.7, item, two, two, item, item, item, item, item, item, "causal", 0.1)
    results["attention_cell"] = (
        AttentionCell(expected, expected, 0, "self", ("self", "cross"), *steps),
    )
    edits = (Change("delete", ((0, ""),), "ζει", "κακό", 0.6, True),)
    edits += (Change("replace", ((1, "ζω"),), "Νίκος ζω", "καλό", 0.6, False),)
    edits += (Change("flip", ((1, "ζω"),), "Νίκος ζω", "κακό", 0.6, True),)
    trials = (Trial(0, "", "κακό", 0.6, 0.4), Trial(1, "ζω", "καλό", 0.6, 0.2))
    results["smallest_change"] = tuple(
        SmallestChange(words, "καλό", 0.8, found, trials) for found in (edits, edits[:1])
    )
    results["attention"] = (attention(("νι", "ζει"), windows=2), attention(("νι",), causal=True))
    results["transitions"] = (
        TransitionScores(
            ("O", "B-άτομο"),
            ("άτομο",),
            np.ones(2),
            np.ones((2, 2)),
            np.ones(2),
            np.zeros(2, bool),
            np.eye(2, dtype=bool),
        ),
    )
    several = (LabelProbability("καλό", 0.8, 0.5), LabelProbability("κακό", 0.2, 0.5))
    results["number"] = (PredictedNumber(2.5),)
    results["label_scores"] = (LabelProbabilities(several),)
    lens = np.array([[0.2], [0.9]])
    more = {"shares": lens, "final": lens, "entropies": lens, "positions": (0,), "masked": True}
    pieces = (("τραμ",), ("λεωφορείο",))
    results["logit_lens"] = (LogitLens(tokens(), words, False, pieces, **more),)
    for offer in panel.state.offers:
        for result in results.get(offer.id, ()):
            panel.state.update(view=offer.id)
            panel.state.ask()
            way.host.answer(result, unknown=0.4, milliseconds=3)
            way.at(f"inspect, {offer.id}")
    use = Use(0, 1, "δ-1", 0, 5, "εδώ ", "Νίκος", " ζει", "άτομο")
    scores = (LayerSenses(0, 0.5, 0.5, 0.4, 0.6), LayerSenses(1, 0.9, 0.9, 0.8, 0.9))
    counted = Senses("άτομα", {"άτομο": 2, "τόπος": 2}, 4, scores, 0.3, 0.5, 0.3)
    near = (UseRanking(0, (0,), (0.5,)), UseRanking(1, (0,), (0.75,)))
    found = {
        "uses": (
            Uses(words),
            Uses(words, "Νίκος", 0, -1, 1, -1, (0, 1), near, (use,), (), "διανύσματα", counted),
        ),
        "near_documents": (
            NearDocuments((NearDocument(1, "δ-1", "κείμενο", 0.5),), 1, (0, 1), 1, 2),
        ),
    }
    zero, ids = np.zeros(2, np.int64), np.array((1, 2))
    cloud = (np.eye(2, dtype=np.float32), ids, zero, zero + 3, zero, "pca", 1, (0, 1), 2, 3)
    found["document_map"] = (DocumentMap(*cloud, (0.5, 0.2), (0.1, 0.2)),)
    for id, several_results in found.items():
        for result in several_results:
            panel.state.update(view=id)
            panel.state.of(id).update(answer=Inspection(id, result), result=result)
            way.at(f"inspect, {id}")
    panel.state.activate(0)
    panel.state.show_beside(panel.state.offers[0].id)
    way.at("inspect, two panes")
    panel.state.close_second()
    way.dialog("pick a document", panel.view.pick)


def train(way: Walk) -> None:
    from workbench.jobs.events import Finished, Output, Started
    from workbench.ui.project.job_progress import JobProgress, follow

    panel = way.go("train")
    panel.view._left._more.click()
    way.at("train, all options")
    live = panel.state.live = JobProgress(1, "πρώτο", "είδος · starter-bert")
    follow(live, Started(1, ""))
    way.at("train, a run begins")
    figures = {
        "epoch": 1,
        "learning_rate": 1e-4,
        "examples_per_second": 20.0,
        "memory_mb": 1100,
        "seconds_left": 31.0,
    }
    for number in range(1, 6):
        follow(
            live,
            Output(
                {
                    "kind": "step",
                    "step": number,
                    "total": 40,
                    "losses": {"task": 2 / number},
                    **figures,
                }
            ),
        )
    follow(
        live,
        Output(
            {
                "kind": "evaluated",
                "step": 5,
                "split": "dev",
                "scores": {"macro_f1": 0.5, "accuracy": 0.6},
            }
        ),
    )
    follow(live, Output({"kind": "saved", "step": 5}))
    panel.state.changed.emit(frozenset({"live", "run"}))
    way.at("train, a run goes on")
    for status in ("done", "cancelled", "failed"):
        follow(live, Finished(status, {}))
        panel.state.changed.emit(frozenset({"live", "run"}))
        way.at(f"train, a run has ended: {status}")
    panel.state.live = None


def export(way: Walk) -> None:
    from workbench.exporters.model.results import ExportResult

    panel, held = way.go("export"), []
    row = {"text": "Ο Νίκος", "difference": 1e-6, "equal": False}
    rows = [row, {**row, "equal": True}]
    check = {
        "texts": 3,
        "labels": 3,
        "equal_labels": 2 / 3,
        "largest_difference": 3e-6,
        "seconds": 1.0,
        "ms_1": 4.0,
    }
    result = {
        "folders": {"hf": "/α/hf", "onnx": "/α/onnx"},
        "files": [{"path": "/α", "bytes": 2_000_000}],
        "check": check,
        "original": {"texts": 3, "ms_1": 10.0},
    }

    def hold(_key, _work, done, *, on_event, **_named):
        held.append((done, on_event))

    with mock.patch.multiple(panel.context, task=hold, waiting=lambda _key: bool(held)):
        panel.state.start()
        ((done, tell),) = held
        tell({"kind": "checked", "format": "onnx", "done": 1, "total": 3, "rows": rows})
        way.at("export, checking")
        held.clear()
        done(ExportResult.from_json(result))
        way.at("export, done")


def _prompt_state(state) -> str:
    names = ("problem", "no_document", "dev", "document")
    values = [f"{name}={getattr(state.preview, name)!r}" for name in names]
    return ", ".join((f"layers={state.draft.layers!r}", f"spec={state.draft.spec!r}", *values))


def prompts(way: Walk) -> None:
    from workbench.prompting.score import LabelAnswer
    from workbench.ui.project.job_progress import JobProgress

    panel = way.go("prompts")
    way.wait(lambda: panel.state.preview.prompt is not None, lambda: _prompt_state(panel.state))
    rows = (LabelAnswer("καλό", -2.3, 0.4, 0.5, 1), LabelAnswer("κακό", -2.9, None, 0.2, 2))
    panel.state.preview.update(answers=rows)
    way.at("prompts, answers")
    live = JobProgress(1, "πέμπτο", "πέμπτο", status="running", step=3, total=10, seconds_left=20.0)
    panel.state.run.update(live=live)
    way.at("prompts, a run goes on")
    panel.state.run.update(live=None)
    panel.state.draft.change(template="{{ text }")
    way.settle()
    way.at("prompts, a wrong template")
    for tab in ("answers", "grid", "free-text"):
        panel.state.show(tab)
        way.at(f"prompts, tab {tab}")
    _compared_prompts(way, panel)
    panel.state.show("preview")


def _compared_prompts(way: Walk, panel) -> None:
    """Answers and grid of two runs."""
    layer = panel.state.draft.spec.layer
    for name, shots, silent in (("έβδομο", 0, ()), ("όγδοο", 2, (0,))):
        model = {"model": "starter-bert", "model_name": "starter-bert", "shots": shots}
        add_prompt_run(way.app.project, name, (1,), silent, layer, **model)
    answers, grid = panel.state.answers, panel.state.grid
    panel.state.show("answers")
    way.wait(lambda: answers.comparison is not None, lambda: answers.problem)
    way.at("prompts, answers of two runs")
    answers.show_segment("all")
    way.at("prompts, all answers")
    panel.state.show("grid")
    grid.add_runs()
    way.wait(lambda: grid.result is not None, lambda: grid.error)
    way.at("prompts, a grid of two rows")


def exchange(way: Walk, folder: Path) -> None:
    """Import data, with errors, and export in every format."""
    good, bad = folder / "πίνακας.csv", folder / "χαλασμένο.jsonl"
    good.write_text(
        "κλειδί;κείμενο;είδος\nα;Ένα;καλό\nβ;;κακό\nγ;Δύο;κακό;πολύ\n", encoding="utf-8"
    )
    bad.write_text('{"text": "Ένα"}\n{"text": \n[1]\n{"text": 5}\n', encoding="utf-8")

    def bring(dialog) -> None:
        way.settle()
        way.at("import, preview")
        dialog.state.start()
        way.wait(lambda: dialog.state.phase in ("done", "ready"))

    for file in (good, bad):
        way.seen.own = ("text",) if file == bad else ()  # the key of its records
        way.dialog(
            f"import of {file.suffix}", lambda file=file: way.app.go("data", files=[file]), bring
        )

    way.seen.own = ()

    def every_format(dialog) -> None:
        for number in range(dialog._format.count()):
            dialog._format.setCurrentIndex(number)
            dialog._format.activated.emit(number)
            way.at(f"export as {dialog._format.currentData()}")

    way.dialog("export data", lambda: way.app.go("data", dialog="export"), every_format)


def jobs(way: Walk) -> None:
    from workbench.ui.widgets.job_row import JobRow
    from workbench.ui.widgets.tables.delegates import RUN_TONES

    for status in RUN_TONES:
        job = fake_job(status)
        row = JobRow(job)
        row.show()
        way.window.status.show_jobs([job])
        way.at(f"a job that is {status}")
        row.deleteLater()
    way.window.status.show_jobs([])


def closing(way: Walk, question) -> None:
    """The confirmations on closing, and the Welcome page during a job."""
    found = [fake_job("running"), fake_job("waiting", stoppable=False)]
    way.app.active_jobs = way.app.project_jobs = lambda: found
    for project_only in (False, True):
        way.dialog("closing", lambda only=project_only: question(way.app, project_only=only).exec())
    found.pop()
    way.go("welcome", "welcome with a job")
    del way.app.active_jobs, way.app.project_jobs
    way.go("welcome")


def fake_job(status: str, **spec) -> SimpleNamespace:
    about = {"title": "Έργο", "target": "", "stoppable": True, "project": "", "params": {}, **spec}
    return SimpleNamespace(
        id=1,
        spec=SimpleNamespace(**about),
        status=status,
        ending="",
        progress={"step": 1, "total": 4, "seconds_left": 30},
        message="",
        hint="",
    )


def _until_it_is_checked(way: Walk):
    """Show all results of the system check, and leave nothing running."""

    def wait(dialog) -> None:
        way.wait(lambda: not dialog._check.running and not dialog._timer.isActive())

    return wait


def compare(way: Walk, models) -> None:
    """The comparison of models on the project's text: empty, running, measured."""
    from workbench.operations.models import recommend
    from workbench.pretraining.results import ModelFit

    models.view.show_part(1)
    way.at("compare on my text, empty")
    models.state.recommend.update(busy=True, share=0.4, output="μέτρηση")
    way.at("compare on my text, running")
    shared = {"cut_at": {"128": 0.5}, "lengths": (10, 130), "split": (("άβ", ("ά", "β"), 3, 2),)}
    kinds = ("pseudo", "pseudo", "causal", "both", "character", "")
    fits = [
        ModelFit(f"πρώτο {n}", "bert", 0.0, 1.2, 0.1, kind=kind, perplexity=9 + n, **shared)
        for n, kind in enumerate(kinds)
    ]
    fits.append(ModelFit("ξένο", "bert", 0.9))
    rows = recommend.ranked(fits)
    models.state.recommend.update(busy=False, rows=rows, chosen=rows[0].fit.name)
    way.at("compare on my text, measured")
    models.view.show_part(0)
    for tab in range(4):
        way.dialog(
            f"tokenizers, tab {tab}",
            models.view.ask_tokenizers,
            lambda dialog, tab=tab: (dialog.show_tab(tab), way.settle()),
        )


def dialogs(way: Walk) -> None:
    from PySide6.QtWidgets import QFileDialog

    from workbench.models.spec import ModelInfo
    from workbench.ui.dialogs.closing import ClosingQuestion
    from workbench.ui.dialogs.error import ErrorDialog
    from workbench.ui.dialogs.files import DataTarget
    from workbench.ui.panels.data.dialogs import DeleteDocuments
    from workbench.ui.panels.models.cards import _choices
    from workbench.ui.panels.models.dialogs import Delete, Trust

    for act in ("settings", "palette", "keys", "about", "new"):
        way.dialog(act, lambda act=act: way.app.act(act))
    way.dialog("system check", lambda: way.app.act("system-check"), _until_it_is_checked(way))
    with mock.patch.object(QFileDialog, "getOpenFileNames", return_value=([], "")):
        way.dialog("import without a file", lambda: way.app.go("data", dialog="import"))
    way.dialog(
        "data for which project",
        lambda: DataTarget(way.window, way.app.project.path, [Path("δεδομένα.csv")]).exec(),
    )
    closing(way, ClosingQuestion)
    way.dialog("a fault", lambda: ErrorDialog(way.app, OSError("χαλασμένο"), "").exec())
    files = tuple((f"αρχείο {number}", 5_000_000) for number in range(12))
    card = ModelInfo(
        "πρώτο", "/πρώτο", "transformer", "bert", 22_000_000, 6, 384, pickled=True, files=files
    )
    way.dialog("delete documents", lambda: DeleteDocuments(way.window, 500, 900).exec())
    way.dialog("trust", lambda: Trust(way.window, card).exec())
    way.dialog("delete a download", lambda: Delete(way.window, card).exec())
    models = way.go("models")
    for row in models.state.everything:
        if row.card is not None:
            way.context_menu("menu of a model", _choices(models.view, row.card))
    for name in ("BERT base", "GPT-3", "XLNet base", "GloVe 6B"):
        models.state.choose(f"published:{foreign(name)}")
        way.at("card of a published model")
    models.state.filter(search="nothing at all")
    way.at("no model matches")
    models.state.clear_filters()
    compare(way, models)
    for stage in ("ask", "looking", "output", "fetching", "done"):
        repository = Repository(
            "α",
            size_bytes=5_000_000,
            files=(RepositoryFile("α", 5_000_000),),
            family="bert",
            gated=True,
            pickled=True,
        )
        fields = {"stage": stage, "repository": repository}
        way.dialog(
            f"download, {stage}",
            models.view.ask_id,
            lambda dialog, fields=fields: dialog.state.update(**fields),
        )
    labels = way.go("labels")
    way.dialog("add a layer", labels.view.ask_layer)
    for layer in labels.state.layers:
        labels.state.choose_layer(layer.id)
        way.at("labels, another layer")
    way.dialog("history of a guideline", labels.view.show_guideline_history)


def before_opening(way: Walk, folder: Path) -> None:
    """Every page without a project and of an empty one."""
    without_project(way)
    empty_project(way, folder)


def in_project(way: Walk) -> None:
    """Every place of the open project."""
    for part in (pages, data, annotate, results, inspect, train, export, prompts, jobs, dialogs):
        part(way)
