"""Two people on two computers, in the window: documents handed out, labelled apart, merged,
compared and adjudicated; then a model of their gold, and everything undone and done again.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import NamedTuple

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from tests.journeys.hand import CTRL, PATIENCE, window
from workbench.base import settings
from workbench.operations.people import people
from workbench.operations.schema import labels
from workbench.project.check import check, check_open
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.schema import migrations
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.results.people.view import PeopleView

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]

ENTITIES = "PER", "LOC"  # 1, 2
CLASSES = {"yes": Qt.Key.Key_Q, "no": Qt.Key.Key_W}
NAMES, PLACES = "Ada Bob Cleo Dan Eve".split(), "Paris Rome Oslo".split()
COUNT = 10  # documents


class Said(NamedTuple):
    """What a person says of a document. spans: (start, end, label)."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    label: str


def plans():
    """Ada is right. Ben misses a place, takes two words as one three times, and confuses a label
    and a class once each.
    """
    ada, ben = [], []
    for number in range(COUNT):
        name, place = NAMES[number % 5], PLACES[number % 3]
        text = f"{name} drove to {place} on day {number}."
        at = text.index(place)
        person, there = (0, len(name), "PER"), (at, at + len(place), "LOC")
        label = "yes" if number % 2 else "no"
        ada.append(Said(text, (person, there), label))
        spans = {
            0: (person,),
            2: (person, (*there[:2], "PER")),
            **dict.fromkeys((1, 4, 5), (person, (at - 3, at + len(place), "LOC"))),
        }.get(number, (person, there))
        ben.append(Said(text, spans, "no" if number == 3 else label))
    return {"Ada": ada, "Ben": ben}


def test_two_people_label_and_their_gold_becomes_a_model(
    forked_workers, qtbot, tmp_path, monkeypatch
):
    plan = plans()
    homes = {name: tmp_path / f"home-{name}" for name in plan}
    lead, out = tmp_path / "lead.glossbench", tmp_path / "out"
    lead_project(lead, ENTITIES, CLASSES, [said.text for said in plan["Ada"]])
    with computer(homes["Ada"], qtbot, "Ada") as hand:
        hand.app.open_project(lead)
        assigns(hand, out, COUNT)
    files = {name: out / f"lead-{name}.glossbench" for name in plan}
    for name, path in files.items():
        with computer(homes[name], qtbot) as hand:
            hand.app.open_project(path)
            if name == "Ben":
                hand.click("This is me")
            labels_all(hand, ENTITIES, CLASSES, plan[name])
        assert check(path) == []
    with computer(homes["Ada"], qtbot) as hand:
        hand.app.open_project(lead)
        with closing(Project.open(files["Ben"])):  # he works on while his file is merged
            for path in files.values():
                merges(hand, path, monkeypatch)
        figures_are_those_by_hand(measures(hand))
        saves_reports(hand, tmp_path, monkeypatch)
        pressed = adjudicates(hand, lambda difference: "1")
        assert (pressed["1"], pressed["alike"], pressed["submit"]) == (4, 1, 6)
        assert gold(hand.app.project) == plan["Ada"]
        run = hand.train("Token tagging", "entities", "starter-bert", epochs=1)
        limit = ceiling_beside_the_scores(hand, run)
        assert limit.documents == COUNT
        assert limit.of("span_f1") == pytest.approx(30 / 39)
        hand.export(run, tmp_path / "model")
        steps, (before, undone, redone) = undoes_and_redoes_everything(hand)
        assert steps[0] == steps[1] > 0
        assert before == redone and not any(undone.values())
    assert check(lead) == []


def figures_are_those_by_hand(state):
    """15 equal spans, of 20 and 19; 9 of 10 classes, of which Ada says half yes, Ben 4 of 10."""
    values = {item.layer.name: item for item in state.agreements}
    assert [len(item.documents) for item in values.values()] == [COUNT, COUNT]
    assert values["entities"].value("span_f1").value == pytest.approx(30 / 39)
    assert values["sarcasm"].value("observed_agreement").value == pytest.approx(0.9)
    chance = 0.5 * 0.4 + 0.5 * 0.6
    kappa = (0.9 - chance) / (1 - chance)
    assert values["sarcasm"].value("kappa").value == pytest.approx(kappa)


def gold(project):
    """What is gold, as the plan of a person."""
    return [
        Said(
            record.document.text,
            tuple((span.start, span.end, span.label) for span in record.spans["entities"]),
            record.marks["sarcasm"][0],
        )
        for record in documents.records(project.db)
        if set(record.states.values()) == {"submitted"}
    ]


def look(hand, name):
    """Called at each step; replaced where the pages are looked at."""


@contextmanager
def computer(home, qtbot, name=""):
    """The window of a person whose settings are in a home folder of their own."""
    home.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        own = settings.load()
        own.annotator, own.theme, own.warm_worker = name or own.annotator, "light", False
        own.save()
        with window(qtbot, settings.load()) as hand:
            yield hand


def lead_project(path, entities, classes, texts):
    with closing(Project.create(path)) as project:
        labels.add_layer(project, "entities", "span", labels=entities)
        labels.add_layer(project, "sarcasm", "class", labels=tuple(classes))
        splits = ("train", "train", "train", "dev", "test")
        with project.edit("Import"):
            records = [
                Record(Document(f"d{n:02}", (("text", text),), split=splits[n % 5]))
                for n, text in enumerate(texts)
            ]
            documents.add(project.db, records, source_id=project.source("import"))


def assigns(hand, folder, count):
    """Every document to both; the other person is added in the dialog."""

    def adds_ben(dialog):
        name = hand.find("Name", within=dialog)
        name.setFocus()
        QTest.keyClicks(name, "Ben")
        look(hand, "assign-add")
        QTest.keyClick(name, Qt.Key.Key_Return)

    def act(dialog):
        look(hand, "assign-empty")
        hand.in_dialog(lambda: hand.click("Add a person", within=dialog), adds_ben)
        hand.wait(lambda: len(dialog.state.chosen) == 2, "Ben is not in the list")
        dialog.folder.setFocus()
        dialog.folder.selectAll()
        QTest.keyClicks(dialog.folder, str(folder))
        for box, value in ((dialog.pair, 0), (dialog.every, 100)):
            box.setFocus()
            box.selectAll()
            QTest.keyClicks(box, str(value))
            QTest.keyClick(box, Qt.Key.Key_Tab)

        def both_get_all():
            return dialog.state.plan is not None and dialog.state.plan.by_number[2] == count

        hand.wait(both_get_all, "not both get all")
        look(hand, "assign")
        hand.qtbot.mouseClick(dialog.write, Qt.MouseButton.LeftButton)
        hand.wait(lambda: dialog.state.over, "not written", PATIENCE)

    hand.in_dialog(lambda: hand.menu("File", "People", "Assign documents"), act)
    look(hand, "assigned")


def labels_all(hand, entities, classes, plan):
    """Each span by a drag and the key of its label, the class by its key, Ctrl+Enter."""
    hand.click("Annotate")
    hand.find("Text").setFocus()
    panel = hand.app.window.panel("annotate")
    session = panel.state.session
    by_text = {said.text: said for said in plan}
    for number in range(1, len(plan) + 1):
        hand.wait(lambda: session.doc is not None)
        document, text = session.document_id, hand.find("Text")
        said = by_text[session.doc.document.text]
        for start, end, label in said.spans:
            drag(hand, text, start, end)
            QTest.keyClick(text, Qt.Key(Qt.Key.Key_1 + entities.index(label)))
        QTest.keyClick(text, classes[said.label])
        if number in (1, 2, len(plan)):
            look(hand, f"label-{number}")
        hand.key(Qt.Key.Key_Return, CTRL)
        hand.wait(lambda number=number: submitted(hand.app.project) == number, "not submitted")
        if number < len(plan):
            hand.wait(lambda document=document: session.document_id != document, "no next one")
    look(hand, "labelled")


def drag(hand, text, start, end):
    first, last = text.rect_of(start), text.rect_of(end - 1)
    place = QPoint(round(first.left()) + 1, round(first.center().y()))
    to = QPoint(round(last.right()) - 1, round(last.center().y()))
    port = text.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    QTest.mouseMove(port, to)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, to)
    assert text.target == (start, end), (text.target, (start, end))


def submitted(project):
    return max(row.submitted for row in people.overview(project))


def merges(hand, path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *args: (str(path), ""))

    def act(dialog):
        look(hand, "merge-empty")
        hand.click("Choose file", within=dialog)
        hand.wait(lambda: dialog.state.can_merge, "no preview", PATIENCE)
        look(hand, f"merge-{path.stem}")
        hand.click("Merge", within=dialog)
        hand.wait(lambda: dialog.state.over, "not merged", PATIENCE)

    hand.in_dialog(lambda: hand.menu("File", "People", "Merge"), act)
    look(hand, f"merged-{path.stem}")


def measures(hand):
    """The agreement of both on the People page."""
    hand.click("Results")
    hand.click("People")
    state = hand.app.window.panel("results").state.people
    hand.wait(lambda: state.share is None and bool(state.agreements), "not measured", PATIENCE)
    hand.wait(lambda: state.open > 0, "no differences")
    look(hand, "people")
    return state


def saves_reports(hand, folder, monkeypatch):
    for suffix in ("html", "csv"):
        path = folder / f"report.{suffix}"
        monkeypatch.setattr(
            "workbench.ui.panels.results.people.view.ask_file", lambda *args, path=path: path
        )
        hand.click("Save report")
        hand.wait(path.is_file, "no report", PATIENCE)


def adjudicates(hand, draw):
    """Decide each difference by a key, equal cases together, and submit each document."""
    view = hand.app.window.panel("results").view
    (page,) = view.findChildren(PeopleView)
    hand.qtbot.mouseClick(page.adjudicate, Qt.MouseButton.LeftButton)
    panel = hand.app.window.panel("annotate")
    tool = panel.state.adjudication
    hand.wait(lambda: tool.sheet is not None and tool.overview is not None, "", PATIENCE)
    look(hand, "adjudicate")
    pressed = dict.fromkeys((*"12B0", "alike", "submit"), 0)
    keys = {"1": Qt.Key.Key_1, "2": Qt.Key.Key_2, "B": Qt.Key.Key_B, "0": Qt.Key.Key_0}
    while tool.finished.decided < tool.finished.total:
        document = tool.sheet.document.id
        if tool.can_submit:
            hand.key(Qt.Key.Key_Return, CTRL)
            pressed["submit"] += 1
            hand.wait(
                lambda before=document: tool.sheet.done or tool.sheet.document.id != before,
                "no gold",
            )
            continue
        if tool.sheet.done:
            hand.qtbot.wait(5)  # the counts are being read
            continue
        hand.wait(lambda: tool.current.taken is None, "no open difference")
        hand.wait(lambda: tool.cases is not None, "no search for equal cases")
        if tool.cases:
            hand.key(Qt.Key.Key_A)
            assert tool.alike
            pressed["alike"] += 1
            look(hand, f"adjudicate-alike-{pressed['alike']}")
        before, key = decided(tool), draw(tool.current)
        hand.key(keys[key])
        pressed[key] += 1
        hand.wait(lambda before=before: decided(tool) > before, f"{key} decides nothing", PATIENCE)
    look(hand, "adjudicated")
    return pressed


def decided(tool):
    return sum(count.decided for count in tool.counts.values())


def ceiling_beside_the_scores(hand, run):
    """The human ceiling that the page of a run shows."""
    hand.click("Results")
    hand.click("Show runs")
    hand.app.go("results", run=run.id)
    selection = hand.app.window.panel("results").state.selection
    hand.wait(lambda: selection.details is not None, "no scores")
    hand.wait(lambda: selection.details.ceiling is not None, "no human ceiling")
    look(hand, f"run-{run.layer}")
    return selection.details.ceiling


def undoes_and_redoes_everything(hand):
    """By Ctrl+Z and Ctrl+Y; returns how many steps there were, and what was there before, after
    the undo and after the redo.
    """
    project = hand.app.project
    hand.click("Data")
    hand.wait(lambda: hand.app.window.page == "data", "the page is not built")
    states, steps = [rows(project)], []
    for title, key in (("undo_title", Qt.Key.Key_Z), ("redo_title", Qt.Key.Key_Y)):
        count = 0
        while getattr(project, title) is not None:
            before = project.undo_step
            hand.key(key, CTRL)
            hand.wait(lambda before=before: project.undo_step != before, "nothing undone", PATIENCE)
            count += 1
        hand.wait(lambda: not hand.app.working, "still writing", PATIENCE)
        look(hand, title)
        states.append(rows(project))
        steps.append(count)
        assert check_open(project) == []
    return steps, states


def rows(project):
    read = project.db.reader().execute
    return {
        table: read(f"select * from {table} order by id").fetchall()
        for table in migrations.JOURNALED
    }
