"""Relations and preferences in the window: labelled, learned, suggested, corrected, exported."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QTabBar

from tests.journeys.hand import CTRL, PATIENCE
from workbench.operations.annotation import document_view, relation_rules
from workbench.operations.runs import results
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document, with_choices
from workbench.text.fields import Prediction, SpanScores
from workbench.text.relations import Relation
from workbench.text.spans import Span

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(900)]

NAMES = "Ada Bob Cleo Dan Eve Finn Gwen Hal".split()
PLACES = "Paris Rome Oslo".split()


def sentence(number):
    """A text with its names: a person met another one in a place."""
    first, other = NAMES[number % 8], NAMES[(number + 1 + number // 8) % 8]
    text = f"{first} met {other} in {PLACES[number % 3]}."
    starts = 0, text.index(f" {other} ") + 1, text.index(" in ") + 4
    ends = len(first), starts[1] + len(other), len(text) - 1
    return text, [
        Span(a, b, x) for a, b, x in zip(starts, ends, ("PER", "PER", "LOC"), strict=True)
    ]


def made(path):
    """Sentences for train and dev, one without its relations and two without any label; prompts
    with two answers, one of them not compared yet; a run that finds names.
    """
    project = Project.create(path)
    labels.add_layer(project, "names", "span", labels=("PER", "LOC"))
    labels.add_layer(project, "links", "relation", labels=("knows", "in"))
    labels.add_layer(project, "better", "preference", labels=("1", "2"))
    layers = {layer.name: layer for layer in labels.layers(project)}
    relation_rules.set_rules(
        project, layers["links"].id, spans="names", undirected=["knows"], pairs={}
    )
    records = []
    for number in range(30):
        text, (first, other, place) = sentence(number)
        split = "train" if number < 20 else "dev" if number < 27 else None
        document = Document(f"s{number}", (("text", text),), split)
        links = Relation("knows", first, other, directed=False), Relation("in", other, place)
        is_whole, has_names = number < 27, number < 28
        records.append(
            Record(
                document,
                {"names": "submitted"} if has_names else {},
                spans={"names": (first, other, place)} if has_names else {},
                relations={"links": links} if is_whole else {},
            )
        )
        if is_whole:
            records[-1].states["links"] = "submitted"
    for number in range(12):
        split = "train" if number < 8 else "dev" if number < 11 else None
        answers = f"At {number + 1} o'clock.", "I do not know."
        document = with_choices(f"p{number}", f"When does tram {number} leave?", answers)
        done = split is not None
        marks = {"better": ("1",)} if done else {}
        states = {"better": "submitted"} if done else {}
        records.append(Record(Document(f"p{number}", document.texts, split), states, marks))
    with project.edit("Add"):
        ids = documents.add(project.db, records, source_id=project.source("import"))
    spec = {"task": "spans", "layer": "names"}
    with project.write("Store"):
        run = runs.add(
            project.db, "finder", "train", layer_id=layers["names"].id, spec=spec, status="done"
        )
        found = [(id, *sentence(number)) for number, id in enumerate(ids[:30])]
        rows = [
            (
                id,
                Document("", (("text", text),)).asked_hash,
                Prediction((SpanScores(tuple(spans)),)).to_json(),
            )
            for id, text, spans in found
        ]
        runs.save_predictions(project.db, run.id, rows)
    project.close()
    return ids


def test_relations_and_preferences_from_labels_to_an_exported_model(forked_workers, hand, tmp_path):
    path = tmp_path / "links.glossbench"
    ids = made(path)
    assert hand.app.open_project(path)
    labels_a_relation_by_keys(hand, ids[27])
    prefers_an_answer_by_mouse(hand, ids[-1])
    run = hand.train("Relations", "links", "starter-bert", epochs=20, reading="States")
    hand.train("Preference (DPO)", "better", "starter-gpt", epochs=1)
    scores_and_suggests_between_predicted_names(hand)
    accepts_a_suggested_relation(hand, ids[28:30])
    corrects_an_error(hand)
    hand.export(run, tmp_path / "out")
    assert not list(integrity.problems(hand.app.project.db))


def opens(hand, document):
    hand.app.go("annotate", document=document)
    state = hand.app.window.panel("annotate").state
    hand.wait(lambda: state.session.document_id == document, "the document is not shown")
    hand.find("Text").setFocus()


def links(hand, document):
    view = document_view.view(hand.app.project, document)
    text, spans = view.document.text, {row.id: row for row in view.spans}
    words = {id: text[row.start : row.end] for id, row in spans.items()}
    return [(words[row.from_span], words[row.to_span]) for row in view.relations]


def state_of(hand, document, layer):
    view = document_view.view(hand.app.project, document)
    return next(view.states.get(each.id) for each in view.layers if each.name == layer)


def labels_a_relation_by_keys(hand, document):
    """Tab to the first name, C begins a relation, Tab to its target, the key of its label."""
    opens(hand, document)
    for key in (Qt.Key.Key_Tab, Qt.Key.Key_C, Qt.Key.Key_Tab, Qt.Key.Key_D):
        hand.press("Text", key)
    text, (first, other, _place) = sentence(27)
    pair = text[first.start : first.end], text[other.start : other.end]
    hand.wait(lambda: links(hand, document) == [pair], "no relation was made")
    hand.press("Text", Qt.Key.Key_Z, CTRL)
    hand.wait(lambda: links(hand, document) == [], "undo did nothing")
    hand.press("Text", Qt.Key.Key_Y, CTRL)
    hand.wait(lambda: links(hand, document) == [pair], "redo did nothing")


def prefers_an_answer_by_mouse(hand, document):
    opens(hand, document)
    hand.click("Choice 1: At 12 o'clock.", at=QPoint(12, 12))
    hand.click("Submit")
    hand.wait(lambda: state_of(hand, document, "better") == "submitted", "not submitted")


def scores_and_suggests_between_predicted_names(hand):
    project = hand.app.project
    run = next(run for run in results.all_runs(project) if run.layer == "links")
    hand.click("Results")
    hand.app.go("results", run=run.id)
    hand.choose("Spans that the relations connect", "finder")
    hand.click("Score end to end")
    selection = hand.app.window.panel("results").state.selection
    hand.wait(lambda: selection.whole is not None, "no scores end to end", PATIENCE)
    same = run.scores["dev"]["relation_f1"]
    assert selection.whole.scores["relation_strict_f1"] == pytest.approx(
        same
    )  # names are all right
    assert any("end-to-end" in row.split for row in selection.score_rows())
    hand.job_ends()
    hand.click("Suggest with this run")
    hand.wait(lambda: not selection.busy, "still predicting", PATIENCE)


def accepts_a_suggested_relation(hand, waiting):

    views = [document_view.view(hand.app.project, id) for id in waiting]
    view = next((view for view in views if view.suggestions), None)
    assert view is not None, "nothing is suggested"
    opens(hand, view.document.id)
    hand.press("Text", Qt.Key.Key_A)
    hand.wait(lambda: len(links(hand, view.document.id)) == 1, "A does not accept")
    spans = document_view.view(hand.app.project, view.document.id).spans
    assert len(spans) == 2  # made with the relation


def corrects_an_error(hand):
    """The prediction of the first document with an error becomes gold, by one key."""
    hand.click("Results")
    bar = next(bar for bar in hand.app.window.findChildren(QTabBar) if bar.isVisible())
    number = next(index for index in range(bar.count()) if bar.tabText(index).startswith("Errors"))
    hand.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(number).center())
    state = hand.app.window.panel("results").state
    if not state.selection.errors:
        return  # the model is right everywhere
    hand.app.window.run_command("results.errors")
    session = hand.app.window.panel("annotate").state.session
    hand.wait(lambda: bool(session.errors) and session.predicted is not None, "no error is shown")
    document = session.document_id
    expected = {(a.label, a.from_span.start, a.to_span.start) for a in session.predicted.relations}
    hand.press("Text", Qt.Key.Key_A)

    def accepted():
        view = document_view.view(hand.app.project, document)
        spans = {row.id: row.start for row in view.spans}
        names = session.label_of
        now = {
            (names[r.label_id][1].name, spans[r.from_span], spans[r.to_span])
            for r in view.relations
        }
        return now == expected

    hand.wait(accepted, "A does not accept the prediction")
