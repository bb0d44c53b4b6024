"""The state of the import dialog: detection, corrections, results; errors never close it."""

import pytest

from tests.held import Held
from workbench.base import registry
from workbench.base.options import Option
from workbench.importers.text.plain import PlainImporter
from workbench.operations.documents import corpus
from workbench.operations.transfer import import_choice
from workbench.storage.documents import documents
from workbench.ui.panels.data.import_state import ImportState


@pytest.fixture
def choose(context, tmp_path):
    """choose("t.csv", "text,label…") → an ImportState with that file."""
    made = []

    def choose(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        made.append(ImportState(context, [path]))
        return made[-1]

    yield choose
    for queue in made:
        queue.close()


def documents_of(context):
    ids = documents.ids(context.project.db, documents.Filter())
    return [documents.get(context.project.db, id) for id in ids]


def test_everything_is_guessed_with_a_reason(choose):
    state = choose("t.csv", "text,label,page\none,good,1\n")

    assert state.phase == "ready" and state.used_format == "csv" and state.preview.why
    assert (
        state.roles == {"text": "text", "label": "label:class", "page": "meta:page"}
        and state.can_start
    )


def test_roles_can_be_corrected_and_a_role_stands_once(choose):
    state = choose("t.csv", "a,b\none,two\n")

    state.set_role("b", "text")
    assert state.roles == {"b": "text"}
    state.set_role("a", "label:class")
    assert state.roles == {"a": "label:class", "b": "text"} and state.phase == "ready"


CLOZE = "situation,was?,opt one,opt two,gold\nIt rained.,Why?,clouds,sun,opt one\n"


def test_choices_are_named_by_hand_and_numbered_in_the_order_of_their_columns(choose, context):
    state = choose("t.csv", CLOZE)
    state.set_role("situation", "text")
    state.set_role("was?", "text_b")
    assert state.roles["gold"] == "label:class"

    state.set_role("opt two", "choice")
    assert state.roles["was?"] == "question" and state.roles["gold"] == "answer:answer"
    assert "found 1" in state.preview.problems[0][1] and not state.can_start
    state.set_role("opt one", "choice")

    titles = {column: dict(state.role_choices(column)) for column in state.preview.columns}
    assert titles["opt one"]["choice"] == "Choice 1" and titles["opt two"]["choice"] == "Choice 2"
    assert titles["gold"]["answer:answer"] == "Right choice: answer"
    assert state.can_start and state.preview.delimiter == ","
    state.start()
    (document,) = (document for document in documents_of(context) if document.choices)
    assert (document.text, document.question) == ("It rained.", "Why?")
    assert document.choices == ("clouds", "sun")


def test_without_the_last_choice_the_answer_is_a_class_again(choose):
    state = choose("t.csv", CLOZE)
    state.set_role("opt one", "choice")
    state.set_role("opt one", "")

    assert state.roles["gold"] == "label:class" and state.can_start


def test_a_list_of_choices_in_json_takes_the_place_of_columns(choose):
    state = choose("t.jsonl", '{"s": "It rained.", "x": "sun", "all": ["sun", "rain"], "r": 1}\n')
    state.set_role("s", "text")
    state.set_role("x", "choice")

    state.set_role("all", "choices")
    state.set_role("r", "answer:answer")

    assert state.roles == {"s": "text", "all": "choices", "r": "answer:answer"}
    assert state.can_start


def test_detected_choices_can_be_corrected(choose):
    state = choose("t.jsonl", '{"question": "Why?", "choices": ["a", "b"], "answer": "A"}\n')

    assert state.used_format == "choices" and state.has_roles
    assert state.roles == {"question": "text", "choices": "choices", "answer": "answer:answer"}
    state.set_role("answer", "")
    assert state.can_start and "answer" not in state.roles


def test_a_wrong_choice_shows_an_error_and_can_be_undone(choose):
    state = choose("t.csv", "text,label\none,good\n")

    state.set_form(format="glossbench")
    assert "own format" in state.error and not state.can_start
    state.set_form(format="")
    assert state.error == "" and state.can_start


@pytest.mark.parametrize(
    "content", [b"", b"\0\1\2\3" * 50, "Привет, мир и все остальные".encode("cp1251")]
)
def test_garbage_is_reported_and_the_dialog_stays(choose, content):
    state = choose("x.csv", content)

    assert state.error and state.phase == "choosing"


def test_an_import_reports_what_came_in_and_what_was_skipped(choose, context):
    state = choose("t.csv", "text,label\none,good\n,bad\n")

    state.start()

    told = "Imported 1 document, 1 labelled, 1 label. 1 record was skipped."
    assert state.phase == "done" and state.summary == told
    assert context.notes == [(told, True)] and corpus.counts(context.project).documents == 4


def test_an_import_that_fails_leaves_the_choices_standing(choose, context):
    state = choose("t.csv", "text,label\none,good\n")
    state.files[0].unlink()

    state.start()

    assert "t.csv" in state.error and state.phase == "ready"


def test_it_can_be_cancelled(choose, context):
    state = choose("t.csv", "text,label\none,good\n")
    held = Held(context)
    state.start()
    assert state.phase == "importing"
    state.cancel()
    held.rest()

    assert (
        state.phase == "ready"
        and "cancelled" in state.error
        and state.is_cancelled
        and corpus.counts(context.project).documents == 3
    )


def test_every_column_of_tags_is_mapped_and_a_second_one_does_not_reset_the_first(choose):
    state = choose("t.conll", "Ada\tB-PER\tO\nmet\tO\tO\nin\tO\tO\nRome\tB-PER\tB-LOC\n")
    assert state.roles == {"1": "text", "2": "tag:spans", "3": "tag:spans"}
    assert state.preview.spans == {"2": 2, "3": 1}

    state.set_role("3", "")
    assert "column 3" in state.preview.warnings[0]
    state.set_role("3", "tag:column 3")
    assert state.roles == {"1": "text", "2": "tag:spans", "3": "tag:column 3"}
    state.set_role("3", "tag:spans")
    assert state.roles["2"] == "tag:spans" and not state.preview.warnings


def test_columns_of_tokens_offer_tokens_and_tags(choose):
    state = choose("t.conll", "Ada\tB-PER\nmet\tO\n")

    assert [role for role, _words in state.role_choices("2")][:3] == ["", "text", "tag:spans"]


def test_the_columns_of_tokens_are_named_by_the_header(choose):
    state = choose("h.tsv", "TOKEN\tNE-LIT\tNE-METO\nGenf\tB-loc\tB-org\nist\tO\tO\n")

    assert state.roles == {"TOKEN": "text", "NE-LIT": "tag:NE-LIT", "NE-METO": "tag:NE-METO"}
    state.set_role("NE-METO", "")
    assert state.phase == "ready" and "NE-METO" in state.preview.warnings[0]


def test_a_column_of_a_table_of_tokens_can_number_the_sentences(choose):
    state = choose("t.csv", "Wort,Etikett,Satz\nParis,B-LOC,a\nist,O,a\nRom,B-LOC,b\n")

    state.set_role("Satz", "id")

    assert ("id", "Sentence number") in state.role_choices("Satz")
    assert state.phase == "ready" and state.roles["Satz"] == "id"


PAGE = "<html>\n<p>Hello</p>\n</html>\n"


def test_markup_is_a_question_and_import_waits_for_the_answer(choose, context):
    state = choose("page.txt", PAGE)

    assert "web page" in state.obstacle and state.obstacle.endswith("?") and not state.can_start
    assert state.can_override
    state.override()
    assert state.format == "text" and state.obstacle == "" and state.can_start

    state.start()
    assert state.outcome.documents == 3


def test_a_file_most_of_whose_records_have_errors_disables_import_until_the_user_insists(choose):
    state = choose("t.csv", "text,label\none,A\n,B\n,C\n")

    assert "2 of 3 records have errors" in state.obstacle and not state.can_start
    assert state.can_override
    state.override()
    assert state.can_start

    state.set_form(delimiter=";")
    assert not state.anyway


def test_a_file_without_any_readable_record_cannot_be_imported(choose):
    state = choose("t.jsonl", '{"text": 5}\n{"text": 6}\n')
    state.set_form(format="prodigy")

    assert "No record could be read" in state.obstacle and not state.can_override


def test_files_after_the_first_are_looked_at_too(context, tmp_path):
    (tmp_path / "a.txt").write_text("fine\n")
    (tmp_path / "b.xml").write_text(
        '<?xml version="1.0"?>\n<GateDocument>\n<GateDocumentFeatures>\n'
    )
    state = ImportState(context, [tmp_path / "a.txt", tmp_path / "b.xml"])
    try:
        assert "b.xml is a GATE document" in state.obstacle
        assert not state.can_start and not state.can_override
    finally:
        state.close()


def test_a_file_of_another_program_is_named(choose):
    state = choose("a.ann", "T1\tPER 0 3\tAda\nT2\tPER 4 7\tBob\n")

    assert "brat" in state.error and state.phase == "choosing"


def test_a_folder_stands_for_its_data_files(context, tmp_path):
    (tmp_path / "some").mkdir()
    state = ImportState(context, [tmp_path / "some"])
    try:
        assert "no data files" in state.error and state.phase == "choosing" and not state.files
        (tmp_path / "some" / "t.csv").write_text("text\none\n")
        state.choose([tmp_path / "some"])
        assert state.files == (tmp_path / "some" / "t.csv",) and state.phase == "ready"
        assert not state.error
    finally:
        state.close()


def test_splits_that_file_names_suggest_are_preselected_and_can_be_switched_off(context, tmp_path):
    paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
    for path in paths:
        path.write_text(f"text\nfrom {path.stem}\n")
    state = ImportState(context, paths)
    try:
        assert state.split == import_choice.BY_NAME and len(state.offered_splits) == 2
        before = corpus.counts(context.project).splits
        state.start()
        after = corpus.counts(context.project).splits
        assert {name: after[name] - before.get(name, 0) for name in ("train", "test")} == {
            "train": 1,
            "test": 1,
        }
        state.choose(paths[:1])
        assert state.split == "" and not state.offered_splits
    finally:
        state.close()


def test_options_that_the_importer_declares_change_the_preview_and_the_import(
    choose, context, monkeypatch
):
    class Marked(PlainImporter):
        options = (Option("mark", "text", "#", "Only lines that begin with it are read."),)

        def read(self, source, options):
            mark = options.settings["mark"]
            for row in super().read(source, options):
                if row.record.document.text.startswith(mark):
                    yield row

    entry = registry.registry().entry("importer", "text")
    monkeypatch.setitem(registry.registry()._objects, ("importer", "text", entry.object), Marked)
    state = choose("t.txt", "# one\n% two\n% three\n")
    assert [option.name for option in state.importer_options] == ["mark"]
    assert state.preview.checked == 1

    state.set_settings({"mark": "%"})
    state.start()

    assert state.preview.checked == 2 and state.outcome.documents == 2
    assert {document.text for document in documents_of(context)} >= {"% two", "% three"}
    state.set_form(format="text-file")
    assert state.settings == {} and state.importer_options == ()


def test_a_wrong_value_of_an_importer_is_an_error_of_its_option(choose, monkeypatch):
    option = Option("first", "int", 1, "Line to begin with.", low=1)
    monkeypatch.setattr(PlainImporter, "options", (option,), raising=False)
    state = choose("t.txt", "one\ntwo\n")

    state.set_settings({"first": "0"})
    assert state.errors == {"first": "first is '0', expected a whole number from 1."}
    assert state.preview is not None and state.error == "" and not state.can_start

    state.set_settings({"first": "2"})
    assert state.errors == {} and state.can_start


def test_segmenters_are_offered_for_texts_without_spaces_and_store_their_words(choose, context):
    plain, thai = choose("a.csv", "text\nlate again\n"), choose("t.csv", "text\nรถไฟสาย\nรถเมล์\n")

    assert plain.advice is None and thai.advice.names == ("icu", "newmm")
    assert [name for name, _title in thai.segmenters][:3] == ["icu", "newmm", "rules"]
    thai.set_option(segmenter="characters")
    thai.start()

    first = next(item for item in documents_of(context) if item.text == "รถไฟสาย")
    assert len(first.tokens["text"]) == 7 and "segmenter characters" in thai.outcome.warnings[0]


def test_the_roles_of_a_table_with_choices_and_other_documents_can_be_chosen(choose):
    state = choose(
        "t.csv",
        "text,label:topic,labels:themes,chains:coref,choice_1,choice_2,answer:pick\n"
        'a,good,x; y,"[[0, 1, ""it""]]",,,\nb,,,,p,q,2\n',
    )

    offered = {column: dict(state.role_choices(column)) for column in state.preview.columns}

    assert all(role in offered[column] for column, role in state.roles.items())
    assert offered["labels:themes"]["labels:themes"] == "Several classes: themes"
    assert state.roles["answer:pick"] == "answer:pick" and state.can_start


def test_a_colon_in_the_name_of_another_column_stays_in_the_name_of_its_layer(choose):
    state = choose("t.csv", "text,was: this\na,b\n")

    assert ("label:was: this", "Class: was: this") in state.role_choices("was: this")


def test_a_preview_does_not_come_back_after_the_files_were_removed(choose, context):
    state, held = choose("t.csv", "text,label\none,good\n"), Held(context)
    state.refresh()

    state.choose([])
    held.answer(0)

    assert (state.phase, state.preview, state.files) == ("choosing", None, ())


PEOPLE = (
    '{"text": "One", "label": "yes", "answer": "accept", "_annotator_id": "d-ada"}\n'
    '{"text": "One", "label": "no", "answer": "accept", "_annotator_id": "d-bob"}\n'
    '{"text": "Two", "label": "no", "answer": "accept", "_annotator_id": "d-bob"}\n'
)


def test_people_of_a_file_are_listed_and_one_of_them_can_be_chosen(choose, context):
    state = choose("t.jsonl", PEOPLE)

    assert state.people_hint.startswith("ada (1), bob (2)\n")
    assert [choice for choice, _title in state.people_choices] == [
        "",
        "all",
        "first",
        "one:ada",
        "one:bob",
    ]
    state.set_option(people="one:bob")
    state.start()
    assert state.outcome.people == {"bob": 2} and "Labels by bob (2)." in state.summary


def test_a_file_without_people_offers_no_choice_of_them(choose):
    assert choose("t.csv", "text,label\none,good\n").people_choices == []
