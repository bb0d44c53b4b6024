"""The Inspect page in a window: names, cells, marks."""

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QListWidget, QTableView

from tests.ui.panels.inspect.shown import texts
from tests.ui.panels.inspect.test_state import Host, holding
from workbench.base.options import Option
from workbench.inspection.class_scores.info import ClassProbabilities
from workbench.inspection.spans.info import PredictedSpans
from workbench.inspection.spec import TokenRow, WordRow
from workbench.inspection.subwords.info import EmbeddingParts, Tokenized
from workbench.inspection.token_scores.info import TokenLabels
from workbench.jobs import threads
from workbench.operations.inspecting import inspect as operations
from workbench.operations.inspecting import inspect_host
from workbench.operations.inspecting.inspect import InspectableModel
from workbench.text.spans import Span
from workbench.ui.panels.inspect import saving
from workbench.ui.panels.inspect.controls import OptionForm
from workbench.ui.panels.inspect.declared import view_of
from workbench.ui.panels.inspect.inspector_state import InspectorState
from workbench.ui.panels.inspect.view_list import VIEW
from workbench.ui.panels.inspect.views.plain import PLAIN
from workbench.ui.widgets.controls.button import Button
from workbench.ui.widgets.controls.text_box import TextBox

TEXT = "Ada met Bob in Paris."
CLASSIFIER = InspectableModel("run 2", "first", "/run/2", "classify", 2, "spans")
TAGGER = InspectableModel("run 1", "second · spans", "/run/1", "tag", 1, "spans")


@pytest.fixture
def host(monkeypatch):
    made = Host()
    monkeypatch.setattr(inspect_host, "InspectorHost", lambda **named: made)
    monkeypatch.setattr(threads, "run", holding(threads.run))
    monkeypatch.setattr(operations, "choices", lambda project, settings=None: (TAGGER,))
    return made


@pytest.fixture
def panel(host, make_panel, project_file, monkeypatch):
    from workbench.operations.schema import labels

    found = {}
    monkeypatch.setattr(
        operations,
        "layer",
        lambda project, choice: found.setdefault(
            "spans", next(layer for layer in labels.layers(project) if layer.name == "spans")
        ),
    )
    return make_panel("inspect", project_file)


def named(panel, kind, name):
    return next(
        widget for widget in panel.view.findChildren(kind) if widget.accessibleName() == name
    )


def tagged():
    words = tuple(
        WordRow(start, end, "text", TEXT[start:end]) for start, end in ((0, 3), (4, 7), (8, 11))
    )
    tokens = (
        TokenRow("[CLS]", "[CLS]", 101, 0, 0, "", None, special=True),
        TokenRow("ad", "ad", 4, 0, 2, "text", 0, best=(("B-PER", 0.9), ("O", 0.1))),
        TokenRow("##a", "##a", 5, 2, 3, "text", 0, best=(("I-PER", 0.8), ("O", 0.2))),
        TokenRow("met", "met", 6, 4, 7, "text", 1, best=(("O", 0.99), ("B-LOC", 0.01))),
    )
    return TokenLabels(tokens, words, labels=("PER", "LOC"))


SPANS = PredictedSpans((Span(0, 3, "PER", score=0.85),), ("PER", "LOC"))


def test_the_table_names_word_token_ids_and_the_embeddings_that_are_summed(panel, host):
    panel.state.show("subwords")
    rows = [EmbeddingParts(0, at, 1.5, 0.25, None, 1.75) for at in range(4)]
    host.answer(Tokenized(tagged().tokens, tagged().words, embedded=tuple(rows)))

    table = panel.view._views["subwords"]._table
    model = table.model()
    row = [model.index(2, column).data() for column in range(model.columnCount())]
    assert row[:-1] == ["Ada", "##a", "2–3", "5", "0", "2", "1.50", "0.25", "–", "1.75"]
    hidden = [table.isColumnHidden(column) for column in range(3, model.columnCount() - 1)]
    assert hidden == [False] * 5 + [True, False]
    assert model.rowCount() == 4


def test_return_asks_at_once_and_a_pause_asks_by_itself(panel, host, qtbot):
    line = named(panel, TextBox, "Input")
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, "Hello there")
    asked = len(host.asked)

    qtbot.keyClick(line, "\r")
    assert len(host.asked) == asked + 1 and host.asked[-1].document.text == "Hello there"
    qtbot.keyClicks(line, "!")
    qtbot.waitUntil(lambda: host.asked[-1].document.text == "Hello there!", timeout=3000)


def test_choosing_a_row_outlines_its_subword_and_back(panel, host):
    panel.state.show("subwords")
    host.answer(Tokenized(tagged().tokens, tagged().words))
    tokens = panel.view._views["subwords"]

    tokens._table.selectRow(3)
    assert panel.state.chosen_token == 3 and tokens._strip._number == 3
    tokens._strip._take(1)
    assert tokens._table.current_row()[0] == 1


def test_gold_and_predicted_carry_signs_beside_colours(panel, host):
    panel.state.show("spans")
    host.answer(SPANS)

    captions = [span.caption for span in panel.view._views["spans"]._predicted.spans]
    assert captions == ["+ PER · false positive"]


def test_the_classes_are_bars_with_gold_marked(panel, host, monkeypatch):
    monkeypatch.setattr(
        operations, "gold", lambda *_of: operations.DocumentGold("good", (), True, 0)
    )
    panel.state.update(choices=(CLASSIFIER,))
    panel.state.choose("run 2")
    host.answer(ClassProbabilities((("good", 0.25), ("bad", 0.75))))

    model = named(panel, QTableView, "Classes").model()
    assert [model.index(row, 2).data() for row in range(2)] == ["75.0", "25.0"]
    assert [model.index(row, 1).data() for row in range(2)] == ["", "gold"]
    assert "Gold: good" in texts(panel.view)


def test_right_to_left_text_runs_from_the_right(panel, host):
    panel.state.type_text("שלום עולם")
    words = (WordRow(0, 4, "text", "שלום"), WordRow(5, 9, "text", "עולם"))
    tokens = (TokenRow("a", "של", 1, 0, 4, "text", 0), TokenRow("b", "עו", 2, 5, 9, "text", 1))
    host.answer(TokenLabels(tokens, words))

    strip = panel.view._views["token_scores"].part("words")
    assert strip.area(0).left() > strip.area(1).left()


def doubtful():
    """Ada is certainly a person, met certainly nothing; Paris is in doubt."""
    words = tuple(
        WordRow(start, end, "text", TEXT[start:end]) for start, end in ((0, 3), (4, 7), (15, 20))
    )
    paris = (("B-LOC", 0.6), ("O", 0.3), ("B-PER", 0.1))
    tokens = (
        TokenRow("ada", "ada", 4, 0, 3, "text", 0, best=(("B-PER", 0.98),), entropy=0.14),
        TokenRow("met", "met", 5, 4, 7, "text", 1, best=(("O", 0.99),), entropy=0.08),
        TokenRow("paris", "paris", 6, 15, 20, "text", 2, best=paris, entropy=1.3),
    )
    return TokenLabels(tokens, words, labels=("PER", "LOC"))


@pytest.mark.parametrize("ending", ["png", "svg", "csv", "json"])
def test_a_view_is_saved_as_picture_and_as_data(panel, host, tmp_path, ending):
    host.answer(doubtful())
    path = tmp_path / f"view.{ending}"

    saving.save(panel.view._views["token_scores"], path)

    begins = {"png": b"\x89PNG", "svg": b"<?xml", "csv": b"Word,Start", "json": b"{"}
    assert path.read_bytes().startswith(begins[ending])
    if ending == "csv":
        assert path.read_text().splitlines()[3].startswith("Paris,15,20,paris,1.3,0.6,")


def test_every_control_has_a_name(panel):
    for kind in (QComboBox, TextBox, QTableView):
        for widget in panel.view.findChildren(kind):
            assert widget.accessibleName(), widget


def test_while_the_model_is_loaded_the_page_says_so_and_shows_no_empty_table(panel, host):
    pane = panel.view._panes[0]
    assert panel.state.loading and pane.current() is pane.opening

    host.answer(tagged())
    assert pane.current() is panel.view._views["token_scores"]


def test_the_label_distribution_has_a_table_of_the_words_which_chooses_one(panel, host):
    panel.context.app.window.resize(1280, 800)
    host.answer(tagged())
    table = named(panel, QTableView, "Tokens")
    assert table.isVisible() and [unit.text for unit in table.rows()] == ["Ada", "met"]

    table.selectRow(1)
    assert panel.state.chosen_token == table.rows()[1].first


def test_a_text_without_spans_on_either_side_says_so(panel, host):
    panel.state.show("spans")
    spans = panel.view._views["spans"]
    assert not spans._agreed.isVisibleTo(spans)  # the model has not answered yet

    host.answer(PredictedSpans((), ("PER", "LOC")))

    assert panel.state.gold is not None and not spans._differences
    assert spans._agreed.isVisibleTo(spans) and not spans._table.isVisibleTo(spans)


def test_the_list_offers_the_views_that_fit_and_says_why_others_do_not(panel):
    views = named(panel, QListWidget, "Views")
    offered = [views.item(n).text() for n in range(views.count()) if views.item(n).data(VIEW)]

    answers = ["Tokenization", "Label distribution", "Gold and predicted"]
    assert offered == [*answers, "Words left out", "Smallest change", "Group swap"]
    fold = panel.view._listed._fold
    refused = sum(bool(offer.refused) for offer in panel.state.offers)
    assert f"{refused} views not available" in fold.text()
    assert "Class probabilities: This model does not provide: a class label." in fold.toolTip()


def test_choosing_in_the_list_shows_the_view_and_asks(panel, host):
    views = named(panel, QListWidget, "Views")
    item = next(one for n in range(views.count()) if (one := views.item(n)).data(VIEW) == "spans")

    views.setCurrentItem(item)

    assert panel.state.view == host.asked[-1].inspector == "spans"


def test_a_result_without_a_view_of_its_own_is_a_table_of_its_values(qtbot):
    shown = InspectorState(SimpleNamespace(document=None, choice=None), "subwords")
    view = view_of(PLAIN, shown)
    qtbot.addWidget(view)

    result = {"share": 0.25, "at": {"word": 3}, "map": np.zeros((2, 3))}
    view.show_result(
        {**result, "swaps": [{"first": "late", "fall": 0.5}, {"first": "a", "fall": 0}]}
    )

    model = named_in(view, "Result").model()
    rows = [tuple(model.index(row, column).data() for column in (0, 1)) for row in range(3)]
    assert rows == [("share", "0.25"), ("at.word", "3"), ("map", "array of shape 2 × 3")]
    records = named_in(view, "swaps").model()
    assert [records.headerData(n, Qt.Orientation.Horizontal) for n in (0, 1)] == ["first", "fall"]
    assert [records.index(n, 0).data() for n in (0, 1)] == ["late", "a"]

    view.show_result({"words": [{"text": "late", "parts": [1, 2]}]})

    assert named_in(view, "Result").rows()[0] == ("words.0.text", "late")
    assert not named_in(view, "swaps").isVisibleTo(view)


def test_options_of_an_inspector_without_a_view_are_fields_that_run_it_again(qtbot, monkeypatch):
    options = (
        Option("above", "float", 0.5, "Lowest cosine.", low=0.0, high=1.0),
        Option("all", "bool", False, "All pairs."),
    )
    info = SimpleNamespace(options=options, of_text=())
    monkeypatch.setattr(InspectorState, "info", info)
    shown, asked = InspectorState(SimpleNamespace(document=None, choice=None), "lines.pairs"), []
    monkeypatch.setattr(shown, "ask", lambda: asked.append(dict(shown.options)))
    view = view_of(PLAIN, shown)
    qtbot.addWidget(view)
    form = view.findChild(OptionForm)

    form.control("above").setText("2")
    form.take()
    assert asked == [] and "above" in form.control("above").parentWidget().error()

    form.control("above").setText("0.25")
    form.control("all").setChecked(True)
    form.take()
    assert asked == [{"above": 0.25, "all": True}]


def named_in(widget, name):
    return next(
        table for table in widget.findChildren(QTableView) if table.accessibleName() == name
    )


def test_a_narrow_page_shows_the_button_beside_the_text_by_its_icon(panel, host):
    button = named(panel, Button, "Pick document…")

    panel.view.resize(1000, 600)
    wide = button.text()
    panel.view.resize(500, 600)

    assert "Pick document" in wide and button.text() == ""
    assert "Pick document" in button.toolTip()
    assert button.accessibleName() == "Pick document…"
