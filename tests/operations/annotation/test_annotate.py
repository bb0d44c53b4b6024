import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.annotation.annotate import Filter, NewSuggestion
from workbench.operations.schema import labels
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXT = "Ada met Bob. \U0001f600"


class Setting:
    """A project with a class, a span and a pair layer, three documents and a pair."""

    def __init__(self, path):
        self.project = project = Project.create(path)
        self.klass = labels.add_layer(project, "class", "class", labels=["yes", "no"])
        self.spans = labels.add_layer(project, "spans", "span", labels=["PER", "LOC"])
        self.pairs = labels.add_layer(project, "pairs", "class", texts=2, labels=["same"])
        result = {
            label.name: label.id for layer in labels.layers(project) for label in layer.labels
        }
        self.yes, self.no, self.per, self.loc, self.same = (
            result[name] for name in ("yes", "no", "PER", "LOC", "same")
        )
        records = [Record(Document(f"d{n}", (("text", TEXT),))) for n in range(3)]
        records.append(Record(Document("pair", (("text", "A"), ("text_b", "B")))))
        with project.edit("Import"):
            self.one, self.two, self.three, self.pair = documents.add(
                project.db, records, source_id=project.source("import")
            )
        with project.write():
            self.run = runs.add(project.db, "first run", layer_id=self.spans).id
            self.other_run = runs.add(project.db, "second run", layer_id=self.spans).id

    def view(self, document=None):
        return document_view.view(self.project, document or self.one)

    def suggest(self, *rows, run=None):
        return suggestion_edits.add_suggestions(self.project, run or self.run, rows)

    def span(self, start, end, label=None, document=None, score=0.9):
        return NewSuggestion(
            document or self.one, self.spans, label or self.per, start, end, score=score
        )


@pytest.fixture
def s(tmp_path):
    setting = Setting(tmp_path / "p.glossbench")
    yield setting
    setting.project.close()


# ---------------------------------------------------------------- spans and classes


def test_a_view_has_the_layers_of_the_document_and_their_states(s):
    assert [layer.name for layer in s.view().layers] == ["class", "spans"]
    assert [layer.name for layer in s.view(s.pair).layers] == ["pairs"]
    assert s.view().states == {s.klass: "pending", s.spans: "pending"}
    with pytest.raises(KeyError):
        document_view.view(s.project, 99)


def test_a_span_is_added_once_by_a_person_and_makes_a_draft(s):
    id = annotate.add_span(s.project, s.one, 0, 3, s.per)
    assert annotate.add_span(s.project, s.one, 0, 3, s.per) == id

    (span,) = s.view().spans
    assert (span.start, span.end, span.label_id, span.source_kind, span.score) == (
        0,
        3,
        s.per,
        "person",
        None,
    )
    assert s.view().states == {s.klass: "pending", s.spans: "draft"}


def test_spans_may_nest_and_cross_and_come_in_order_longest_first(s):
    for start, end, label in ((8, 11, s.per), (0, 3, s.per), (0, 11, s.loc), (4, 12, s.loc)):
        annotate.add_span(s.project, s.one, start, end, label)
    assert [(span.start, span.end) for span in s.view().spans] == [
        (0, 11),
        (0, 3),
        (4, 12),
        (8, 11),
    ]


def test_a_span_outside_of_the_text_or_of_a_wrong_layer_is_refused(s):
    for start, end in ((-1, 2), (3, 3), (5, 4), (0, len(TEXT) + 1)):
        with pytest.raises(WorkbenchError, match="is outside the text"):
            annotate.add_span(s.project, s.one, start, end, s.per)
    assert annotate.add_span(s.project, s.one, 13, len(TEXT), s.per)  # the emoji is one code point
    with pytest.raises(WorkbenchError, match="one class per document"):
        annotate.add_span(s.project, s.one, 0, 3, s.yes)
    with pytest.raises(WorkbenchError, match="1 text; pair has 2"):
        annotate.add_span(s.project, s.pair, 0, 1, s.per)
    with pytest.raises(WorkbenchError, match="no text 'other'"):
        annotate.add_span(s.project, s.one, 0, 1, s.per, field="other")


def test_relabel_resize_and_delete_are_each_one_undo_step(s):
    id = annotate.add_span(s.project, s.one, 0, 3, s.per)
    annotate.relabel_span(s.project, id, s.loc)
    annotate.resize_span(s.project, id, 0, 7)
    annotate.delete_span(s.project, id)
    assert s.view().spans == ()

    s.project.undo()
    assert [(span.end, span.label_id) for span in s.view().spans] == [(7, s.loc)]
    s.project.undo()
    assert [(span.end, span.label_id) for span in s.view().spans] == [(3, s.loc)]
    s.project.undo()
    assert [(span.end, span.label_id) for span in s.view().spans] == [(3, s.per)]


def test_a_class_replaces_the_one_before_and_can_be_cleared(s):
    annotate.set_class(s.project, s.one, s.yes)
    annotate.set_class(s.project, s.one, s.no)
    assert [mark.label_id for mark in s.view().marks] == [s.no]
    steps = len(s.project.history())
    annotate.clear_class(s.project, s.one, s.klass)
    assert s.view().marks == () and len(s.project.history()) == steps + 1


def test_a_layer_of_several_classes_keeps_them_side_by_side(s):
    id = labels.add_layer(s.project, "topics", "multi", labels=["a", "b"])
    first, second = (label.id for label in labels.layers(s.project)[-1].labels)
    annotate.set_class(s.project, s.one, first)
    annotate.set_class(s.project, s.one, second)
    assert [mark.label_id for mark in s.view().marks] == [first, second]
    annotate.clear_class(s.project, s.one, id, first)
    assert [mark.label_id for mark in s.view().marks] == [second]


@pytest.fixture
def tags(s):
    """Label ids of a layer with one tag per token."""
    id = labels.add_layer(s.project, "pos", "tag", labels=["NOUN", "VERB"])
    layer = next(layer for layer in labels.layers(s.project) if layer.id == id)
    return id, *(label.id for label in layer.labels)


def test_a_token_has_one_tag(s, tags):
    _layer, noun, verb = tags
    annotate.add_span(s.project, s.one, 0, 3, s.per)
    annotate.add_span(s.project, s.one, 0, 3, noun)
    annotate.add_span(s.project, s.one, 4, 7, noun)

    annotate.add_span(s.project, s.one, 0, 3, verb)

    assert [(row.start, row.label_id) for row in s.view().spans] == [
        (0, s.per), (0, verb), (4, noun),
    ]  # fmt: skip
    s.project.undo()
    assert noun in [row.label_id for row in s.view().spans if row.start == 0]


def test_an_accepted_tag_takes_the_place_of_the_one_there(s, tags):
    layer, noun, verb = tags
    annotate.add_span(s.project, s.one, 0, 3, noun)
    s.suggest(NewSuggestion(s.one, layer, verb, 0, 3, score=0.9))

    suggestion_edits.accept(s.project, [row.id for row in s.view().suggestions])

    assert [(row.start, row.label_id) for row in s.view().spans] == [(0, verb)]


def test_a_document_without_a_tag_is_not_submitted(s, tags):
    layer, noun, _verb = tags

    assert annotate.submit(s.project, s.one, [layer]) == (
        "pos has no label yet; the document stays a draft.",
    )
    id = annotate.add_span(s.project, s.one, 0, 3, noun)
    assert annotate.submit(s.project, s.one, [layer]) == ()
    assert s.view().states[layer] == "submitted"
    annotate.delete_span(s.project, id)
    assert s.view().states[layer] == "draft"


# ---------------------------------------------------------------- states


def test_submit_submits_the_given_layers_alone(s):
    annotate.set_class(s.project, s.one, s.yes)
    assert annotate.submit(s.project, s.one, [s.spans]) == ()
    assert s.view().states == {s.klass: "draft", s.spans: "submitted"}  # no span: a true negative


def test_a_class_layer_without_a_class_stays_draft_and_says_so(s):
    (warning,) = annotate.submit(s.project, s.one, [s.klass, s.spans, s.pairs])
    assert "class has no class yet" in warning
    assert s.view().states == {s.klass: "draft", s.spans: "submitted"}
    assert [
        record.document.id for record in documents.records(s.project.db, submitted_in="spans")
    ] == [s.one]
    assert list(documents.records(s.project.db, submitted_in="class")) == []


def test_editing_leaves_a_submitted_document_submitted(s):
    annotate.set_class(s.project, s.one, s.yes)
    annotate.submit(s.project, s.one, [s.klass, s.spans])
    id = annotate.add_span(s.project, s.one, 0, 3, s.per)
    annotate.delete_span(s.project, id)
    annotate.set_class(s.project, s.one, s.no)
    assert s.view().states == {s.klass: "submitted", s.spans: "submitted"}


def test_a_submitted_document_whose_class_is_cleared_is_a_draft_again(s):
    annotate.set_class(s.project, s.one, s.yes)
    annotate.submit(s.project, s.one, [s.klass])
    annotate.clear_class(s.project, s.one, s.klass)
    assert s.view().states[s.klass] == "draft"


def test_a_class_that_is_set_and_cleared_leaves_the_document_pending(s):
    annotate.set_class(s.project, s.one, s.yes)
    annotate.clear_class(s.project, s.one, s.klass)

    assert s.view().states == {s.klass: "pending", s.spans: "pending"}
    s.project.undo()
    assert s.view().states[s.klass] == "draft" and len(s.view().marks) == 1


def test_a_draft_stays_a_draft_while_something_is_set_in_the_layer(s):
    id = labels.add_layer(s.project, "topics", "multi", labels=["a", "b"])
    first, second = (label.id for label in labels.layers(s.project)[-1].labels)
    annotate.set_class(s.project, s.one, first)
    annotate.set_class(s.project, s.one, second)

    annotate.clear_class(s.project, s.one, id, first)
    assert s.view().states[id] == "draft"
    annotate.clear_class(s.project, s.one, id, second)
    assert s.view().states[id] == "pending"


def test_the_last_span_of_a_draft_leaves_the_document_pending(s):
    first = annotate.add_span(s.project, s.one, 0, 3, s.per)
    second = annotate.add_span(s.project, s.one, 8, 11, s.per)

    annotate.delete_span(s.project, first)
    assert s.view().states[s.spans] == "draft"
    annotate.delete_span(s.project, second)
    assert s.view().states[s.spans] == "pending"


def test_discard_and_reopen(s):
    annotate.discard(s.project, s.one, [s.klass, s.spans])
    assert s.view().states == {s.klass: "discarded", s.spans: "discarded"}
    assert annotate.next_unlabelled(s.project, None, [s.klass, s.spans]) == s.two
    annotate.reopen(s.project, s.one, [s.spans])
    assert s.view().states == {s.klass: "discarded", s.spans: "draft"}
    annotate.add_span(s.project, s.one, 0, 3, s.per)
    assert annotate.next_unlabelled(s.project, None, [s.spans]) == s.one


def test_submitting_is_one_undo_step_and_survives_reopening(s):
    annotate.submit(s.project, s.one, [s.klass, s.spans])
    s.project.close()
    s.project = Project.open(s.project.path)
    assert s.view().states[s.spans] == "submitted"
    assert s.project.undo() == "Submit d0"
    assert s.view().states == {s.klass: "pending", s.spans: "pending"}


# ---------------------------------------------------------------- suggestions


def test_an_accepted_suggestion_is_gold_and_keeps_its_source_and_score(s):
    assert s.suggest(s.span(0, 3, score=0.75), NewSuggestion(s.one, s.klass, s.yes, score=0.6)) == 2
    klass, span = s.view().suggestions
    assert (span.kind, span.source, span.run_id, span.score) == ("span", "first run", s.run, 0.75)
    assert s.view().spans == () and s.view().states[s.spans] == "pending"

    assert suggestion_edits.accept(s.project, [span.id, klass.id]) == 2

    (gold,) = s.view().spans
    assert (gold.start, gold.end, gold.source_kind, gold.source_ref, gold.score) == (
        0,
        3,
        "run",
        str(s.run),
        0.75,
    )
    assert s.view().marks[0].source_kind == "run"
    assert s.view().suggestions == () and s.view().states == {s.klass: "draft", s.spans: "draft"}
    s.project.undo()
    assert len(s.view().suggestions) == 2 and s.view().spans == ()


def test_what_was_rejected_does_not_return_from_the_same_run_but_may_from_another(s):
    s.suggest(s.span(0, 3))
    suggestion_edits.reject(s.project, [s.view().suggestions[0].id])
    assert s.view().suggestions == ()

    assert s.suggest(s.span(0, 3), s.span(8, 11)) == 1
    assert [(row.start, row.end) for row in s.view().suggestions] == [(8, 11)]
    assert s.suggest(s.span(0, 3), run=s.other_run) == 1


def test_suggesting_again_replaces_that_runs_open_suggestions_only(s):
    s.suggest(s.span(0, 3), s.span(0, 3, document=s.two))
    s.suggest(s.span(4, 7), run=s.other_run)
    s.suggest(s.span(8, 11))

    assert [(row.start, row.run_id) for row in s.view().suggestions] == [
        (4, s.other_run),
        (8, s.run),
    ]
    assert s.view(s.two).suggestions == ()
    s.project.undo()
    assert [row.start for row in s.view(s.two).suggestions] == [0]


def test_what_equals_gold_or_stands_there_twice_is_not_suggested(s):
    annotate.add_span(s.project, s.one, 0, 3, s.per)
    annotate.set_class(s.project, s.one, s.yes)
    rows = [
        s.span(0, 3),
        s.span(0, 3, s.loc),
        s.span(0, 3, s.loc),
        NewSuggestion(s.one, s.klass, s.yes),
        NewSuggestion(s.two, s.klass, s.yes),
    ]
    assert s.suggest(*rows) == 2
    assert [(row.kind, row.label_id) for row in s.view().suggestions] == [("span", s.loc)]


def test_an_open_suggestion_is_hidden_once_gold_says_the_same(s):
    s.suggest(s.span(0, 3))
    id = annotate.add_span(s.project, s.one, 0, 3, s.per)
    assert s.view().suggestions == ()
    annotate.delete_span(s.project, id)
    assert len(s.view().suggestions) == 1


def test_accepting_or_rejecting_twice_does_nothing(s):
    s.suggest(s.span(0, 3))
    id = s.view().suggestions[0].id
    assert suggestion_edits.accept(s.project, [id]) == 1
    assert suggestion_edits.accept(s.project, [id]) == suggestion_edits.reject(s.project, [id]) == 0
    assert len(s.view().spans) == 1


# ---------------------------------------------------------------- the queue


def test_neighbours_follow_the_filter(s):
    assert annotate.neighbour(s.project, s.one, 1) == s.two
    assert annotate.neighbour(s.project, s.one, -1) is None
    assert annotate.neighbour(s.project, s.one, 1, Filter(texts=2)) == s.pair
    assert annotate.neighbour(s.project, None, -1) == s.pair
    ids = annotate.queue(s.project, Filter(texts=1))
    assert [row.key for row in annotate.queue_page(s.project, ids, [s.spans])] == ["d0", "d1", "d2"]


def test_the_row_of_the_open_document_is_the_same_without_reading_its_text(s):
    for document in (s.one, s.pair):
        shown = document_view.view(s.project, document)
        read = annotate.queue_page(s.project, [document], [s.spans])

        assert annotate.queue_page(s.project, [document], [s.spans], shown=shown) == read


@pytest.mark.parametrize(
    ("states", "word"),
    [
        (("submitted", "submitted"), "submitted"),
        (("submitted", "pending"), "draft"),
        (("draft", "submitted"), "draft"),
        (("pending", "pending"), "pending"),
        (("discarded", "pending"), "pending"),
        (("discarded", "submitted"), "submitted"),
        (("discarded",), "discarded"),
        ((), "pending"),
    ],
)
def test_the_state_in_several_layers_is_one_word(states, word):
    assert annotate.overall(states) == word


def test_open_documents_are_counted_for_the_chosen_layers(s):
    annotate.submit(s.project, s.one, [s.spans])
    assert annotate.open_count(s.project, [s.spans]) == 2
    assert annotate.open_count(s.project, [s.klass, s.spans]) == 3
    assert annotate.open_count(s.project, [s.pairs]) == 1
