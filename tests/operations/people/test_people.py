"""People of a project: whose labels are shown, and who wrote them."""

from contextlib import closing

import pytest

from workbench.base import settings
from workbench.base.errors import ExportFailed, ProjectError, SpecError, WorkbenchError
from workbench.base.settings import Settings
from workbench.operations.annotation import annotate, document_view, relations, values
from workbench.operations.documents import corpus, notes, queries, removal
from workbench.operations.people import adjudication, hand_out, people
from workbench.operations.schema import label_moves, labels
from workbench.operations.transfer import data_export, data_import
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import suggestions
from workbench.storage.annotation.suggestions import NewSuggestion
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.scale import Scale


@pytest.fixture
def project(tmp_path):
    with closing(Project.create(tmp_path / "p.glossbench")) as project:
        labels.add_layer(project, "class", "class", labels=["yes", "no"])
        labels.add_layer(project, "spans", "span", labels=["PER"])
        with project.edit("Import"):
            records = [Record(Document(f"d{n}", (("text", "Ada met Bob."),))) for n in range(2)]
            documents.add(project.db, records, source_id=project.source("import"))
        yield project


def label(project, document, name):
    layer = labels.layer_named(project, "class")
    annotate.set_class(project, document, layer.label(name).id)
    annotate.submit(project, document, [layer.id])


def classes(project, document=1):
    (record,) = documents.records(project.db, ids=[document])
    return record.marks.get("class", ()), record.states.get("class")


def test_each_person_has_labels_of_their_own(project):
    ben = people.add(project, "Ben")
    label(project, 1, "yes")

    people.work_as(project, ben.id)
    assert classes(project) == ((), None)
    label(project, 1, "no")
    assert classes(project) == (("no",), "submitted")

    with project.db.labels_of(1):
        assert classes(project) == (("yes",), "submitted")
    assert classes(project) == (("no",), "submitted")
    assert document_view.view(project, 1).marks[0].made_by == ben.id
    project.undo(3)  # submit, class, label as
    assert classes(project) == (("yes",), "submitted") and people.current(project).id == 1
    project.redo(3)
    path = project.path
    project.close()
    assert check(path) == []
    with closing(Project.open(path)) as again:
        assert people.current(again).name == "Ben" and classes(again) == (("no",), "submitted")


def test_labels_are_written_as_gold_and_say_who_wrote_them(project):
    gold = people.add(project, "gold")
    layer = labels.layer_named(project, "spans")
    people.set_gold(project, layer.id, gold.id)

    annotate.add_span(project, 1, 0, 3, layer.label("PER").id)
    label(project, 1, "yes")

    (record,) = documents.records(project.db, ids=[1])
    assert [span.label for span in record.spans["spans"]] == ["PER"]
    assert project.gold(layer.id) == gold.id
    (span,) = document_view.view(project, 1).spans
    assert span.made_by == project.annotator_id
    with project.db.labels_of(project.annotator_id):
        (own,) = documents.records(project.db, ids=[1])
    assert own.spans == {} and own.marks["class"] == ("yes",)


def test_names_initials_and_colours(project):
    ada = people.add(project, "  Ada  Lovelace ", colour="#aa3377")
    assert (ada.name, ada.initials, ada.colour) == ("Ada Lovelace", "AL", "#aa3377")
    assert len(ada.uid) == 16

    people.change(project, ada.id, "Ada King", initials="AK", colour="#000000")
    assert people.named(project, "Ada King").initials == "AK"
    for name in ("", " ", "Ada King"):
        with pytest.raises(SpecError):
            people.add(project, name)
    with pytest.raises(SpecError, match="Nobody in this project"):
        people.named(project, "Cid")


def test_the_person_of_this_computer_is_the_same_in_all_its_projects(project, tmp_path):
    own = settings.load()
    own.annotator, own.initials, own.colour = "Ada", "AL", "#aa3377"
    own.save()

    with closing(Project.create(tmp_path / "second.glossbench")) as second:
        ada = people.current(second)
    path = project.path
    project.close()
    with closing(Project.open(path)) as again:
        assert people.current(again) == ada
    assert (ada.name, ada.initials, ada.colour) == ("Ada", "AL", "#aa3377")
    assert settings.load().is_own(ada.uid)


def test_another_computer_has_another_person(tmp_path, monkeypatch):
    with closing(Project.create(tmp_path / "here.glossbench")) as here:
        own = people.current(here).uid
    monkeypatch.setattr(settings, "load", lambda: Settings(person_uids=["f" * 16]))

    with closing(Project.create(tmp_path / "there.glossbench")) as there:
        assert people.current(there).uid == "f" * 16 != own
    assert not settings.load().is_own(own)


def test_working_as_another_person_ends_when_it_is_undone(project):
    ben, cleo = people.add(project, "Ben"), people.add(project, "Cleo")
    people.work_as(project, ben.id)
    people.work_as(project, cleo.id)

    names = [people.current(project).name]
    for _step in range(2):
        project.undo()
        names.append(people.current(project).name)
    label(project, 1, "yes")  # the steps that were undone cannot be redone any more
    assert names == ["Cleo", "Ben", "me"] and people.current(project).name == "me"
    people.work_as(project, ben.id)
    path = project.path
    project.close()
    assert check(path) == []
    with closing(Project.open(path)) as again:
        assert people.current(again).name == again.annotator_name == "Ben"


def test_blind_mode_hides_the_layers_of_others(project):
    gold = people.add(project, "gold")
    layer = labels.layer_named(project, "spans")
    people.set_gold(project, layer.id, gold.id)
    assert people.hidden_layers(project) == {} and not people.is_blind(project)

    people.set_blind(project, True)
    assert people.hidden_layers(project) == {layer.id: "gold"}

    people.set_blind(project, False)
    assert people.hidden_layers(project) == {}


@pytest.fixture
def shared(project):
    """Ada labelled document 1 and left a suggestion and a prediction there; Ben labels."""
    label(project, 1, "yes")
    spans = labels.layer_named(project, "spans")
    annotate.add_span(project, 1, 0, 3, spans.label("PER").id)
    with project.edit("Suggest"):
        rule = project.source("rule", "names")
        suggested = NewSuggestion(1, spans.id, spans.label("PER").id, 8, 11, score=0.25)
        suggestions.add_suggestions(project.db, [suggested], source_id=rule)
    with project.write():
        run = runs.add(project.db, "first", "train", layer_id=spans.id)
        runs.save_predictions(project.db, run.id, [(1, "0" * 32, {"label": "yes"})])
    people.work_as(project, people.add(project, "Ben").id)
    return project


ASKED = ("has:label", "has:span", "source:rule", "score<0.5", "label:PER", "spans>0")


def answers(project):
    return {query: list(queries.matching(project, query)) for query in ASKED}


def test_blind_mode_lets_no_query_answer_from_labels_of_others_or_suggestions(shared):
    assert answers(shared)["has:label"] == answers(shared)["score<0.5"] == [1]

    people.set_blind(shared, True)
    assert people.follow_blind_mode(shared) and not people.follow_blind_mode(shared)
    assert not any(answers(shared).values())
    assert runs.predictions(shared.db, 1) == {}
    with pytest.raises(ProjectError, match="Blind mode"), shared.db.labels_of(1):
        pass
    label(shared, 2, "no")
    assert answers(shared)["has:label"] == [2]

    people.set_blind(shared, False)
    assert people.follow_blind_mode(shared)
    assert answers(shared)["has:label"] == [1, 2] and answers(shared)["score<0.5"] == [1]


def test_what_a_deletion_affects_is_counted_for_all_people_in_blind_mode(shared):
    spans = labels.layer_named(shared, "spans")
    people.set_blind(shared, True)
    people.follow_blind_mode(shared)

    sentence = labels.will_go(shared, [spans.label("PER").id])

    assert "1 span and 1 open suggestion in 1 document" in sentence
    assert "1 span and 1 open suggestion" in labels.will_go(shared, layer_id=spans.id)
    people.set_blind(shared, False)
    people.follow_blind_mode(shared)
    assert labels.will_go(shared, [spans.label("PER").id]) == sentence


def test_labels_in_a_layer_that_a_second_person_adds_are_of_that_person(shared):
    score = labels.add_layer(shared, "score", "score")

    values.set_number(shared, 1, score, 0.5)

    (mark,) = document_view.view(shared, 1).marks
    assert (mark.layer_id, mark.made_by) == (score, shared.annotator_id) and mark.made_by != 1
    with shared.db.labels_of(1):
        assert document_view.view(shared, 1).value(score) is None


def test_values_of_two_people_in_one_document_are_counted_before_their_layer_is_deleted(shared):
    score = labels.add_layer(shared, "score", "score")
    values.set_number(shared, 1, score, 0.5)
    people.work_as(shared, people.add(shared, "Cem").id)
    values.set_number(shared, 1, score, 1.0)

    assert "also deletes 2 values in 1 document." in labels.will_go(shared, layer_id=score)


def test_edits_in_blind_mode_change_nothing_of_others(shared, tmp_path):
    people.set_blind(shared, True)
    people.follow_blind_mode(shared)
    label(shared, 1, "no")
    shared.undo(2)
    shared.redo(2)

    with pytest.raises(ExportFailed, match="prediction"):
        run = runs.all(shared.db)[0]
        data_export.export_data(
            shared, tmp_path / "x.jsonl", format="glossbench", source="predictions", run=run
        )
    path = shared.path
    shared.close()
    assert check(path) == []
    with closing(Project.open(path)) as again, again.db.labels_of(1):
        assert classes(again) == (("yes",), "submitted")


def test_progress_counts_the_assigned_documents_that_a_person_submitted(project, tmp_path):
    ben = people.add(project, "Ben")
    hand_out.hand_out(project, {ben.id: [1, 2]}, {ben.id: tmp_path / "ben.glossbench"})
    people.work_as(project, ben.id)
    label(project, 2, "no")

    (_me, row) = people.overview(project)

    assert (row.person.name, row.assigned, row.done, row.submitted) == ("Ben", 2, 1, 1)


def test_tables_and_queries_of_documents_show_gold_alone(project):
    ben = people.add(project, "Ben")
    spans = labels.layer_named(project, "spans")
    people.work_as(project, ben.id)
    label(project, 1, "yes")
    annotate.add_span(project, 1, 0, 3, spans.label("PER").id)

    def row():
        (shown,) = corpus.rows(project, [1])
        return shown.classes, shown.span_count, list(queries.matching(project, "label:yes,PER"))

    assert row() == ((("class", "yes"),), 1, [1])
    people.work_as(project, 1)
    assert row() == ((), 0, [])


# ---------------------------------------------------------------- labels of two people


@pytest.fixture
def two(project):
    """Ada (1) labels two spans in document 1 and submits both documents; Ben labels now."""
    spans = labels.layer_named(project, "spans")
    person = spans.label("PER").id
    place = labels.add_labels(project, spans.id, ["LOC"])["LOC"]
    for start, end, label in ((0, 3, person), (8, 11, place)):
        annotate.add_span(project, 1, start, end, label)
    for document in (1, 2):
        annotate.submit(project, document, [spans.id])
    people.work_as(project, people.add(project, "Ben").id)
    return project


def rows(project, table="span", columns='start, "end", annotator_id'):
    statement = f"select {columns} from {table} order by id"
    return [tuple(row) for row in project.db.reader().execute(statement).fetchall()]


def test_a_tag_replaces_that_of_the_same_person_only(project):
    labels.add_layer(project, "tags", "tag", labels=["N", "V"])
    noun, verb = (label.id for label in labels.layer_named(project, "tags").labels)
    annotate.add_span(project, 1, 0, 3, noun)
    people.work_as(project, people.add(project, "Ben").id)
    annotate.add_span(project, 1, 0, 3, noun)

    annotate.add_span(project, 1, 0, 3, verb)

    who = project.annotator_id
    assert rows(project, columns="label_id, annotator_id") == [(noun, 1), (verb, who)]


def test_chains_of_others_stay_as_they_are(project):
    chains = labels.add_layer(project, "chains", "cluster")
    (mention,) = labels.layer_named(project, "chains").labels
    ids = [annotate.add_span(project, 1, start, start + 3, mention.id) for start in (0, 8)]
    before = rows(project, columns="group_id, source_id")
    people.work_as(project, people.add(project, "Ben").id)
    ids = [annotate.add_span(project, 1, start, start + 3, mention.id) for start in (0, 8)]
    with project.edit("The same numbers"):
        for number, id in enumerate(ids, 1):
            project.db.writer.execute("update span set group_id = ? where id = ?", (number, id))

    relations.merge_chains(project, *ids)

    assert rows(project, columns="group_id, source_id")[:2] == before
    assert len({chain for chain, _source in rows(project, columns="group_id, id")[2:]}) == 1
    assert project.gold(chains) == project.annotator_id


def test_imported_layers_are_those_of_the_person_who_imports(two, inline_jobs, tmp_path):
    path = tmp_path / "new.jsonl"
    path.write_text('{"text": "A fine day.", "mood": "good"}\n')

    data_import.import_files(
        two, inline_jobs, [path], mapping=[("text", "text"), ("label:mood", "mood")]
    )

    assert {who for (who,) in rows(two, "mark", "annotator_id")} == {two.annotator_id}


def test_a_label_that_cannot_move_because_of_others_cannot_move_in_blind_mode(two):
    spans = labels.layer_named(two, "spans")
    links = labels.add_layer(two, "links", "relation", labels=["met"], options={"spans": "spans"})
    other = labels.add_layer(two, "other", "span")
    with two.db.labels_of(1):
        first, _second = (id for (id,) in rows(two, columns="id"))
    with two.edit("A relation of Ada"):
        source = two.source("person")
        met = labels.layer_named(two, "links").labels[0].id
        add = (
            "insert into relation(uid, document_id, layer_id, label_id, from_span, to_span,"
            " annotator_id, source_id) values('0123456789abcdef', 1, ?, ?, ?, ?, 1, ?)"
        )
        two.db.writer.execute(add, (links, met, first, first + 1, source))
    person = spans.label("PER").id
    with pytest.raises(WorkbenchError) as usual:
        label_moves.move(two, [person], other)

    people.set_blind(two, True)
    people.follow_blind_mode(two)
    with pytest.raises(WorkbenchError) as blind:
        label_moves.move(two, [person], other)

    assert str(usual.value) == str(blind.value)


def test_a_moved_label_keeps_the_submissions_of_people_who_did_not_use_it(two):
    spans = labels.layer_named(two, "spans")
    other = labels.add_layer(two, "other", "span")
    for document in (1, 2):
        annotate.submit(two, document, [spans.id])

    label_moves.move(two, [spans.label("PER").id], other)

    states = rows(two, "state", "annotator_id, document_id, state, layer_id")
    assert {row[:3] for row in states if row[3] == other} == {
        (who, document, "submitted") for who in (1, two.annotator_id) for document in (1, 2)
    }


def test_a_scale_holds_the_numbers_of_all_people(two):
    score = labels.add_layer(two, "score", "score", options={"minimum": 0, "maximum": 5, "step": 1})
    values.set_number(two, 1, score, 5.0)
    people.work_as(two, 1)

    with pytest.raises(WorkbenchError, match="1 number of score is not on this scale"):
        values.set_scale(two, score, Scale(0.0, 3.0, 1.0))


def test_a_relation_that_loses_its_span_is_no_longer_a_draft_of_its_person(two):
    spans = labels.layer_named(two, "spans")
    people.set_gold(two, spans.id, 1)
    links = labels.add_layer(two, "links", "relation", labels=["met"], options={"spans": "spans"})
    first, second = (row.id for row in document_view.view(two, 1).spans)
    relations.add_relation(two, first, second, labels.layer_named(two, "links").labels[0].id)
    ben = two.annotator_id
    people.work_as(two, 1)

    annotate.delete_span(two, first)

    assert rows(two, "relation", "id") == []
    assert (links, ben) not in rows(two, "state", "layer_id, annotator_id")


def test_notes_pass_to_the_span_that_stays(project):
    spans = labels.layer_named(project, "spans")
    person = spans.label("PER").id
    place = labels.add_labels(project, spans.id, ["LOC"])["LOC"]
    first = annotate.add_span(project, 1, 0, 3, person)
    second = annotate.add_span(project, 1, 0, 3, place)
    notes.set_note(project, 1, "Sure?", span_id=first)

    annotate.relabel_span(project, second, person)

    (row,) = document_view.view(project, 1).spans
    assert notes.of_document(project, 1).note(row.id) == "Sure?"


def test_a_note_that_another_person_continues_stays_the_note_of_its_author(project):
    notes.set_note(project, 1, "Who is Ada?\nAnd Bob?")
    people.work_as(project, people.add(project, "Ben").id)

    notes.set_note(project, 1, "Who is Ada?\nAnd Bob?\nHer brother.")
    assert rows(project, "note", "body, annotator_id") == [
        ("Who is Ada?\nAnd Bob?", 1),
        ("Her brother.", project.annotator_id),
    ]

    notes.set_note(project, 1, "Who is Ada?\nAnd Bob?")
    assert rows(project, "note", "body, annotator_id") == [("Who is Ada?\nAnd Bob?", 1)]
    notes.set_note(project, 1, "Ada is known.")
    assert rows(project, "note", "body, annotator_id") == [("Ada is known.", project.annotator_id)]
    project.undo()
    assert notes.of_document(project, 1).note() == "Who is Ada?\nAnd Bob?"


def test_blind_mode_hides_no_text_from_the_removal_of_a_document(two):
    people.set_blind(two, True)
    people.follow_blind_mode(two)

    assert removal.preview(two, [1]).found.labels == 2


def test_layers_of_others_are_left_out_of_an_export_in_blind_mode(two, tmp_path):
    spans = labels.layer_named(two, "spans")
    people.set_gold(two, spans.id, 1)
    people.set_blind(two, True)
    people.follow_blind_mode(two)

    outcome = data_export.export_data(two, tmp_path / "x.jsonl", format="glossbench")

    assert "Blind mode: spans are left out." in outcome.warnings
    assert "spans" not in (tmp_path / "x.jsonl").read_text()


def test_adjudication_cannot_begin_in_blind_mode(two):
    spans = labels.layer_named(two, "spans")
    annotate.submit(two, 1, [spans.id])
    people.set_blind(two, True)
    people.follow_blind_mode(two)

    with pytest.raises(ProjectError, match="Blind mode hides the labels of others"):
        adjudication.begin(two, people.every(two), [spans])

    assert {person.name for person in people.every(two)} == {"me", "Ben"}
