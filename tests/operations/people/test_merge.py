"""Hand out documents, label them apart, and merge: nothing is lost, nothing overwritten."""

import os
import random
import sqlite3
from contextlib import closing

import pytest

from workbench.base import settings
from workbench.base.errors import Cancelled, ProjectError, SpecError, WorkbenchError
from workbench.base.settings import Settings
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate, questions, relations
from workbench.operations.documents import notes
from workbench.operations.people import agreement, hand_out, merge, people
from workbench.operations.people.hand_out import Overlap
from workbench.operations.people.merge import Choices
from workbench.operations.schema import guideline, labels
from workbench.project.check import check
from workbench.project.project import Project
from workbench.storage.annotation import annotations
from workbench.storage.documents import documents
from workbench.storage.integrity import integrity
from workbench.storage.labels import labels as stored
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXT = "Ada met Bob in Rome."


def handed(lead, tmp_path, parts, **more):
    """Person → open project of the file that was handed out to them."""
    files = {people.named(lead, name).id: tmp_path / f"{name}.glossbench" for name in parts}
    ids = {people.named(lead, name).id: documents for name, documents in parts.items()}
    hand_out.hand_out(lead, ids, files, **more)
    return {name: Project.open(tmp_path / f"{name}.glossbench") for name in parts}


def label(project, document, name):
    layer = labels.layer_named(project, "class")
    annotate.set_class(project, document, layer.label(name).id)
    annotate.submit(project, document, [layer.id])


def name_people(project, document, end=3):
    """Two names and the relation between them."""
    names, links = (labels.layer_named(project, name) for name in ("names", "links"))
    person = names.label("PER").id
    ada = annotate.add_span(project, document, 0, end, person)
    bob = annotate.add_span(project, document, 8, 11, person)
    relations.add_relation(project, ada, bob, links.label("met").id)
    annotate.submit(project, document, [names.id, links.id])


def of(project, name):
    """Document key → class, spans and relations of a person."""
    with project.db.labels_of(people.named(project, name).id):
        return {
            record.document.key: (
                record.marks.get("class", ()),
                tuple((s.start, s.end, s.label) for s in record.spans.get("names", ())),
                tuple(
                    (r.from_span.start, r.to_span.end) for r in record.relations.get("links", ())
                ),
            )
            for record in documents.records(project.db)
            if record.states
        }


def test_two_people_label_apart_and_both_versions_come_home(lead, tmp_path):
    homes = handed(lead, tmp_path, {"Ben": [1, 2, 3], "Cleo": [3, 4]})
    ben, cleo = homes["Ben"], homes["Cleo"]
    assert [d.key for d in (r.document for r in documents.records(ben.db))] == ["d0", "d1", "d2"]
    assert people.current(ben).uid == people.named(lead, "Ben").uid
    assert [layer.uid for layer in labels.layers(ben)] == [x.uid for x in labels.layers(lead)]
    for project, ids in ((ben, (1, 3)), (cleo, (3, 4))):
        for id in ids:
            label(project, id, "yes" if project is ben else "no")
            name_people(project, id, 3 if project is ben else 7)
    notes.set_note(ben, 1, "A doubtful one.")
    ben.close(), cleo.close()

    preview = merge.preview(lead, ben.path)
    assert preview.documents == {"uid": 3, "key": 0, "text": 0, "new": 0}
    assert [(row.name, row.is_new, row.new) for row in preview.people] == [("Ben", False, 6)]
    assert of(lead, "Ben") == {}  # a preview changes nothing
    done = merge.merge(lead, ben.path)
    merge.merge(lead, cleo.path)

    assert done == preview
    said = (("yes",), ((0, 3, "PER"), (8, 11, "PER")), ((0, 11),))
    assert of(lead, "Ben") == {"d0": said, "d2": said}
    other = (("no",), ((0, 7, "PER"), (8, 11, "PER")), ((0, 11),))
    assert of(lead, "Cleo") == {"d2": other, "d3": other}
    assert notes.of_document(lead, 1).note() == "A doubtful one."
    layer = labels.layer_named(lead, "names")
    compared = agreement.compare(lead, layer, agreement.annotators(lead, layer), rounds=10)
    assert compared.value("span_f1").value == 0.5
    assert hand_out.assigned(lead)[people.named(lead, "Cleo").uid] == [3, 4]
    lead.undo(2)
    assert of(lead, "Ben") == of(lead, "Cleo") == {}
    lead.redo(2)
    assert of(lead, "Ben") == {"d0": said, "d2": said}
    lead.close()
    assert check(lead.path) == check(ben.path) == []


def lead_names(lead, documents=(1, 2, 5)):
    """The lead marks two people in each document and submits it."""
    names = labels.layer_named(lead, "names")
    for document in documents:
        annotate.add_span(lead, document, 0, 3, names.label("PER").id)
        annotate.add_span(lead, document, 8, 11, names.label("PER").id)
        annotate.submit(lead, document, [names.id])
    return names


def link(project, document):
    """Connect the two spans of the document that are shown; returns them."""
    met = labels.layer_named(project, "links")
    spans = [row.id for row in annotations.spans(project.db, document)]
    relations.add_relation(project, *spans, met.label("met").id)
    annotate.submit(project, document, [met.id])
    return spans


def test_spans_of_the_lead_go_along_read_only_and_only_the_relations_come_home(lead, tmp_path):
    names = lead_names(lead)
    parts = {"Ben": [1, 2, 6], "Cleo": [1, 2, 6]}
    homes = handed(lead, tmp_path, parts, context=[names.id], blind=True, test_labels=False)
    for project in homes.values():
        people.follow_blind_mode(project)
        assert people.hidden_layers(project) == {}
        (first, _second) = link(project, 1)
        with pytest.raises(WorkbenchError, match="names are read-only"):
            annotate.resize_span(project, first, 0, 7)
        with pytest.raises(WorkbenchError, match="read-only"):
            annotate.add_span(project, 2, 12, 15, labels.layer_named(project, "names").labels[0].id)
        assert len(annotations.spans(project.db, 2)) == 2
        assert annotate.submit(project, 2, [names.id]) == ()
    link(homes["Ben"], 2)
    for project in homes.values():
        project.close()
        assert check(project.path) == []
    merged = [merge.merge(lead, project.path) for project in homes.values()]
    assert [(row.name, row.new) for done in merged for row in done.people] == [
        ("Ben", 2),
        ("Cleo", 1),
    ]

    assert merge.merge(lead, homes["Ben"].path).is_empty
    me, ben = (annotations.spans(lead.db, 1), of(lead, "Ben"))
    assert ben == {"d0": ((), (), ((0, 11),)), "d1": ((), (), ((0, 11),))}
    assert [(span.start, span.made_by) for span in me] == [(0, 1), (8, 1)]
    links = labels.layer_named(lead, "links")
    who = [x for x in agreement.annotators(lead, links) if x.name in parts]
    assert agreement.compare(lead, links, who, rounds=10).value("f1").value == 1
    lead.undo(2)
    assert of(lead, "Ben") == {}
    lead.redo(2)
    assert of(lead, "Ben") == ben
    lead.close()
    assert check(lead.path) == []


def test_relations_whose_spans_the_lead_deleted_are_counted_and_left_out(lead, tmp_path):
    names = lead_names(lead, [1])
    ben = handed(lead, tmp_path, {"Ben": [1]}, context=[names.id])["Ben"]
    link(ben, 1)
    ben.close()
    annotate.delete_span(lead, annotations.spans(lead.db, 1)[0].id)

    merged = merge.merge(lead, ben.path)

    assert merged.lost == 1 and "1 relation is left out" in " ".join(merge.remarks(merged))
    assert of(lead, "Ben") == {"d0": ((), (), ())}
    assert merge.merge(lead, ben.path).is_empty
    lead.close()
    assert check(lead.path) == []


def test_relations_of_others_stay_with_the_newer_version_of_the_spans(lead, tmp_path):
    names, links = (labels.layer_named(lead, name) for name in ("names", "links"))
    ada = handed(lead, tmp_path, {"Cleo": [1, 2]})["Cleo"]
    lead_names(ada, [1, 2])
    merge.merge(lead, ada.path)
    with lead.edit("The names of Cleo are gold"):
        stored.update_layer(lead.db, names.id, gold=people.named(lead, "Cleo").id)
    ben = handed(lead, tmp_path, {"Ben": [1, 2]}, context=[names.id])["Ben"]
    for document in (1, 2):
        link(ben, document)
    ben.close()
    merge.merge(lead, ben.path)
    before = of(lead, "Ben")
    person = annotations.spans(lead.db, 1)[0]
    notes.set_note(lead, 1, "Sure?", span_id=person.id)

    first, gone = (annotations.spans(ada.db, document)[0].id for document in (1, 2))
    annotate.resize_span(ada, first, 0, 7)
    annotate.delete_span(ada, gone)
    with ada.edit("later"):
        ada.db.writer.execute("update state set at = '2031-01-01T00:00:00Z'")
    ada.close()
    preview = merge.preview(lead, ada.path)
    merged = merge.merge(lead, ada.path)

    assert preview.deleted == merged.deleted == 1
    assert list(integrity.problems(lead.db)) == []
    assert "1 relation is deleted" in " ".join(merge.remarks(merged))
    assert of(lead, "Ben") == {"d0": ((), (), ((0, 11),)), "d1": ((), (), ())}
    assert [row.end for row in annotations.spans(lead.db, 1)] == [7, 11]
    assert notes.of_document(lead, 1).note(annotations.spans(lead.db, 1)[0].id) == "Sure?"
    lead.undo()
    assert of(lead, "Ben") == before
    lead.redo()
    assert len(of(lead, "Ben")["d1"][2]) == 0
    lead.close()
    assert check(lead.path) == []


def test_mentions_of_the_lead_are_what_chains_begin_with(lead, tmp_path):
    labels.add_layer(lead, "chains", "cluster", labels=["mention"])
    chains = labels.layer_named(lead, "chains")
    for document in (1, 2):
        first = annotate.add_span(lead, document, 0, 3, chains.labels[0].id)
        second = annotate.add_span(lead, document, 8, 11, chains.labels[0].id)
        relations.merge_chains(lead, second, first)
        annotate.submit(lead, document, [chains.id])
    ben = handed(lead, tmp_path, {"Ben": [1, 2]}, context=[chains.id])["Ben"]
    spans = annotations.spans(ben.db, 1)
    assert [(span.start, span.chain) for span in spans] == [(0, 1), (8, 2)]
    relations.merge_chains(ben, spans[1].id, spans[0].id)
    annotate.submit(ben, 1, [chains.id])
    ben.close()

    merged = merge.merge(lead, ben.path)

    assert [(row.name, row.new) for row in merged.people] == [("Ben", 1)]
    assert merge.merge(lead, ben.path).is_empty
    with lead.db.labels_of(people.named(lead, "Ben").id):
        assert [span.chain for span in annotations.spans(lead.db, 1)] == [1, 1]
        assert annotations.spans(lead.db, 2) == ()
    lead.close()
    assert check(lead.path) == check(ben.path) == []


def test_relations_are_no_context(lead, tmp_path):
    links = labels.layer_named(lead, "links")

    with pytest.raises(SpecError, match="links holds relations"):
        handed(lead, tmp_path, {"Ben": [1]}, context=[links.id])


def test_questions_are_handed_out_without_answers_and_come_back_answered(lead, tmp_path):
    layer = labels.add_layer(lead, "questions", "answer")
    for document in (1, 2):
        id = questions.add(lead, document, layer, "Who met Bob?")
        questions.answer(lead, id, 0, 3)
        questions.add(lead, document, layer, "Where?")
    (ben,) = handed(lead, tmp_path, {"Ben": [1, 2]}, test_labels=False).values()
    who, where = questions.asked(ben, 1, layer)
    assert (who.question.text, where.question.text) == ("Who met Bob?", "Where?")
    assert who.question.is_open and where.question.is_open

    questions.answer(ben, who.id, 8, 11)
    questions.set_null(ben, where.id, True)
    annotate.submit(ben, 1, [layer])
    ben.close()
    done = merge.merge(lead, ben.path)

    assert [row.new for row in done.people] == [1]  # the other document has no answer of Ben
    people.set_gold(lead, layer, people.named(lead, "Ben").id)
    assert [asked.question.answers for asked in questions.asked(lead, 1, layer)] == [((8, 11),), ()]
    assert merge.preview(lead, ben.path).is_empty
    lead.close()
    assert check(lead.path) == check(ben.path) == []


def test_merging_twice_changes_nothing_and_a_later_version_replaces_the_merged_one(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1, 2]}).values()
    label(ben, 1, "yes")
    name_people(ben, 1)
    merge.merge(lead, ben.path)
    before, step = of(lead, "Ben"), lead.undo_step

    again = merge.preview(lead, ben.path)
    assert again.is_empty and [row.equal for row in again.people] == [3]
    merge.merge(lead, ben.path)
    assert of(lead, "Ben") == before
    assert lead.undo_step == step  # an edit without a change is no step

    names = labels.layer_named(ben, "names")
    annotate.add_span(ben, 1, 15, 19, names.label("LOC").id)
    with ben.edit("later"):
        ben.db.writer.execute("update state set at = '2031-01-01T00:00:00Z'")
    later = merge.merge(lead, ben.path)
    assert [(row.new, row.replaced, row.equal, row.conflicts) for row in later.people] == [
        (0, 1, 2, 0)
    ]
    spans = ((0, 3, "PER"), (8, 11, "PER"), (15, 19, "LOC"))
    assert of(lead, "Ben") == {"d0": (("yes",), spans, ((0, 11),))}
    lead.undo()
    assert of(lead, "Ben") == before
    ben.close(), lead.close()
    assert check(lead.path) == []


def test_what_was_changed_here_is_kept(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1, 2]}).values()
    label(ben, 1, "yes")
    merge.merge(lead, ben.path)
    people.work_as(lead, people.named(lead, "Ben").id)
    label(lead, 1, "no")
    name_people(lead, 1)
    label(ben, 2, "no")

    done = merge.merge(lead, ben.path)

    (row,) = done.people
    assert (row.new, row.replaced, row.conflicts) == (1, 0, 1)
    assert of(lead, "Ben")["d0"][0] == ("no",) and of(lead, "Ben")["d1"][0] == ("no",)
    ben.close()


def test_projects_without_a_common_origin_are_matched_by_key_and_text(lead, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "load", lambda: Settings(person_uids=["f" * 16]))  # elsewhere
    with closing(Project.create(tmp_path / "other.glossbench")) as other:
        labels.add_layer(other, "class", "class", labels=["yes", "maybe", "No"])
        labels.add_layer(other, "names", "class", labels=["a"])
        texts = {"d0": f"{TEXT} 0", "x1": f"{TEXT} 1", "new": "Another text.", "d5": "Another d5."}
        records = [Record(Document(key, (("text", text),))) for key, text in texts.items()]
        with other.edit("Import"):
            documents.add(other.db, records, source_id=other.source("import"))
        for id, name in ((1, "yes"), (2, "maybe"), (3, "No"), (4, "yes")):
            label(other, id, name)
    choices = Choices(labels={("class", "No"): "no"})

    preview = merge.preview(lead, other.path, choices)
    merge.merge(lead, other.path, choices)

    assert preview.documents == {"uid": 0, "key": 1, "text": 1, "new": 2}
    assert preview.labels == (("class", "maybe"),) and preview.renamed == (("names", "names (2)"),)
    assert [(row.name, row.is_new) for row in preview.people] == [("me", True)]
    said = {key: row[0] for key, row in of(lead, "me (2)").items()}
    assert said == {"d0": ("yes",), "d1": ("maybe",), "new": ("no",), "d5 (2)": ("yes",)}
    assert of(lead, "me") == {}  # two people of the same name are not one
    assert merge.preview(lead, other.path, choices).is_empty
    assert {layer.name for layer in labels.layers(lead)} >= {"names", "names (2)"}

    lead.undo()
    none = merge.merge(lead, other.path, Choices(people={"me": "me"}, add=False))
    assert none.documents["new"] == 2 and set(of(lead, "me")) == {"d0", "d1"}
    assert len(list(documents.records(lead.db))) == 6
    with pytest.raises(SpecError, match="has no label"):
        merge.preview(lead, other.path, Choices(labels={("class", "No"): "never"}))


def test_a_text_that_was_changed_is_left_out_and_named(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1, 2]}).values()
    label(ben, 1, "yes")
    label(ben, 2, "yes")
    with ben.edit("Change"):
        ben.db.writer.execute("update document set text_hash = ? where id = 1", ("0" * 32,))
        ben.db.writer.execute("delete from body where document_id = 1")
        ben.db.writer.execute(
            "insert into body(document_id, field, content) values(1, 'text', 'x')"
        )
        ben.db.writer.execute("update document set length = 1 where id = 1")
        from workbench.text.document import Document as Doc

        text_hash = Doc("d", (("text", "x"),)).text_hash
        ben.db.writer.execute("update document set text_hash = ? where id = 1", (text_hash,))

    done = merge.merge(lead, ben.path)

    assert done.changed == ("d0",) and done.documents["new"] == 0
    assert set(of(lead, "Ben")) == {"d1"}
    ben.close()


def test_bad_files_are_refused_whole(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1, 2]}).values()
    label(ben, 1, "yes")
    ben.close()
    with pytest.raises(ProjectError, match="is this project"):
        merge.merge(lead, lead.path)
    text = tmp_path / "text.glossbench"
    text.write_text("no project", encoding="utf-8")
    with pytest.raises(ProjectError):
        merge.merge(lead, text)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        merge.merge(lead, ben.path, watch=watch)
    good = ben.path.read_bytes()
    draw = random.Random(1)
    for _ in range(10):
        bad = bytearray(good)
        for _ in range(20):
            bad[draw.randrange(100, len(bad))] = draw.randrange(256)
        ben.path.write_bytes(bytes(bad))
        try:
            merge.merge(lead, ben.path)
            lead.undo()
        except ProjectError:
            assert of(lead, "Ben") == {}
    assert sorted(path.name for path in tmp_path.glob(".*merge*")) == []
    lead.close()
    assert check(lead.path) == []


def test_a_file_whose_history_was_changed_is_refused(lead, tmp_path):
    """The history decides which labels were removed there."""
    (ben,) = handed(lead, tmp_path, {"Ben": [1]}).values()
    label(ben, 1, "yes")
    ben.close()
    with closing(sqlite3.connect(ben.path)) as conn, conn:
        conn.execute("update journal_step set at = '2031' || substr(at, 5)")

    with pytest.raises(ProjectError):
        merge.merge(lead, ben.path)

    assert of(lead, "Ben") == {}


def test_what_a_killed_merge_left_is_deleted_by_the_next(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1]}).values()
    ben.close()
    left = [tmp_path / f".lead.glossbench.999999.part.{end}" for end in ("merge", "lock")]
    for path in left:
        path.write_text("text")
        os.utime(path, (1, 1))

    merge.preview(lead, ben.path)

    assert not any(path.exists() for path in left)
    assert sorted(path.name for path in tmp_path.glob(".*.part*")) == []


def test_files_are_written_all_or_none_and_without_test_labels(lead, tmp_path):
    for id in (1, 6):
        label(lead, id, "yes")
    me = people.current(lead).id
    (mine,) = handed(lead, tmp_path, {"me": [1, 6]}, test_labels=False).values()
    assert {key: row[0] for key, row in of(mine, "me").items()} == {"d0": ("yes",)}
    assert [record.document.split for record in documents.records(mine.db)] == ["train", "test"]
    mine.close()
    assert check(mine.path) == []

    ben = people.named(lead, "Ben").id
    files = {ben: tmp_path / "new.glossbench", me: mine.path}
    with pytest.raises(ProjectError, match="exists already"):
        hand_out.hand_out(lead, {ben: [1], me: [2]}, files)
    assert not files[ben].exists()


class Meanwhile(Watch):
    """At some time, another process creates a file."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def at(self, share):
        self.path.write_text("of another process")


def test_a_file_that_another_process_creates_meanwhile_is_left_alone(lead, tmp_path):
    ben, cleo = (people.named(lead, name).id for name in ("Ben", "Cleo"))
    out = tmp_path / "out"
    out.mkdir()
    files = {ben: out / "ben.glossbench", cleo: out / "cleo.glossbench"}

    with pytest.raises(ProjectError, match="cleo.glossbench exists already"):
        watch = Meanwhile(files[cleo])
        hand_out.hand_out(lead, {ben: [1], cleo: [1]}, files, watch=watch)

    assert [path.name for path in out.iterdir()] == ["cleo.glossbench"]
    assert files[cleo].read_text() == "of another process" and hand_out.assigned(lead) == {}


def test_documents_are_split_evenly_with_the_overlaps_asked_for():
    ids = list(range(1, 101))
    parts = hand_out.assign(ids, ["a", "b", "c"], [Overlap(0.2, 2), Overlap(0.05)], seed=3)

    sizes = sorted(map(len, parts.values()))
    owners = [sum(id in part for part in parts.values()) for id in ids]
    assert {n: owners.count(n) for n in (1, 2, 3)} == {1: 75, 2: 20, 3: 5}
    assert sum(sizes) == 130 and sizes[-1] - sizes[0] <= 1
    assert parts == hand_out.assign(ids, ["a", "b", "c"], [Overlap(0.2, 2), Overlap(0.05)], seed=3)
    grouped = hand_out.assign(ids, ["a", "b"], groups={id: str(id % 5) for id in ids})
    assert all(len({id % 5 for id in a} & {id % 5 for id in b}) == 0 for a, b in [grouped.values()])
    for bad in ([Overlap(0.7, 2), Overlap(0.4)], [Overlap(0.1, 4)]):
        with pytest.raises(SpecError):
            hand_out.assign(ids, ["a", "b", "c"], bad)


# ---------------------------------------------------------------- guidelines


def rules(project):
    return labels.layer_named(project, "class").guideline


def write(project, text):
    guideline.write(project, labels.layer_named(project, "class").id, text)


def merged_guideline(lead, tmp_path, ours, theirs):
    """The guideline after Ben's copy of "a" and the one here were changed and merged."""
    write(lead, "a\nb\nc")
    ben = handed(lead, tmp_path, {"Ben": [1]})["Ben"]
    history = guideline.history(ben, 1)
    assert [version.text for version in history] == ["a\nb\nc"]
    assert history[0].author == people.current(lead).name
    for project, text in ((lead, ours), (ben, theirs)):
        if text is not None:
            write(project, text)
    ben.close()
    before = merge.preview(lead, ben.path)
    done = merge.merge(lead, ben.path)
    assert before.guidelines == done.guidelines and rules(lead)
    assert merge.merge(lead, ben.path).is_empty  # a second time changes nothing
    return done


def test_a_guideline_that_was_changed_there_comes_home_with_its_author(lead, tmp_path):
    done = merged_guideline(lead, tmp_path, None, "a\nb\nc\nd")

    assert done.guidelines == (("class", False),) and rules(lead) == "a\nb\nc\nd"
    assert [v.author for v in guideline.history(lead, 1)][0] == "Ben"
    lead.undo()
    assert rules(lead) == "a\nb\nc" and len(guideline.history(lead, 1)) == 1
    lead.redo()
    assert not check(lead.path)


def test_a_guideline_that_was_changed_here_stays(lead, tmp_path):
    assert merged_guideline(lead, tmp_path, "x\nb\nc", None).guidelines == ()
    assert rules(lead) == "x\nb\nc"


def test_changes_of_both_are_in_the_guideline_and_both_stay_in_the_history(lead, tmp_path):
    done = merged_guideline(lead, tmp_path, "x\nb\nc", "a\nb\ny")

    assert done.guidelines == (("class", True),) and rules(lead) == "x\nb\ny"
    history = {version.text for version in guideline.history(lead, 1)}
    assert history == {"a\nb\nc", "x\nb\nc", "a\nb\ny", "x\nb\ny"}
    assert any("changed here and there" in sentence for sentence in merge.sentences(done))


def test_a_line_that_both_changed_is_shown_twice(lead, tmp_path):
    merged_guideline(lead, tmp_path, "a\nours\nc", "a\ntheirs\nc")
    assert rules(lead).index("ours") < rules(lead).index("Version of Ben.glossbench")
    assert "theirs" in rules(lead)


def test_the_project_itself_is_refused_by_any_of_its_names(lead, tmp_path):
    (tmp_path / "soft.glossbench").symlink_to(lead.path)
    (tmp_path / "hard.glossbench").hardlink_to(lead.path)

    for name in ("lead", "soft", "hard"):
        with pytest.raises(ProjectError, match="is this project"):
            merge.preview(lead, tmp_path / f"{name}.glossbench")


def test_a_file_of_a_newer_version_is_refused(lead, tmp_path):
    (ben,) = handed(lead, tmp_path, {"Ben": [1]}).values()
    label(ben, 1, "yes")
    ben.close()
    with closing(sqlite3.connect(ben.path)) as conn:
        conn.execute("pragma user_version = 999")

    with pytest.raises(ProjectError, match="created by a newer version.*999"):
        merge.merge(lead, ben.path)

    assert of(lead, "Ben") == {}


def test_people_whose_names_give_one_file_name_get_files_of_their_own(lead):
    names = ("A/B", "A:B", "A_B", "x" * 300)
    persons = [people.add(lead, name) for name in names]

    files = [hand_out.file_name(lead, person) for person in persons]

    assert len(set(files)) == len(names) and max(map(len, files)) < 80
    assert files[2] == "lead-A_B.glossbench"


def test_nothing_is_written_if_documents_cannot_be_handed_out(lead, tmp_path):
    ben, path = people.named(lead, "Ben").id, tmp_path / "x.glossbench"
    cleo = people.named(lead, "Cleo").id

    with pytest.raises(SpecError, match="no document 99"):
        hand_out.hand_out(lead, {ben: [1, 99]}, {ben: path})
    with pytest.raises(ProjectError, match="file of their own"):
        hand_out.hand_out(lead, {ben: [1], cleo: [2]}, {ben: path, cleo: path})
    with closing(Project.open(lead.path, read_only=True)) as reader:
        with pytest.raises(WorkbenchError, match="read-only"):
            hand_out.hand_out(reader, {ben: [1]}, {ben: path})

    assert not path.exists() and hand_out.assigned(lead) == {}
