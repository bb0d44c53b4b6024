"""After each edit, what Annotate shows of the spans is what a new page shows."""

import random

import pytest

from workbench.operations.annotation import annotate, relations, suggestion_edits
from workbench.operations.annotation.annotate import NewSuggestion
from workbench.operations.schema import labels
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.ui.panels.annotate.spans.shown_spans import ShownSpans
from workbench.ui.panels.annotate.state import Desk
from workbench.ui.panels.annotate.view import AnnotateView
from workbench.ui.widgets.text.span_layout import GOLD, SpanIndex


@pytest.fixture
def two_texts(filled):
    """Id of a document with two texts of 40 words and three layers of spans, one in chains."""
    for name, kind in (("roles", "span"), ("first", "span"), ("who", "cluster")):
        labels.add_layer(filled, name, kind, texts=2, labels=("A", "B"))
    texts = (("text", "one two six ten " * 10), ("text_b", "red blue green grey " * 10))
    with filled.edit("Add"):
        ids = documents.add(
            filled.db, [Record(Document("two", texts))], source_id=filled.source("person")
        )
    return ids[0]


@pytest.fixture
def view(two_texts, context, open_view):
    state = Desk(context)
    state.session.open(two_texts)
    yield open_view(state)
    state.close()


def shown(view):
    """What the page shows of spans: in its texts, its list, and its remark on missing labels."""
    state = view.state
    return (
        [(text.field, text.spans, text._spans._reach) for text in view.document_pane.texts],
        view.right.spans.rows(),
        state.session.span_of,
        state.submission.saved_as,
    )


def shown_anew(view, qtbot):
    """The same of a new page on the same document."""
    state = Desk(view.state.context)
    for layer_id in view.state.session.off - state.session.off:
        state.session.switch_layer(layer_id, False)
    state.session.open(view.state.session.document_id)
    new = AnnotateView(state)
    qtbot.addWidget(new)
    new.render(frozenset({"doc"}))
    found = shown(new)
    state.close()
    return found


def span_labels(state):
    return [
        label.id for item in state.session.active if item.traits.in_text for label in item.labels
    ]


def add(state, draw):
    field, start = draw.choice(("text", "text_b")), draw.randrange(120)
    label = draw.choice(span_labels(state))
    id = annotate.add_span(
        state.project,
        state.session.document_id,
        start,
        start + draw.randrange(1, 30),
        label,
        field=field,
    )
    state.session.choose((GOLD, id))


def change(state, draw):
    span = draw.choice(state.session.spans)
    of_layer = [
        label.id
        for layer in state.session.layers
        if layer.id == span.layer_id
        for label in layer.labels
    ]
    annotate.relabel_span(state.project, span.id, draw.choice(of_layer))


def resize(state, draw):
    span = draw.choice(state.session.spans)
    start = draw.randrange(120)
    annotate.resize_span(state.project, span.id, start, start + draw.randrange(1, 60))


def delete(state, draw):
    annotate.delete_span(state.project, draw.choice(state.session.spans).id)


def add_part(state, draw):
    start = draw.randrange(150)
    relations.add_part(state.project, draw.choice(state.session.spans).id, start, start + 3)


def suggest(state, draw):
    layer = next(layer for layer in state.session.layers if layer.name == "roles")
    start, field = draw.randrange(120), draw.choice(("text", "text_b"))
    row = NewSuggestion(
        state.session.document_id, layer.id, layer.labels[0].id, start, start + 9, field, 0.5
    )
    suggestion_edits.add_suggestions(state.project, None, [row], kind="rule", ref="test")


def accept(state, draw):
    if state.session.suggestions:
        state.suggested.accept(draw.choice(state.session.suggestions).id)


def undo(state, _draw):
    state.project.undo()


def redo(state, _draw):
    state.project.redo()


def switch_layer(state, _draw):
    layer = next(layer for layer in state.session.layers if layer.name == "first")
    state.session.switch_layer(layer.id, layer.id in state.session.off)


def rename_label(state, draw):
    labels.rename_label(state.project, span_labels(state)[0], f"A{draw.randrange(9_999)}")


ACTS = (add, add, add, change, resize, delete, add_part, suggest, accept, undo, undo, redo,
        switch_layer, rename_label)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_after_each_act_the_page_shows_what_a_new_one_shows(view, qtbot, seed):
    state, draw = view.state, random.Random(seed)
    for _turn in range(8):
        add(state, draw)

    for _turn in range(25):
        act = draw.choice(ACTS if state.session.spans else (add,))
        act(state, draw)

        assert shown(view) == shown_anew(view, qtbot), act.__name__
        assert list(state.session.spans) == sorted(
            state.session.spans, key=type(state.session.spans).order
        )


def test_an_edit_gives_the_text_only_the_changed_span(view, monkeypatch):
    state, draw = view.state, random.Random(5)
    for _turn in range(8):
        add(state, draw)
    given = []
    text = view.document_pane.texts[0]
    monkeypatch.setattr(text, "set_spans", lambda spans: pytest.fail("all spans were given"))
    monkeypatch.setattr(text, "exchange_spans", lambda gone, come: given.append((gone, come)))

    span = next(span for span in state.session.spans if span.field == "text")
    annotate.resize_span(state.project, span.id, 0, 150)

    assert [[len(gone), len(come)] for gone, come in given] == [[1, 1]]
    assert given[0][1][0][:2] == (0, 150)


def test_a_text_that_missed_an_edit_is_given_all_spans_later(view):
    state, draw, (item, other) = view.state, random.Random(6), view.document_pane.texts[:2]
    shown_spans = ShownSpans(state.session, tuple)
    for _turn in range(6):
        add(state, draw)
        shown_spans.show_in([item])

    shown_spans.show_in([other])

    assert other.spans == SpanIndex(view.document_pane.texts[1].spans).spans
    assert {span.id for span in other.spans} == {
        row.id for row in state.session.spans if row.field == "text_b"
    }


def test_an_edit_of_spans_leaves_the_other_parts_of_the_page_alone(view, monkeypatch):
    state = view.state
    draw, rendered = random.Random(0), []
    for part in (view.head, view.right.metadata, view.right.questions, view.right.relations):
        monkeypatch.setattr(part, "render", lambda part=part: rendered.append(part))
    add(state, draw)  # the document becomes a draft, which all parts show
    assert len(rendered) == 3  # there are no questions

    rendered.clear()
    for label in span_labels(state)[:1] * 3:
        annotate.add_span(
            state.project, state.session.document_id, len(state.session.spans), 150, label
        )
    before = len(state.session.spans)
    rendered.clear()
    annotate.add_span(state.project, state.session.document_id, 90, 95, span_labels(state)[0])
    assert rendered == []
    assert len(state.session.spans) == before + 1 == len(view.right.spans.rows())
    assert (
        len(view.document_pane.texts[0].spans) + len(view.document_pane.texts[1].spans)
        == before + 1
    )
