import json

import pytest

from workbench.base import paths
from workbench.base.errors import Cancelled, ImportFailed, SpecError
from workbench.base.watch import Watch
from workbench.operations.annotation import document_view
from workbench.operations.documents import corpus, queries
from workbench.operations.schema import labels as edit_labels
from workbench.operations.transfer import data_export, data_import, import_preview
from workbench.operations.transfer.import_outcome import SameTexts
from workbench.storage.documents import documents
from workbench.storage.labels import labels

WEBANNO = "#id=1\n#text=Ada met\n1\tAda\t_\tB-PER\n2\tmet\t_\tO\n"  # TSV 1, which is not read
LINES = (
    {"id": "a", "text": "Ada met Bob", "label": [[0, 3, "PER"]]},
    {"id": "b", "text": "in Rome", "label": [[3, 7, "LOC"]]},
)


@pytest.fixture
def bring(project, inline_jobs, tmp_path):
    """bring(content, name="x.jsonl", **options) → the outcome of importing it; raises what the
    import raises.
    """

    def bring(content, name="x.jsonl", **options):
        path = tmp_path / name
        rows = (
            content
            if isinstance(content, (str, bytes))
            else "".join(json.dumps(record) + "\n" for record in content)
        )
        path.write_bytes(rows if isinstance(rows, bytes) else rows.encode())
        return data_import.import_files(project, inline_jobs, [path], **options)

    return bring


def test_an_unknown_way_with_duplicates_is_refused(bring):
    with pytest.raises(
        ImportFailed,
        match=(
            "'replace' is not a valid value for duplicates.*skip, skip-text, suggest, "
            "suggest-text, add"
        ),
    ):
        bring(LINES, duplicates="replace")


def texts(project):
    return [record.document.text for record in documents.records(project.db)]


def test_an_import_brings_documents_layers_and_labels_in_one_undo_step(project, bring):
    result = bring(LINES, split="dev")

    assert (result.documents, result.spans, result.skipped) == (2, 2, ())
    assert (
        corpus.info(project)["splits"]["dev"] == 2
        and corpus.info(project)["states"]["submitted"] == 2
    )
    (layer,) = labels.layers(project.db)
    assert [(label.name, label.key) for label in layer.labels] == [("PER", "1"), ("LOC", "2")]
    assert project.undo() == "Import x.jsonl" and corpus.info(project)["layers"] == []


def test_an_import_counts_labelled_documents_labels_and_splits(bring):
    rows = "text,class,split\nOne.,good,train\nTwo.,bad,train\nThree.,,dev\nFour.,,\n"
    found = bring(rows, "t.csv")

    assert (found.documents, found.labelled, found.labels) == (4, 2, 2)
    assert found.splits == {"train": 2, "dev": 1}


def test_faults_are_reported_with_file_line_and_reason(bring):
    result = bring('{"text": "fine", "label": []}\n{broken\n')

    (skipped,) = result.skipped
    assert (
        result.documents == 1
        and skipped.line == 2
        and skipped.file.endswith("x.jsonl")
        and "JSON" in skipped.reason
    )


def test_the_same_key_and_text_is_skipped_by_default(project, bring):
    bring(LINES)

    result = bring(LINES)

    assert (
        result.documents == 0
        and [record.line for record in result.skipped] == [1, 2]
        and "a" in result.skipped[0].reason
    )
    assert project.undo_title == "Import x.jsonl" and len(texts(project)) == 2


def test_duplicates_as_suggestions_leave_gold_alone(project, bring):
    bring(LINES)
    changed = [{**LINES[0], "label": [[0, 3, "PER"], [8, 11, "PER"]]}]

    result = bring(changed, duplicates="suggest")

    assert (result.documents, result.suggestions) == (0, 1) and "suggestions" in result.warnings[0]
    (first, _second) = documents.ids(project.db)
    view = document_view.view(project, first)
    assert len(view.spans) == 1 and [
        (suggestion.start, suggestion.end) for suggestion in view.suggestions
    ] == [(8, 11)]
    assert bring(changed, duplicates="suggest").suggestions == 0  # those that are open stand once


def test_duplicates_can_be_added_under_a_new_key(project, bring):
    bring(LINES)

    result = bring(LINES, duplicates="add")

    assert result.documents == 2 and [
        record.document.key for record in documents.records(project.db)
    ] == [
        "a",
        "b",
        "a (2)",
        "b (2)",
    ]


OTHER = (
    {"id": "x", "text": "Ada met Bob", "label": [[8, 11, "PER"]]},
    {"id": "y", "text": "new text", "label": []},
    {"id": "z", "text": "new text", "label": [[0, 3, "NEW"]]},
)


def test_equal_texts_under_other_keys_are_imported_and_counted(project, bring):
    bring(LINES)

    result = bring(OTHER)

    assert (result.documents, result.same_texts) == (3, SameTexts(1, 1, "imported"))
    assert "(x = a); it was imported as well" in result.warnings[0]
    assert "repeats a text in the files under another key (z = y)" in result.warnings[1]


def test_equal_texts_under_other_keys_can_be_skipped(project, bring):
    bring(LINES)

    result = bring(OTHER, duplicates="skip-text")

    assert (result.documents, result.same_texts) == (1, SameTexts(1, 1, "skipped"))
    assert [(record.line, record.reason) for record in result.skipped] == [
        (1, "its text already exists in the project under the key a"),
        (3, "its text already occurs in the files under the key y"),
    ]
    assert [record.document.key for record in documents.records(project.db)] == ["a", "b", "y"]


def test_labels_of_equal_texts_can_become_suggestions(project, bring):
    bring(LINES)

    result = bring(OTHER, duplicates="suggest-text")

    assert (result.documents, result.suggestions, result.skipped) == (1, 2, ())
    assert result.same_texts == SameTexts(1, 1, "suggested")
    first, _second, new = documents.ids(project.db)
    suggested = {
        id: [
            (suggestion.start, suggestion.end)
            for suggestion in document_view.view(project, id).suggestions
        ]
        for id in (first, new)
    }
    assert suggested == {first: [(8, 11)], new: [(0, 3)]}
    assert project.undo() == "Import x.jsonl" and len(texts(project)) == 2


def test_a_text_that_the_project_has_counts_once_however_often_the_files_repeat_it(project, bring):
    bring(LINES)
    rows = [{"id": f"n{n}", "text": "in Rome", "label": []} for n in range(3)]

    assert bring(rows, duplicates="skip-text").same_texts == SameTexts(3, 0, "skipped")
    assert len(texts(project)) == 2


LONG = "the 42 tram to the old harbour was late again this cold morning"


@pytest.mark.parametrize(("how", "imported"), [("skip", 4), ("skip-text", 1), ("suggest-text", 3)])
def test_near_duplicates_are_counted_and_skipped_on_demand(project, bring, how, imported):
    bring([{"id": "a", "text": LONG, "label": []}])
    texts = (LONG, f"{LONG} ok", f"{LONG} yes", "something else")
    lines = [{"id": f"n{n}", "text": text, "label": []} for n, text in enumerate(texts)]

    result = bring(lines, duplicates=how, near=0.8)

    assert result.documents == imported
    message = "they were skipped" if how == "skip-text" else "they were imported as well"
    assert result.warnings[-1].startswith(
        "2 documents have texts that are similar to others (n1 ≈ a"
    )
    assert message in result.warnings[-1]
    assert ("similar" in str(result.skipped)) == (how == "skip-text")


def test_near_duplicates_within_the_files_are_found(project, bring):
    lines = [{"id": f"n{n}", "text": f"{LONG} {n}", "label": []} for n in range(3)]

    result = bring(lines, duplicates="skip-text", near=0.8)

    assert result.documents == 1 and "n1 ≈ n0, n2 ≈ n0" in result.warnings[-1]
    assert project.undo() and texts(project) == []
    with pytest.raises(SpecError):
        bring(lines, near=0.1)


def test_a_file_of_layers_alone_brings_the_layers(project, bring):
    layer = {"name": "ner", "kind": "span", "labels": [{"name": "PER"}]}

    bring([{"glossbench": 1, "layers": [layer]}])

    assert [layer.names for layer in labels.layers(project.db)] == [("PER",)]


def test_a_record_that_another_file_has_is_skipped_with_the_name_of_that_file(
    project, inline_jobs, tmp_path
):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps(LINES[0]) + "\n")

    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    outcome = data_import.import_files(project, inline_jobs, paths)

    (skipped,) = outcome.skipped
    assert skipped.file.endswith("b.jsonl") and "in a.jsonl, line 1" in skipped.reason


def test_texts_of_brat_come_in_once_with_their_annotations(project, inline_jobs, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Ada met {name}.\nTwo lines.\n")
        (tmp_path / f"{name}.ann").write_text("T1\tPER 0 3\tAda\n" if name == "a" else "")
    paths = sorted(tmp_path.glob("[ab].*"))

    outcome = data_import.import_files(project, inline_jobs, paths)

    assert (outcome.documents, outcome.spans) == (2, 1)
    assert texts(project) == ["Ada met a.\nTwo lines.\n", "Ada met b.\nTwo lines.\n"]


def test_a_text_whose_annotations_were_not_chosen_is_a_warning(project, bring, tmp_path):
    (tmp_path / "a.ann").write_text("T1\tPER 0 3\tAda\n")

    result = bring("Ada met Bob.\n", "a.txt")

    assert any("a.ann contains annotations of a.txt" in warning for warning in result.warnings)


def test_the_same_key_with_another_text_gets_a_new_key_and_is_reported(project, bring):
    bring(LINES)

    result = bring(
        [{"id": "a", "text": "another", "label": []}, {"id": "a", "text": "third", "label": []}]
    )

    assert (
        result.documents == 2
        and not result.skipped
        and any("a → a (2)" in warning for warning in result.warnings)
    )
    assert len({record.document.key for record in documents.records(project.db)}) == 4


def test_records_without_a_key_are_called_by_file_and_line(project, bring):
    bring("one\n\ntwo\n", "t.txt")
    bring('[{"text": "x", "label": ["A"]}, {"text": "y", "label": ["A"]}]', "u.json")

    assert [record.document.key for record in documents.records(project.db)] == [
        "t.txt:1",
        "t.txt:3",
        "u.json:1",
        "u.json:1.2",
    ]


def test_labels_go_to_the_only_layer_of_their_kind(project, bring, add_layer):
    add_layer("Entities", "span", ("PER",))

    bring(LINES)

    (layer,) = labels.layers(project.db)
    assert layer.name == "Entities" and layer.names == ("PER", "LOC")


def test_imported_labels_get_no_key_of_a_label_in_another_layer(project, bring, add_layer):
    add_layer("spans", "span", ())
    chains = add_layer("coreference", "cluster", ())
    edit_labels.add_label(project, chains.id, "mention", key="2")

    bring([{"id": "n", "text": "Ada in Rome", "label": [[0, 3, "PER"], [7, 11, "LOC"]]}])

    keys = {label.name: label.key for layer in labels.layers(project.db) for label in layer.labels}
    assert keys == {"PER": "1", "mention": "2", "LOC": "3"}


def test_a_layer_of_another_kind_with_that_name_is_left_alone(project, bring, add_layer):
    add_layer("topic", "span", ())

    result = bring("text,kind\nx,A\n", "t.csv", mapping=(("text", "text"), ("label:topic", "kind")))

    assert [(layer.name, layer.kind) for layer in labels.layers(project.db)] == [
        ("topic", "span"),
        ("topic 2", "class"),
    ]
    assert any("topic 2" in warning for warning in result.warnings)


TAGGED = "Ada\tPROPN\nmet\tVERB\nBob\tPROPN\n\nHi\tINTJ\n"


def test_a_tag_for_every_token_makes_a_layer_of_tags_and_comes_back(project, bring, tmp_path):
    bring(TAGGED, "pos.conll")

    (layer,) = labels.layers(project.db)
    assert (layer.name, layer.kind) == ("tags", "tag")
    assert [label.key for label in layer.labels] == ["1", "2", "3"]
    data_export.export_data(project, tmp_path / "out.conll", format="conll")
    assert (tmp_path / "out.conll").read_text() == TAGGED


def test_tokens_without_a_tag_are_written_so_and_read_so(project, bring, tmp_path):
    bring(TAGGED.replace("VERB", "_"), "pos.conll")
    data_export.export_data(project, tmp_path / "out.conll", format="conll")

    assert (tmp_path / "out.conll").read_text() == TAGGED.replace("VERB", "_")


def test_parts_of_speech_of_a_treebank_make_a_layer_of_tags(project, bring):
    rows = ("1\tAda\t_\tPROPN", "2\tmet\t_\tVERB")
    bring("".join(f"{row}\t_\t_\t0\t_\t_\t_\n" for row in rows) + "\n", "x.conllu")

    (layer,) = labels.layers(project.db)
    assert (layer.name, layer.kind, layer.names) == ("upos", "tag", ("PROPN", "VERB"))


def test_spans_do_not_go_into_a_layer_of_tags(project, bring, add_layer):
    add_layer("tags", "tag", ("PROPN",))

    bring(LINES)
    bring(TAGGED, "pos.conll")

    assert [(layer.name, layer.kind) for layer in labels.layers(project.db)] == [
        ("tags", "tag"),
        ("spans", "span"),
    ]


def test_pairs_get_a_layer_for_two_texts(project, bring):
    bring([{"premise": "a", "hypothesis": "b", "label": "same"}])

    (layer,) = labels.layers(project.db)
    assert (layer.name, layer.kind, layer.texts) == ("pairs", "class", 2) and corpus.info(project)[
        "states"
    ]["submitted"] == 1


@pytest.mark.parametrize("content, word", [(b"", "empty"), (b"\0\1\2" * 99, "not text")])
def test_what_cannot_be_read_changes_nothing(project, bring, content, word):
    with pytest.raises(ImportFailed, match=word):
        bring(content)

    assert project.undo_title is None and corpus.info(project)["documents"] == 0


def test_a_missing_file_and_an_unknown_role_are_reported_at_once(project, inline_jobs, tmp_path):
    with pytest.raises(ImportFailed, match="none.csv"):
        data_import.import_files(project, inline_jobs, [tmp_path / "none.csv"])
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(ImportFailed, match="words"):
        data_import.import_files(
            project, inline_jobs, [tmp_path / "a.csv"], mapping=[("words", "text")]
        )


def test_a_cancelled_import_changes_nothing_and_leaves_no_file(
    project, inline_jobs, tmp_path, user_dir
):
    (tmp_path / "a.txt").write_text("one\n")
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled, match="No changes were made"):
        data_import.import_files(project, inline_jobs, [tmp_path / "a.txt"], watch=watch)

    assert corpus.info(project)["documents"] == 0


def test_a_guessed_encoding_is_reported(project, bring):
    result = bring("text,label\nStraße,gut\n".encode("latin-1"), "l.csv")

    assert texts(project) == ["Straße"] and "cp1252" in result.warnings[0]


def test_two_files_come_in_as_one_step(project, inline_jobs, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"from {name}\n")

    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    outcome = data_import.import_files(project, inline_jobs, paths)

    assert outcome.documents == 2 and project.undo() == "Import 2 files" and not texts(project)


def test_a_preview_guesses_and_shows_the_first_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label,n\none,A,1\n,B,2\n")

    preview = import_preview.preview(path)

    assert (preview.format, preview.encoding, preview.delimiter, preview.columns) == (
        "csv",
        "utf-8",
        ",",
        ("text", "label", "n"),
    )
    assert (
        preview.mapping == (("text", "text"), ("label:class", "label"), ("meta:n", "n"))
        and len(preview.rows) == 2
    )
    assert preview.why and preview.problems == ((3, "the text is empty"),)


def test_markup_needs_the_format_to_be_chosen(project, bring):
    page = "<html>\n<p>Hello</p>\n</html>\n"

    with pytest.raises(ImportFailed, match="page.txt is a web page.*--format text"):
        bring(page, "page.txt")
    assert corpus.info(project)["documents"] == 0

    assert bring(page, "page.txt", format="text").documents == 3


def test_a_file_of_another_program_changes_nothing(project, bring):
    with pytest.raises(ImportFailed, match="WebAnno TSV"):
        bring(WEBANNO, "a.tsv")

    assert corpus.info(project)["documents"] == 0


def test_a_chosen_format_that_does_not_fit_is_a_warning(bring):
    result = bring(WEBANNO, "a.tsv", format="tsv")

    assert any("WebAnno TSV" in warning for warning in result.warnings)


def test_a_file_most_of_whose_records_have_errors_is_a_warning(bring):
    result = bring("text,label\na,b\n,x\n,y\n", "t.csv")

    assert any("most records have errors (2 of 3)" in warning for warning in result.warnings)


def test_a_different_label_for_nearly_every_document_is_a_warning(bring):
    rows = [{"text": f"text {n}", "label": [f"answer number {n}"]} for n in range(25)]

    result = bring(rows)

    expected = "many different labels (25, documents: 25)"
    assert any(expected in warning for warning in result.warnings)


def test_a_preview_says_how_many_of_the_first_records_fail_and_where(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label\n" + "fine,A\n" * 30 + ",A\n" + "fine,B\n" * 5 + '"open,C\n')

    preview = import_preview.preview(path)

    assert (preview.failed, preview.checked, preview.mostly_wrong) == (2, 37, False)
    assert [line for line, _why in preview.problems] == [32, 38]
    late = [row for row in preview.rows if row.problem]
    assert [(row.line, row.raw, row.cells[0]) for row in late] == [
        (32, True, ",A"),
        (38, True, '"open,C'),
    ]
    assert import_preview.preview(path, format="doccano").mostly_wrong


def test_other_files_of_an_import_are_looked_at_too(tmp_path):
    (tmp_path / "a.xml").write_text("<?xml version='1.0'?>\n<NAF>\n")
    (tmp_path / "b.md").write_text("# Title\n")
    (tmp_path / "c.txt").write_text("fine\n")

    result = import_preview.refused(
        [tmp_path / name for name in ("a.xml", "b.md", "c.txt", "none.txt")]
    )

    assert len(result) == 3 and "NAF" in result[0] and "Markdown" in result[1]
    assert not import_preview.refused([tmp_path / "b.md"], format="text")


def test_no_copy_of_the_texts_stays_in_the_cache_however_an_import_ends(
    bring, project, inline_jobs, tmp_path
):
    bring(LINES)
    with pytest.raises(ImportFailed):
        bring(LINES, encoding="no-such-encoding")
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        data_import.import_files(project, inline_jobs, [tmp_path / "x.jsonl"], watch=watch)

    assert [path for path in paths.cache_folder().rglob("*") if path.is_file()] == []


HEAD = {
    "glossbench": 1,
    "layers": [
        {"name": "names", "kind": "span", "labels": [{"name": "PER"}]},
        {
            "name": "links",
            "kind": "relation",
            "labels": [{"name": "met"}],
            "options": {"spans": "names"},
        },
        {"name": "asked", "kind": "answer"},
    ],
}
ADA, BOB = [0, 3, "PER"], [8, 11, "PER"]
MET = {
    "key": "a",
    "texts": {"text": "Ada met Bob"},
    "spans": {"names": [ADA, BOB]},
    "relations": {"links": [["met", ADA, BOB]]},
    "questions": {"asked": [{"question": "Who?", "answers": [[0, 3]]}]},
}


def test_questions_are_counted_and_what_cannot_be_a_suggestion_is_said(project, bring):
    first = bring([HEAD, MET], format="glossbench")
    again = bring([HEAD, MET], format="glossbench", duplicates="suggest")

    assert (first.documents, first.spans, first.questions) == (1, 2, 1)
    assert (again.documents, again.questions, again.suggestions) == (0, 0, 0)
    assert (
        "2 relations, questions and written texts cannot be suggestions and were left out."
        in again.warnings
    )


def test_a_segmenter_stores_words_of_texts_without_tokens(project, bring):
    result = bring([{"id": "a", "text": "地铁 ok"}], segmenter="characters")
    bring([{"id": "b", "text": "晚点"}])

    first, second = (record.document for record in documents.records(project.db))
    assert first.tokens["text"] == ((0, 1), (1, 2), (3, 4), (4, 5)) and not second.tokens
    assert (
        "1 document was imported with the words of the segmenter characters" in (result.warnings[0])
    )


def test_a_segmenter_that_is_not_there_is_refused_before_anything_is_read(project, bring):
    with pytest.raises(ImportFailed, match="'mine.words' is not installed"):
        bring(LINES, segmenter="mine.words")

    assert texts(project) == []


def test_preferences_are_labels_that_are_counted_found_and_taken_back(project, bring):
    rows = [{"prompt": "When?", "chosen": f"At {n}.", "rejected": "Often."} for n in range(4)]
    bring(rows)
    (layer,) = edit_labels.layers(project)
    second = [
        record.document.id
        for record in documents.records(project.db)
        if record.marks["preference"] == ("2",)
    ]

    assert (layer.kind, layer.names) == ("preference", ("1", "2"))
    assert [*queries.matching(project, "label:2")] == second
    assert corpus.labels(project)[0]["labels"][1]["count"] == len(second)
    project.undo()
    assert edit_labels.layers(project) == ()
