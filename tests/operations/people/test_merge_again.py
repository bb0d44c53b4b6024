"""Merge a file again after changes there or here: corrections come home, nothing is lost."""

from contextlib import closing

import pytest

from tests.operations.people.test_merge import TEXT, handed, label, of
from workbench.base import settings
from workbench.base.errors import SpecError
from workbench.base.settings import Settings
from workbench.operations.annotation import annotate, questions, relations
from workbench.operations.documents import notes
from workbench.operations.people import merge, people
from workbench.operations.people.merge import Choices
from workbench.operations.schema import label_groups, labels
from workbench.project import backup
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.annotation import relations as stored_relations
from workbench.storage.documents import documents, flags
from workbench.storage.labels import labels as stored
from workbench.text.dataset import Record
from workbench.text.document import Document


@pytest.fixture
def ben(lead, tmp_path):
    with closing(handed(lead, tmp_path, {"Ben": [1, 2]})["Ben"]) as project:
        yield project


def counted(merged):
    """(new, replaced, equal, conflicts) of the only person."""
    (row,) = merged.people
    return row.new, row.replaced, row.equal, row.conflicts


def merge_twice(lead, path, choices=None):
    """Merge, undo, redo, and merge again, which changes nothing; returns what was merged."""
    before = dump(lead)
    merged = merge.merge(lead, path, choices)
    after = dump(lead)
    if not merged.is_empty:
        lead.undo()
        assert dump(lead) == before
        lead.redo()
        assert dump(lead) == after
    again = merge.merge(lead, path, choices)
    assert again.is_empty and dump(lead) == after
    return merged


def dump(project):
    tables = ("state", "mark", "span", "relation", "answer", "note", "flag", "suggestion", "label")
    return {
        table: sorted(project.db.reader().execute(f"select * from {table}").fetchall())
        for table in tables
    }


def past(project):
    """All that was labelled before was labelled in 2020."""
    with project.edit("Earlier"):
        project.db.writer.execute("update state set at = '2020-01-01T00:00:00Z'")


def names_of(project):
    return labels.layer_named(project, "names")


def add_name(project, document, start, end):
    return annotate.add_span(project, document, start, end, names_of(project).label("PER").id)


def submit_names(project, document):
    annotate.submit(project, document, [names_of(project).id])


def work_as(project, name):
    people.work_as(project, people.named(project, name).id)


def test_a_stranger_without_a_name_is_not_the_person_of_this_computer(lead, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "load", lambda: Settings(person_uids=["f" * 16]))
    with closing(Project.create(tmp_path / "other.glossbench")) as other:
        labels.add_layer(other, "class", "class", labels=["yes"])
        with other.edit("Import"):
            record = Record(Document("d0", (("text", f"{TEXT} 0"),)))
            documents.add(other.db, [record], source_id=other.source("import"))
        label(other, 1, "yes")
    monkeypatch.setattr(settings, "load", lambda: Settings("Lea", person_uids=["a" * 16]))

    merged = merge.merge(lead, other.path)

    assert [(row.name, row.is_new, row.new) for row in merged.people] == [("me", True, 1)]


def test_a_correction_of_a_submitted_document_comes_home(lead, ben):
    label(ben, 1, "yes")
    merge_twice(lead, ben.path)
    label(ben, 1, "no")

    merged = merge_twice(lead, ben.path)

    assert counted(merged) == (0, 1, 0, 0) and of(lead, "Ben")["d0"][0] == ("no",)


def test_a_deleted_label_of_a_submitted_document_is_deleted_here(lead, ben):
    person = add_name(ben, 1, 0, 3)
    add_name(ben, 1, 8, 11)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    annotate.delete_span(ben, person)

    merged = merge_twice(lead, ben.path)

    assert counted(merged) == (0, 1, 0, 0)
    assert of(lead, "Ben")["d0"][1] == ((8, 11, "PER"),)


def test_corrections_in_files_of_earlier_versions_come_home(lead, ben):
    label(ben, 1, "yes")
    past(ben)
    merge_twice(lead, ben.path)
    label(ben, 1, "no")
    past(ben)  # which did not set the time

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)


def test_a_submitted_document_without_labels_is_replaced_when_it_gets_some(lead, ben):
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    add_name(ben, 1, 0, 3)

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)
    assert of(lead, "Ben")["d0"][1] == ((0, 3, "PER"),)


def test_a_document_that_was_submitted_here_without_labels_stays(lead, ben):
    work_as(lead, "Ben")
    submit_names(lead, 1)
    past(lead)
    add_name(ben, 1, 0, 3)

    assert counted(merge_twice(lead, ben.path)) == (0, 0, 0, 1)
    assert of(lead, "Ben")["d0"][1] == ()


def test_what_was_deleted_here_stays_deleted(lead, ben):
    add_name(ben, 1, 0, 3)
    add_name(ben, 1, 8, 11)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    work_as(lead, "Ben")
    with lead.db.labels_of(people.named(lead, "Ben").id):
        annotate.delete_span(lead, annotations.spans(lead.db, 1)[0].id)
        submit_names(lead, 1)
    work_as(lead, "me")
    add_name(ben, 1, 15, 19)

    assert counted(merge_twice(lead, ben.path)) == (0, 0, 0, 1)
    assert of(lead, "Ben")["d0"][1] == ((8, 11, "PER"),)


def test_a_document_that_is_submitted_after_a_merge_is_submitted_here(lead, ben):
    label(ben, 1, "yes")
    layer = labels.layer_named(ben, "class").id
    with ben.edit("Reset"):
        annotations.set_state(ben.db, [1], layer, ben.annotator_id, "pending")
    merge_twice(lead, ben.path)
    annotate.submit(ben, 1, [layer])

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0)
    assert set(of(lead, "Ben")) == {"d0"}


def test_a_moved_span_takes_its_relations_along(lead, ben):
    first, second = add_name(ben, 1, 0, 3), add_name(ben, 1, 8, 11)
    met = labels.layer_named(ben, "links")
    relate(ben, first, second)
    submit_names(ben, 1)
    annotate.submit(ben, 1, [met.id])
    past(ben)
    merge_twice(lead, ben.path)
    annotate.resize_span(ben, first, 0, 7)

    assert counted(merge_twice(lead, ben.path)) == (0, 2, 0, 0)
    assert of(lead, "Ben")["d0"][1:] == (((0, 7, "PER"), (8, 11, "PER")), ((0, 11),))


def relate(project, first, second):
    met = labels.layer_named(project, "links").label("met").id
    return relations.add_relation(project, first, second, met)


# ---------------------------------------------------------------- names


def test_a_renamed_label_stays_the_same_beside_a_new_one_of_its_former_name(lead, ben):
    layer = labels.layer_named(ben, "class")
    labels.rename_label(ben, layer.label("yes").id, "surely")
    labels.add_label(ben, layer.id, "yes")
    label(ben, 1, "surely")
    label(ben, 2, "yes")

    merge_twice(lead, ben.path)

    assert {key: row[0] for key, row in of(lead, "Ben").items()} == {
        "d0": ("yes",),
        "d1": ("yes (2)",),
    }


def test_a_new_layer_with_the_former_name_of_another_becomes_a_new_layer(lead, ben):
    labels.rename_layer(ben, labels.layer_named(ben, "class").id, "old")
    labels.add_layer(ben, "class", "class", labels=["yes", "no"])
    label(ben, 1, "yes")
    old = labels.layer_named(ben, "old")
    annotate.set_class(ben, 1, old.label("no").id)
    annotate.submit(ben, 1, [old.id])

    merged = merge_twice(lead, ben.path)

    assert merged.renamed == (("class", "class (2)"),)
    assert "Another layer here is called class; the new one becomes class (2)." in list(
        merge.remarks(merged)
    )
    assert counted(merged) == (2, 0, 0, 0)
    assert of(lead, "Ben")["d0"][0] == ("no",)


def test_two_people_there_cannot_be_one_here(lead, ben):
    people.add(ben, "Zed")
    label(ben, 1, "yes")
    work_as(ben, "Zed")
    with ben.db.labels_of(people.named(ben, "Zed").id):
        label(ben, 1, "no")

    with pytest.raises(SpecError, match="Zed.*one person"):
        merge.merge(lead, ben.path, Choices(people={"Zed": "Ben"}))


def test_labels_that_are_chosen_to_be_one_are_not_there_twice(lead, tmp_path):
    labels.add_layer(lead, "topics", "multi", labels=["a", "b"])
    names = names_of(lead)
    with closing(handed(lead, tmp_path, {"Ben": [1]})["Ben"]) as ben:
        topics = labels.layer_named(ben, "topics")
        labels.add_label(ben, topics.id, "c")
        for name in ("a", "c"):
            annotate.set_class(ben, 1, labels.layer_named(ben, "topics").label(name).id)
        annotate.submit(ben, 1, [topics.id])
        first, other = add_name(ben, 1, 0, 3), add_name(ben, 1, 8, 11)
        twin = annotate.add_span(ben, 1, 8, 11, names_of(ben).label("LOC").id)
        for target in (other, twin):
            relate(ben, first, target)
        submit_names(ben, 1)
    choices = Choices(labels={("topics", "c"): "a", (names.name, "LOC"): "PER"})

    merge_twice(lead, ben.path, choices)

    with lead.db.labels_of(people.named(lead, "Ben").id):
        assert len(annotations.marks(lead.db, 1)) == 1
        assert [span.start for span in annotations.spans(lead.db, 1)] == [0, 8]
    assert of(lead, "Ben")["d0"][2] == ((0, 11),)


# ---------------------------------------------------------------- questions


def ask(lead, *texts):
    layer = labels.add_layer(lead, "questions", "answer")
    return layer, [questions.add(lead, 1, layer, text) for text in texts]


def test_answers_of_the_person_who_asked_come_home(lead, tmp_path):
    layer, (who, _where) = ask(lead, "Who?", "Where?")
    suggest(lead, layer, who)
    with closing(handed(lead, tmp_path, {"me": [1]})["me"]) as mine:
        later = questions.add(lead, 1, layer, "When?")
        for row in questions.asked(mine, 1, layer):
            questions.answer(mine, row.id, 0, 3)
        annotate.submit(mine, 1, [layer])

    assert counted(merge_twice(lead, mine.path)) == (0, 1, 0, 0)
    rows = {row.question.text: row for row in questions.asked(lead, 1, layer)}
    answers = {text: row.question.answers for text, row in rows.items()}
    assert answers == {"Who?": ((0, 3),), "Where?": ((0, 3),), "When?": ()}
    assert rows["When?"].id == later
    assert [row.question for row in annotations.suggestions(lead.db, 1)] == [rows["Who?"].id]


def suggest(project, layer, question):
    with project.edit("Suggest"):
        source = project.source("run", "1", annotator=False)
        row = annotations.NewSuggestion(1, layer, None, 8, 11, question=question)
        annotations.add_suggestions(project.db, [row], source_id=source)


def test_chains_in_files_that_were_not_handed_out_come_home_before_they_are_begun(lead, tmp_path):
    with closing(Project.create(tmp_path / "other.glossbench")) as other:
        layer = labels.add_layer(other, "chains", "cluster", labels=["mention"])
        with other.edit("Import"):
            record = Record(Document("d0", (("text", f"{TEXT} 0"),)))
            documents.add(other.db, [record], source_id=other.source("import"))
        mention = labels.layer_named(other, "chains").label("mention").id
        annotate.add_span(other, 1, 0, 3, mention)
        with other.edit("Reset"):
            annotations.set_state(other.db, [1], layer, other.annotator_id, "pending")

    assert [row.new for row in merge_twice(lead, other.path).people] == [1]


# ---------------------------------------------------------------- relations


def test_a_relation_with_another_target_at_the_same_place_is_another(lead, ben):
    first, second = add_name(ben, 1, 0, 3), add_name(ben, 1, 8, 11)
    twin = annotate.add_span(ben, 1, 8, 11, names_of(ben).label("LOC").id)
    relation = relate(ben, first, second)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    relations.delete_relation(ben, relation)
    relate(ben, first, twin)

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 1, 0)


def test_a_relation_of_others_whose_spans_become_one_is_deleted_and_counted(lead, tmp_path):
    names = names_of(lead)
    ada = handed(lead, tmp_path, {"Cleo": [1]})["Cleo"]
    first, second = add_name(ada, 1, 0, 3), add_name(ada, 1, 8, 11)
    third = add_name(ada, 1, 15, 19)
    submit_names(ada, 1)
    past(ada)
    merge_twice(lead, ada.path)
    with lead.edit("The names of Cleo are gold"):
        stored.update_layer(lead.db, names.id, gold=people.named(lead, "Cleo").id)
    with closing(handed(lead, tmp_path, {"Ben": [1]}, context=[names.id])["Ben"]) as ben:
        spans = [row.id for row in annotations.spans(ben.db, 1)]
        relate(ben, spans[0], spans[1])
        relate(ben, spans[0], spans[2])
        relate(ben, spans[1], spans[2])
    merge_twice(lead, ben.path)

    annotate.delete_span(ada, second)
    annotate.resize_span(ada, first, 8, 11)  # where the second was
    merged = merge_twice(lead, ada.path)
    ada.close()

    assert merged.deleted == 1 and third
    assert of(lead, "Ben")["d0"][2] == ((8, 19),)


# ---------------------------------------------------------------- notes and schema


def test_notes_and_flags_alone_are_merged_with_their_spans(lead, ben):
    spans = [add_name(ben, 1, *place) for place in ((0, 3), (8, 11))]
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    notes.set_note(ben, 1, "Sure?", span_id=spans[0])
    with ben.edit("Flag"):
        for span in spans:
            flags.add_to(ben.db, [1], "difficult", ben.annotator_id, span)
    preview = merge.preview(lead, ben.path)

    merged = merge_twice(lead, ben.path)

    assert preview == merged and merged.remarks == 3 and not preview.is_empty
    assert "3 new notes and flags" in " ".join(merge.remarks(merged))
    with lead.db.labels_of(people.named(lead, "Ben").id):
        here = [row.id for row in annotations.spans(lead.db, 1)]
    assert notes.of_document(lead, 1).note(here[0]) == "Sure?"
    assert [row[-1] for row in dump(lead)["flag"] if row[2] == "difficult"] == here


def test_layers_that_were_handed_out_as_context_do_not_come_back(lead, tmp_path):
    names = names_of(lead)
    add_name(lead, 1, 0, 3)
    submit_names(lead, 1)
    with closing(handed(lead, tmp_path, {"Ben": [1]}, context=[names.id])["Ben"]) as ben:
        label(ben, 1, "yes")
    labels.delete_layer(lead, names.id)

    assert merge_twice(lead, ben.path).layers == ()


def test_context_is_editable_in_files_that_are_handed_out_again_without_it(lead, tmp_path):
    names = names_of(lead)
    add_name(lead, 1, 0, 3)
    submit_names(lead, 1)
    folder = tmp_path / "again"
    folder.mkdir()
    with closing(handed(lead, tmp_path, {"Ben": [1]}, context=[names.id])["Ben"]) as ben:
        people.add(ben, "Dan")
        with closing(handed(ben, folder, {"Dan": [1]})["Dan"]) as dan:
            add_name(dan, 1, 8, 11)
            assert len(annotations.spans(dan.db, 1)) == 1


def test_new_layers_and_labels_keep_keys_parents_and_rules(lead, ben):
    names = names_of(ben)
    labels.rename_layer(ben, names.id, "persons")
    labels.rename_label(ben, names.label("PER").id, "person")
    city = labels.add_label(ben, names.id, "city", key="y")
    label_groups.set_parent(ben, [city], names.label("LOC").id)
    kin = labels.add_layer(ben, "kin", "relation", labels=["likes"], options={"spans": "persons"})
    with ben.edit("Rules"):
        options = {"spans": "persons", "pairs": {"likes": [["person", "city"]]}}
        stored.update_layer(ben.db, kin, options=options)
    label(ben, 1, "yes")

    merge_twice(lead, ben.path)

    (added,) = [item for item in names_of(lead).labels if item.name == "city"]
    assert (added.key, added.parent) == ("y", "LOC")
    assert labels.layer_named(lead, "kin").options == {
        "spans": "names",
        "pairs": {"likes": [["PER", "city"]]},
    }


def test_labels_that_were_deleted_with_their_label_there_are_deleted_here(lead, ben):
    person = add_name(ben, 1, 0, 3)
    place = annotate.add_span(ben, 1, 8, 11, names_of(ben).label("LOC").id)
    submit_names(ben, 1)
    past(ben)
    merge_twice(lead, ben.path)
    labels.delete_label(ben, names_of(ben).label("LOC").id)

    assert counted(merge_twice(lead, ben.path)) == (0, 1, 0, 0) and person != place
    assert of(lead, "Ben")["d0"][1] == ((0, 3, "PER"),)


def test_relations_follow_spans_of_the_context_that_were_moved_here(lead, tmp_path):
    spans = [add_name(lead, 1, 0, 3), add_name(lead, 1, 8, 11)]
    submit_names(lead, 1)
    context = [names_of(lead).id]
    with closing(handed(lead, tmp_path, {"Ben": [1]}, context=context)["Ben"]) as ben:
        relate(ben, *(row.id for row in annotations.spans(ben.db, 1)))
        annotate.submit(ben, 1, [labels.layer_named(ben, "links").id])
    annotate.resize_span(lead, spans[0], 0, 7)

    merged = merge_twice(lead, ben.path)

    assert merged.lost == 0 and counted(merged) == (1, 0, 0, 0)
    with lead.db.labels_of(people.named(lead, "Ben").id):
        (relation,) = stored_relations.relations(lead.db, 1)
    assert (relation.from_span, relation.to_span) == tuple(spans)
    assert counted(merge.merge(lead, ben.path)) == (0, 0, 1, 0)


def clear(project, document):
    layer = labels.layer_named(project, "class").id
    annotate.reopen(project, document, [layer])
    annotate.clear_class(project, document, layer)


@pytest.mark.parametrize("more", [False, True])
def test_labels_that_were_all_removed_there_are_removed_here(lead, ben, more):
    label(ben, 1, "yes")
    if more:
        add_name(ben, 1, 0, 3)
        submit_names(ben, 1)
    merge_twice(lead, ben.path)
    clear(ben, 1)
    preview = merge.preview(lead, ben.path)

    merged = merge_twice(lead, ben.path)

    assert preview == merged and counted(merged) == (0, 1, int(more), 0)
    assert merged.removed == 1 and "1 label set was removed" in " ".join(merge.remarks(merged))
    assert of(lead, "Ben").get("d0") == (((), ((0, 3, "PER"),), ()) if more else None)


def test_labels_that_were_undone_there_are_removed_here(lead, ben):
    label(ben, 1, "yes")
    merge_twice(lead, ben.path)
    ben.undo(2)

    assert merge_twice(lead, ben.path).removed == 1
    assert of(lead, "Ben") == {}


def test_labels_that_were_removed_there_stay_if_they_were_changed_here(lead, ben):
    label(ben, 1, "yes")
    merge_twice(lead, ben.path)
    work_as(lead, "Ben")
    with lead.db.labels_of(people.named(lead, "Ben").id):
        label(lead, 1, "no")
    work_as(lead, "me")
    clear(ben, 1)

    merged = merge_twice(lead, ben.path)

    assert merged.is_empty and merged.removed == 0
    assert of(lead, "Ben")["d0"][0] == ("no",)


def test_labels_that_an_older_copy_of_the_file_lacks_stay_and_are_counted(lead, ben, tmp_path):
    label(ben, 2, "yes")
    older = tmp_path / "older.glossbench"
    backup.save_copy(ben, older)
    label(ben, 1, "yes")
    merge_twice(lead, ben.path)

    merged = merge_twice(lead, older)

    assert (merged.missing, merged.removed) == (1, 0)
    assert "1 label set that was merged" in " ".join(merge.remarks(merged))
    assert of(lead, "Ben")["d0"][0] == ("yes",)


def test_a_document_whose_text_is_here_as_another_one_is_not_changed(lead, ben):
    text = Document("x", (("text", "Another text."),))
    with lead.edit("Add"):
        documents.add(lead.db, [Record(text)], source_id=lead.source("import"))
    with ben.edit("Change"):
        write = ben.db.writer.execute
        content = text.text
        write("delete from body where document_id = 1")
        write("insert into body(document_id, field, content) values(1, 'text', ?)", (content,))
        write(
            "update document set text_hash = ?, length = ? where id = 1",
            (text.text_hash, len(content)),
        )
    label(ben, 1, "yes")

    merged = merge.merge(lead, ben.path)

    assert merged.changed == () and set(of(lead, "Ben")) == {"x"}
