import json

import pytest

from workbench.base.errors import ImportFailed
from workbench.operations import annotate, corpus
from workbench.storage import documents, labels

LINES = (
    {"id": "a", "text": "Ada met Bob", "label": [[0, 3, "PER"]]},
    {"id": "b", "text": "in Rome", "label": [[3, 7, "LOC"]]},
)


@pytest.fixture
def bring(project, inline_jobs, tmp_path):
    """bring(content, name="x.jsonl", **options) → the outcome of importing it; raises what the import raises."""

    def bring(content, name="x.jsonl", **options):
        path = tmp_path / name
        rows = (
            content
            if isinstance(content, (str, bytes))
            else "".join(json.dumps(one) + "\n" for one in content)
        )
        path.write_bytes(rows if isinstance(rows, bytes) else rows.encode())
        handle = corpus.import_files(project, inline_jobs, [path], **options)
        inline_jobs.wait(handle.job)
        if handle.error:
            raise handle.error
        return handle.outcome

    return bring


def test_an_unknown_way_with_duplicates_is_refused(bring):
    with pytest.raises(ImportFailed, match="duplicates is 'replace'.*skip, suggest, add"):
        bring(LINES, duplicates="replace")


def texts(project):
    return [one.document.text for one in documents.records(project.db)]


def test_an_import_brings_documents_layers_and_labels_in_one_undo_step(project, bring):
    found = bring(LINES, split="dev")

    assert (found.documents, found.spans, found.skipped) == (2, 2, ())
    assert (
        corpus.info(project)["splits"]["dev"] == 2
        and corpus.info(project)["states"]["submitted"] == 2
    )
    (layer,) = labels.layers(project.db)
    assert [(one.name, one.key) for one in layer.labels] == [("PER", "1"), ("LOC", "2")]
    assert project.undo() == "Import x.jsonl" and corpus.info(project)["layers"] == []


def test_faults_are_told_with_file_line_and_reason(bring):
    found = bring('{"text": "fine", "label": []}\n{broken\n')

    (skipped,) = found.skipped
    assert (
        found.documents == 1
        and skipped.line == 2
        and skipped.file.endswith("x.jsonl")
        and "JSON" in skipped.reason
    )


def test_the_same_key_and_text_is_skipped_by_default(project, bring):
    bring(LINES)

    found = bring(LINES)

    assert (
        found.documents == 0
        and [one.line for one in found.skipped] == [1, 2]
        and "a" in found.skipped[0].reason
    )
    assert project.undo_title == "Import x.jsonl" and len(texts(project)) == 2


def test_duplicates_as_suggestions_leave_gold_alone(project, bring):
    bring(LINES)
    changed = [{**LINES[0], "label": [[0, 3, "PER"], [8, 11, "PER"]]}]

    found = bring(changed, duplicates="suggest")

    assert (found.documents, found.suggestions) == (0, 1) and "suggestions" in found.warnings[0]
    (first, _second) = documents.ids(project.db)
    view = annotate.view(project, first)
    assert len(view.spans) == 1 and [(one.start, one.end) for one in view.suggestions] == [(8, 11)]
    assert bring(changed, duplicates="suggest").suggestions == 0  # those that are open stand once


def test_duplicates_can_be_added_under_a_new_key(project, bring):
    bring(LINES)

    found = bring(LINES, duplicates="add")

    assert found.documents == 2 and [one.document.key for one in documents.records(project.db)] == [
        "a",
        "b",
        "a (2)",
        "b (2)",
    ]


def test_the_same_key_with_another_text_gets_a_new_key_and_is_told(project, bring):
    bring(LINES)

    found = bring(
        [{"id": "a", "text": "another", "label": []}, {"id": "a", "text": "third", "label": []}]
    )

    assert (
        found.documents == 2
        and not found.skipped
        and any("a → a (2)" in one for one in found.warnings)
    )
    assert len({one.document.key for one in documents.records(project.db)}) == 4


def test_records_without_a_key_are_called_by_file_and_line(project, bring):
    bring("one\n\ntwo\n", "t.txt")
    bring('[{"text": "x", "label": ["A"]}, {"text": "y", "label": ["A"]}]', "u.json")

    assert [one.document.key for one in documents.records(project.db)] == [
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


def test_a_layer_of_another_kind_with_that_name_is_left_alone(project, bring, add_layer):
    add_layer("topic", "span", ())

    found = bring("text,kind\nx,A\n", "t.csv", mapping=(("text", "text"), ("label:topic", "kind")))

    assert [(one.name, one.kind) for one in labels.layers(project.db)] == [
        ("topic", "span"),
        ("topic 2", "class"),
    ]
    assert any("topic 2" in one for one in found.warnings)


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


def test_a_missing_file_and_an_unknown_role_are_told_at_once(project, inline_jobs, tmp_path):
    with pytest.raises(ImportFailed, match="none.csv"):
        corpus.import_files(project, inline_jobs, [tmp_path / "none.csv"])
    (tmp_path / "a.csv").write_text("text\na\n")
    with pytest.raises(ImportFailed, match="words"):
        corpus.import_files(project, inline_jobs, [tmp_path / "a.csv"], mapping=[("words", "text")])


def test_a_cancelled_import_changes_nothing_and_leaves_no_file(
    project, inline_jobs, tmp_path, user_dir
):
    (tmp_path / "a.txt").write_text("one\n")
    handle = corpus.import_files(project, inline_jobs, [tmp_path / "a.txt"])
    handle.cancel()
    inline_jobs.wait(handle.job)

    assert (
        handle.status == "cancelled"
        and handle.outcome is None
        and corpus.info(project)["documents"] == 0
    )


def test_a_guessed_encoding_is_told(project, bring):
    found = bring("text,label\nStraße,gut\n".encode("latin-1"), "l.csv")

    assert texts(project) == ["Straße"] and "cp1252" in found.warnings[0]


def test_two_files_come_in_as_one_step(project, inline_jobs, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"from {name}\n")

    handle = corpus.import_files(project, inline_jobs, [tmp_path / "a.txt", tmp_path / "b.txt"])
    inline_jobs.wait(handle.job)

    assert (
        handle.outcome.documents == 2 and project.undo() == "Import 2 files" and not texts(project)
    )


def test_a_preview_guesses_and_shows_the_first_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("text,label,n\none,A,1\n,B,2\n")

    found = corpus.preview(path)

    assert (found.format, found.encoding, found.delimiter, found.columns) == (
        "csv",
        "utf-8",
        ",",
        ("text", "label", "n"),
    )
    assert (
        found.mapping == (("text", "text"), ("label:class", "label"), ("meta:n", "n"))
        and len(found.rows) == 2
    )
    assert found.why and found.problems == ("Line 3: the text is empty",)
