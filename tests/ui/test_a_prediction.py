"""A kind of prediction that only a plugin knows, that of the tutorial, in the window: its folder
is all there is of it.
"""

import pytest
from PySide6.QtWidgets import QComboBox

from tests import a_plugin
from workbench.base import registry
from workbench.operations.annotation import document_view, suggest, suggestion_edits
from workbench.operations.application import plugins
from workbench.operations.runs import results
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.ui.panels.annotate.differences import differences
from workbench.ui.panels.results.quality.view import ScatterCard

GRADES = ("low", "middle", "high", "top")
# gold, and the probabilities of being above each grade but the last
ROWS = (
    ("low", (0.2, 0.1, 0.0)),  # predicted low
    ("top", (0.6, 0.2, 0.1)),  # predicted middle, 2 away
    ("high", (0.9, 0.4, 0.2)),  # middle, 1 away
    ("low", (0.9, 0.9, 0.8)),  # top, 3 away
    (None, (0.9, 0.7, 0.1)),  # high
)


@pytest.fixture
def graded(app, tmp_path):
    """The file of a project with five documents and the predictions of a run."""
    registry.registry.cache_clear()
    plugin = plugins.find(str(a_plugin.write_tutorial(tmp_path / "plugins")))
    plugins.enable(plugin, app.settings)
    yield make_project(tmp_path / "p.glossbench")
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()


def make_project(path):
    from my_plugin.grade import Grade

    project = Project.create(path)
    layer = labels.add_layer(project, "grade", "class", labels=GRADES)
    records = [
        Record(
            Document(f"k{n}", (("text", f"Text {n}"),), split="dev" if label else None),
            states={"grade": "submitted"} if label else {},
            marks={"grade": (label,)} if label else {},
        )
        for n, (label, _above) in enumerate(ROWS)
    ]
    with project.edit("Add documents"):
        ids = documents.add(project.db, records, source_id=project.source("person"))
    spec = {"task": "my-plugin.ordered", "layer": "grade", "model": "tiny", "options": {}}
    with project.write():
        scores = {"dev": {"kappa": 0.0, "steps": 1.5}}
        run = runs.add(
            project.db, "first", "train", layer_id=layer, spec=spec, status="done", scores=scores
        )
        rows = [
            (id, record.document.text_hash, Prediction((Grade(GRADES, above),)).to_json())
            for id, record, (_label, above) in zip(ids, records, ROWS, strict=True)
        ]
        runs.save_predictions(project.db, run.id, rows)
    project.close()
    return path


@pytest.fixture
def panel(app, qtbot, graded):
    assert app.open_project(graded, page="results")
    panel = app.window.panel("results")
    qtbot.waitUntil(lambda: panel.state.selection.details is not None, timeout=30_000)
    return panel


def test_its_errors_are_sorted_by_its_distance_and_show_its_widget(panel, qtbot):
    panel.view._tabs.setCurrentIndex(1)
    browser = panel.state.browser
    qtbot.waitUntil(lambda: bool(browser.items), timeout=30_000)

    assert browser.filters.sort == "distance"
    assert [item.mistake.distance for item in browser.shown] == [3, 2, 1]
    boxes = {box.accessibleName(): box for box in panel.view.findChildren(QComboBox)}
    order = boxes["Order"]
    assert [order.itemText(at) for at in range(order.count())] == [
        "Distance from gold",
        "Confidence of the wrong prediction",
        "Order of the documents",
    ]
    own = panel.view.findChild(registry.registry().view("prediction", "my-plugin.grade"))
    assert own.isVisible() and own.message.text() == "Expected 3.6 of 4, 3 from gold"
    assert [row.label for row in browser.detail.rows(browser.item.mistake)] == [*GRADES]


def test_its_table_by_label_keeps_their_order_and_its_quality_is_a_scatter_plot(panel, qtbot):
    evaluation = panel.state.selection.evaluation("dev", "today")
    assert [row.label for row in evaluation.per_label] == [*GRADES]
    # positions 0 3 2 0 and 0 1 1 3: mean squared distance 3.5, by chance 3.25 + 2.75 − 2 · 1.25²
    assert evaluation.scores == {"kappa": pytest.approx(1 - 3.5 / 2.875), "steps": 1.5}

    panel.view._tabs.setCurrentIndex(2)
    card = panel.view.findChild(ScatterCard)
    qtbot.waitUntil(card.isVisible, timeout=30_000)
    (points, _diagonal) = card.chart.series
    assert points.x == (1, 4, 3, 1) and points.y == pytest.approx((1.3, 1.9, 2.5, 3.6))


def test_its_suggestions_say_what_it_says_and_become_labels(panel, app, qtbot):
    run = results.all_runs(app.project)[0]
    (document,) = suggest.waiting_documents(app.project, results.layer_of(app.project, run))
    answer = runs.predictions(app.project.db, run.id)[document.document.id][1]
    rows = suggest.rows_of(app.project, run, results.layer_of(app.project, run), document, answer)
    suggestion_edits.add_suggestions(app.project, run.id, rows, title="Suggest")

    app.go("annotate", document=document.document.id)
    desk = app.window.panel("annotate").state
    session, (row,) = desk.session, desk.session.suggestions
    words = session.origins.view_of(row.run_id).suggestion(session.layers[0], "high")
    assert words == "grade 3 of 4"
    desk.suggested.accept(row.id)
    assert [session.label_of[mark.label_id][1].name for mark in session.doc.marks] == ["high"]


def test_its_error_review_names_the_prediction_in_annotate(panel, app, qtbot):
    run, ids = results.all_runs(app.project)[0], [*documents.ids(app.project.db)]
    app.go("annotate", document=ids[1], run=run.id, errors=(ids[1], ids[3]))
    desk = app.window.panel("annotate").state

    assert differences(desk.session).labels == ("middle",)
    desk.review.accept_answer()
    (mark,) = document_view.view(app.project, ids[1]).marks
    assert desk.session.label_of[mark.label_id][1].name == "middle"
