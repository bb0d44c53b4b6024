"""Adjudication in the window: two people, their differences, and what becomes gold."""

from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel

from workbench.operations.annotation import annotate, document_view
from workbench.operations.people import people
from workbench.operations.schema import guideline, labels
from workbench.project.check import check_open
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.results.people.view import PeopleView

TEXTS = (
    "Hello. The 42 tram was late. I wrote to Market Hall.",
    "The 7 came.",
    "נסענו באוטובוס 42 הביתה.",
    "Nobody came.",
    "The N3 is full. The N3 is late.",
)
SAID = (  # spans of both, one after the other, and the class
    {"The 42 tram": "PER", "Market Hall": "PER"},
    {"42 tram": "PER", "Market Hall": "LOC"},
    {"The 7": "PER"},
    {"7": "PER"},
    {"באוטובוס 42": "LOC"},
    {"42": "LOC"},
    {},
    {},
    {"The N3": "PER"},
    {"N3": "PER"},
)
CLASSES = ("good bad", "good good", "good good", "good good", "bad bad")
FAST = 20_000  # milliseconds


def fill(path, more=()):
    """more: names of people who say what Ben says."""
    with closing(Project.open(path)) as project:
        spans, topic = (labels.layer_named(project, name) for name in ("spans", "class"))
        with project.edit("Add documents"):
            records = [Record(Document(f"d{n}", (("text", text),))) for n, text in enumerate(TEXTS)]
            ids = documents.add(project.db, records, source_id=project.source("person"))
        me = people.current(project)
        people.change(project, me.id, "Ada")
        persons = (me.id, *(people.add(project, name).id for name in ("Ben", *more)))
        for number, person in enumerate(persons):
            number = min(number, 1)
            people.work_as(project, person)
            for at, id in enumerate(ids):
                for words, label in SAID[2 * at + number].items():
                    start = TEXTS[at].index(words)
                    end = start + len(words)
                    annotate.add_span(project, id, start, end, spans.label(label).id)
                name = CLASSES[at].split()[number]
                annotate.set_class(project, id, topic.label(name).id)
                annotate.submit(project, id, [spans.id, topic.id])
        people.work_as(project, me.id)
    return ids


class Journey:
    """The page of adjudication in the real window."""

    def __init__(self, app, ids, qtbot):
        self.app, self.ids, self.qtbot = app, ids, qtbot
        self.panel = app.window.panel("annotate")
        self.tool = self.panel.state.adjudication
        self.project = self.panel.state.project

    @property
    def page(self):
        return self.panel.view.adjudication.page

    def key(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        self.qtbot.keyClick(self.page.list, key, modifier)

    def suggest(self, method):
        """Choose a method in the list of methods, and wait for its suggestions."""
        box = self.page.method
        box.setCurrentIndex(box.findData(method))
        box.activated.emit(box.currentIndex())
        self.until(lambda: self.tool.consensus is not None)

    def until(self, condition):
        self.qtbot.waitUntil(condition, timeout=FAST)

    def gold(self, at):
        """{words: label} of gold in a document, and its class."""
        view = document_view.view(self.project, self.ids[at])
        names = {
            label.id: label.name for layer in labels.layers(self.project) for label in layer.labels
        }
        text = view.document.text
        spans = {text[row.start : row.end]: names[row.label_id] for row in view.spans}
        return spans, [names[mark.label_id] for mark in view.marks]

    def decided(self):
        return [difference.taken for difference in self.tool.sheet.differences]


@pytest.fixture
def journey(begin):
    """Adjudication of Ada and Ben, begun with the dialog; the first document is open."""
    return begin()


@pytest.fixture
def begin(app, project_file, qtbot, monkeypatch):
    """`begin(more)`: adjudication of Ada, Ben, and people who say what Ben says."""
    return lambda more=(): begun(app, project_file, qtbot, monkeypatch, more)


def begun(app, project_file, qtbot, monkeypatch, more):
    from workbench.ui.panels.annotate.adjudication.start_dialog import StartDialog

    ids = fill(project_file, more)
    assert app.open_project(project_file, page="annotate")
    made = Journey(app, ids, qtbot)
    made.panel.view.show()

    def accept(dialog):
        assert [box.text() for box in dialog.people.boxes] == ["Ada", "Ben", *more]
        qtbot.mouseClick(dialog._start, Qt.MouseButton.LeftButton)
        return 1

    monkeypatch.setattr(StartDialog, "exec", accept)
    app.window.activateWindow()
    entry = next(
        entry for entry in app.window.menus.entries if entry.command.id == "annotate.adjudicate"
    )
    entry.action.trigger()
    made.until(lambda: made.tool.sheet is not None and made.page is not None)
    return made


def test_each_difference_is_decided_by_a_key_and_the_document_submitted_as_gold(journey):
    tool, page = journey.tool, journey.page
    assert tool.sheet.document.key == "d0" and journey.decided() == [None, None, None]
    assert not page.submit.isEnabled() and page.list.current is not None

    journey.key("1")  # class: good
    assert tool.at == 1
    journey.key("2")  # 42 tram
    journey.key(" ")  # to the first one again? the last one stays open
    journey.key(" ", Qt.KeyboardModifier.ShiftModifier)
    tool.go_to(2)
    journey.key("b")  # both labels on Market Hall
    assert journey.decided() == [0, 1, "both"]
    assert page.submit.isEnabled()

    journey.qtbot.mouseClick(page.submit, Qt.MouseButton.LeftButton)
    assert tool.sheet.document.key != "d0"
    spans, classes = journey.gold(0)
    assert spans["42 tram"] == "PER" and "Market Hall" in spans and classes == ["good"]
    assert tool.finished.decided == 1


def test_a_decision_can_be_undone_in_its_strip_and_with_undo(journey):
    tool, page = journey.tool, journey.page
    journey.key("1")
    assert journey.decided()[0] == 0

    journey.app.undo()
    journey.until(lambda: journey.decided()[0] is None)
    assert tool.sheet.document.key == "d0"
    tool.go_to(0)
    journey.key("1")
    strip = page.list.cards()[0]
    journey.qtbot.mouseClick(strip.undo, Qt.MouseButton.LeftButton)
    assert journey.decided()[0] is None and tool.at == 0


def test_neither_undo_and_submit_have_keys_and_the_status_bar_says_where_labels_go(journey):
    tool, person = journey.tool, journey.app.window.status._person
    tool.go_to(1)
    journey.key("0")
    assert journey.decided() == [None, "neither", None]
    assert person.text().strip() == "Adjudicating: saved as gold"
    tool.go_to(1)
    journey.key("u")
    assert journey.decided() == [None, None, None]

    for number in range(3):
        tool.go_to(number)
        journey.key("1")
    journey.key(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert tool.finished.decided == 1
    tool.leave()
    assert person.text().strip() == "Labelling as Ada"


def test_equal_cases_are_decided_alike_in_one_undo_step(journey):
    tool, page = journey.tool, journey.page
    journey.key(" ")  # the boundary
    journey.until(lambda: bool(tool.cases))
    assert {tool.key_of(case) for case in tool.cases} == {"d1", "d4"}

    journey.key("a")
    assert tool.alike and page.case.alike.isChecked()
    leave_out = next(case for case in tool.cases if tool.key_of(case) == "d4")
    tool.tick(leave_out, False)
    journey.key("2")
    journey.until(lambda: not tool.alike)
    assert journey.gold(1)[0] == {"7": "PER"} and journey.gold(4)[0] == {}

    journey.app.undo()
    journey.until(lambda: journey.gold(1)[0] == {})


def test_gold_is_edited_with_the_usual_keys_and_adjudication_comes_back(journey):
    tool, view, session = journey.tool, journey.panel.view, journey.panel.state.session
    journey.key(" ")
    journey.key("e")
    assert tool.editing and view.document_pane.isVisible()
    assert session.document_id == journey.ids[0] and not view.queue.isVisible()

    text = view.document_pane.texts[0]
    at = TEXTS[0].index("tram")
    text.select(at, at + 4)
    journey.qtbot.keyClick(text, "2")  # a label key again: LOC
    assert journey.gold(0)[0]["tram"] == "LOC"
    journey.qtbot.keyClick(text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    journey.until(lambda: not tool.editing)
    assert journey.page.isVisible() and journey.decided()[1] == "edited"
    assert journey.gold(0)[0]["tram"] == "LOC"


def test_the_order_by_kind_leads_from_document_to_document(journey):
    tool, page = journey.tool, journey.page
    box = page.findChild(QComboBox)
    at = box.findData("boundary")
    box.setCurrentIndex(at)
    box.activated.emit(at)

    tool.go_to(1)
    journey.key("1")
    assert tool.current.kind == "boundary" and tool.sheet.document.key != "d0"
    assert tool._by_id[journey.ids[0]].open == 2


def test_notes_mark_a_difference_for_discussion(journey, monkeypatch):
    from workbench.ui.panels.annotate.adjudication.page import DiscussDialog

    def write(dialog):
        dialog.line.setText("ask Ada")
        dialog.save()
        return 1

    monkeypatch.setattr(DiscussDialog, "exec", write)
    journey.key("n")

    assert journey.tool.current.note == "ask Ada" and journey.tool.current.taken is None
    assert [row.discussed for row in journey.tool.overview.rows] == [1, 0, 0, 0]


def test_leaving_shows_the_gold_of_the_document_and_its_keys_label_again(journey):
    tool, view = journey.tool, journey.panel.view
    journey.key("1")
    page = journey.page

    journey.qtbot.mouseClick(page._leave, Qt.MouseButton.LeftButton)
    assert not tool.is_on and view.document_pane.isVisible()
    assert journey.panel.state.session.document_id == journey.ids[0]
    assert journey.gold(0)[1] == ["good"]


def test_all_is_gold_in_the_end_and_nothing_is_wrong_with_the_file_after_undo_and_redo(journey):
    for _number in range(4):
        while journey.tool.open_count:
            journey.key("1")
        journey.tool.submit()
    assert journey.tool.finished == (4, 4)
    assert check_open(journey.project) == []

    for _number in range(3):
        journey.project.undo()
    assert check_open(journey.project) == []
    for _number in range(3):
        journey.project.redo()
    assert check_open(journey.project) == []


def test_a_decision_becomes_an_example_of_the_guideline_and_its_sentence_is_shown(journey):
    tool = journey.tool
    journey.key(" ")
    assert not tool.can_add_example
    journey.key("2")
    tool.go_to(1)
    journey.key("g")

    layer = labels.layer_named(journey.project, "spans")
    (example,) = guideline.examples(layer)
    assert example.label == "PER" and example.positive
    assert example.text[example.start : example.end] == "42 tram"


def test_the_list_of_disagreements_leads_to_adjudication_and_back(app, project_file, qtbot):
    ids = fill(project_file)
    assert app.open_project(project_file, page="results")
    results = app.window.panel("results")
    qtbot.mouseClick(results.view._views.button("people"), Qt.MouseButton.LeftButton)
    state = results.state.people
    qtbot.waitUntil(lambda: bool(state.agreements) and state.open > 0, timeout=FAST)
    (page,) = results.view.findChildren(PeopleView)
    assert page.adjudicate.text().strip() == f"Adjudicate {state.open} differences"

    row = next(row for row in page.documents.rows() if row[1].document_id == ids[0])
    page.documents.choose({ids[0]})
    qtbot.keyClick(page.documents, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: app.page == "annotate", timeout=FAST)
    tool = app.window.panel("annotate").state.adjudication
    qtbot.waitUntil(lambda: tool.sheet is not None, timeout=FAST)
    assert tool.sheet.document.id == row[1].document_id == ids[0]
    assert [person.name for person in tool.people] == ["Ada", "Ben"]


def test_the_majority_is_suggested_and_taken_by_a_key(begin):
    journey = begin(("Cleo",))
    tool, page = journey.tool, journey.page
    journey.key("s")  # no method is chosen
    assert journey.decided() == [None, None, None]

    journey.suggest("majority")
    part = page.case.reliability
    assert not part.isHidden() and len(part.people.rows()) == 3
    assert page.list.decisions.suggested.isVisible()
    journey.key("s")  # class: bad
    journey.key("s")  # 42 tram

    assert journey.decided() == [1, 1, None] and tool.at == 2
    assert journey.gold(0) == ({"42 tram": "PER"}, ["bad"])


def test_two_people_are_told_that_they_have_no_majority(journey):
    journey.suggest("majority")
    part = journey.page.case.reliability

    assert not part.isHidden() and part.take_all.isHidden()
    sentence = "Two people who differ have no majority"
    assert any(label.text().startswith(sentence) for label in part.findChildren(QLabel))
    assert not journey.page.list.decisions.suggested.isVisible()
    journey.suggest("dawid-skene")
    assert len(part.people.rows()) == 2 and not part.take_all.isHidden()


def test_all_ticked_suggestions_are_taken_in_one_undo_step(begin, monkeypatch):
    from workbench.ui.panels.annotate.adjudication.reliability_part import SuggestionsDialog

    journey = begin(("Cleo",))
    journey.suggest("majority")
    listed = []

    def take(dialog):
        listed.extend(journey.tool.key_of(row[0]) for row in dialog.table.rows())
        dialog.least.setValue(67)  # two of three are less
        assert not dialog.table.rows() and not dialog.take.isEnabled()
        dialog.least.setValue(60)
        dialog.table.opened.emit(dialog.table.rows()[0])  # no tick
        assert dialog.take.text().strip() == f"Take {len(listed) - 1} suggestions"
        dialog.take.click()
        return 1

    monkeypatch.setattr(SuggestionsDialog, "exec", take)
    journey.page.case.reliability.take_all.click()
    journey.until(lambda: journey.tool.overview.decided == 5)
    assert sorted(listed) == ["d0", "d0", "d0", "d1", "d2", "d4"]
    assert check_open(journey.project) == []

    journey.app.undo()
    journey.until(lambda: journey.tool.overview.decided == 0)
    assert check_open(journey.project) == []


def test_far_differences_of_a_long_document_are_summed_up_and_reached_by_a_click(
    app, project_file, qtbot, monkeypatch
):
    from workbench.ui.panels.annotate.adjudication.cards import FarStrip

    monkeypatch.setattr("workbench.ui.panels.annotate.adjudication.rows.BLOCK", 1)
    journey = begun(app, project_file, qtbot, monkeypatch, ())
    assert journey.tool.at == 0
    (far,) = [card for card in journey.page.list.cards() if isinstance(card, FarStrip)]
    assert far.button.text().strip() == "2 differences below"

    qtbot.mouseClick(far.button, Qt.MouseButton.LeftButton)
    assert journey.tool.at == 1 and journey.page.list.current is not None
    journey.key("1")
    journey.key("1")
    assert journey.decided() == [None, 0, 0]


def test_blind_mode_ends_adjudication_and_nothing_becomes_gold(journey, app):
    gold = journey.project.db.reader().execute("select * from state").fetchall()

    people.set_blind(journey.project, True)
    journey.until(lambda: app.window.panel("annotate").state.session.blind)
    journey.qtbot.wait(200)

    assert not app.window.panel("annotate").state.adjudication.is_on
    assert journey.project.db.reader().execute("select * from state").fetchall() == gold
