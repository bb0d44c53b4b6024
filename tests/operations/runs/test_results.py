"""Scores as run and of today, the matrix, errors, two runs side by side, deletion."""

from time import process_time

import pytest

from workbench.base.errors import Cancelled, JobFailed, WorkbenchError
from workbench.base.watch import Watch
from workbench.operations.annotation import annotate, document_view, suggestion_edits
from workbench.operations.runs import results, run_folders, run_results
from workbench.operations.schema import labels
from workbench.project.check import check_open
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.fields import ClassScores, Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span


def test_current_scores_follow_gold_while_the_original_ones_stay(project, trained, topics):
    layer, _ids = topics
    result = results.results(project, trained.id)
    assert result.current.scores["accuracy"] == 0.75 and result.original.scores["accuracy"] == 0.75

    annotate.set_class(project, result.errors[0].document_id, layer.label("praise").id)

    result = results.results(project, trained.id)
    assert (
        result.current.scores["accuracy"] == 1.0
        and result.original.scores["accuracy"] == 0.75
        and result.errors == ()
    )


def test_the_matrix_names_the_documents_of_each_cell(project, trained):
    result = results.results(project, trained.id)

    matrix = result.current.confusion
    assert matrix.labels == ("praise", "complaint") and matrix.cells == ((2, 0), (1, 1))
    assert matrix.documents["complaint", "praise"] == (result.errors[0].document_id,)


def test_errors_come_most_confident_first():
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.tasks.classify.info import ClassGold
    from workbench.text.document import Document

    asked = [
        GoldDocument(Document(str(n), (("text", "x"),), id=n), ClassGold("A")) for n in range(3)
    ]
    answers = [Prediction((ClassScores(("A", "B"), (1 - sure, sure)),)) for sure in (0.6, 0.3, 0.9)]

    rows = results.errors("classify", asked, answers)

    assert [(row.document_id, row.predicted, row.score) for row in rows] == [
        (2, "B", 0.9),
        (0, "B", 0.6),
    ]


def test_errors_of_tags_show_what_only_one_side_has():
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.tasks.heads.info import SpanGold
    from workbench.text.document import Document

    scored = GoldDocument(
        Document("k", (("text", "Ada met Bob"),), id=7),
        SpanGold((Span(0, 3, "PER"), Span(8, 11, "PER"))),
    )
    extra = Prediction((SpanScores((Span(0, 3, "PER", score=0.9), Span(8, 11, "LOC", score=0.7))),))
    missed = Prediction(
        (
            WordTags((WordTag(0, 3, "PER", 0.9), WordTag(8, 11, None, 0.6))),
            SpanScores((Span(0, 3, "PER", score=0.9),)),
        )
    )

    (first,) = results.errors("tag", [scored], [extra])
    (second,) = results.errors("tag", [scored], [missed])

    assert (first.gold, first.predicted, first.score) == ("PER “Bob”", "LOC “Bob”", 0.7)
    assert (second.gold, second.predicted, second.score) == ("PER “Bob”", "–", 0.6)


def test_an_answer_that_equals_flat_gold_is_no_error_and_documents_of_train_are_none(
    project, add_layer, add_documents
):
    layer = add_layer("names", "span", ("PER", "ORG"))
    nested = [(0, 3, "PER"), (0, 16, "ORG")]
    ids = add_documents(
        [
            ("Ada Byron Trust met", split, "submitted", "names", nested)
            for split in ("dev", "dev", "train", "test")
        ]
        + [("Ada Byron Trust met", "dev", "draft", "names", nested)]
    )
    with project.write():
        run = runs.add(
            project.db, "t", "train", layer_id=layer.id, spec={"task": "tag"}, status="done"
        )
    hashes = {
        record.document.id: record.document.text_hash for record in documents.records(project.db)
    }
    flat = Prediction((SpanScores((Span(0, 16, "ORG"),)),))
    wrong = Prediction((SpanScores((Span(0, 3, "PER"),)),))
    answers = dict(zip(ids, (flat, wrong, wrong, wrong, wrong), strict=True))
    with project.write():
        runs.save_predictions(
            project.db,
            run.id,
            [(id, hashes[id], answer.to_json()) for id, answer in answers.items()],
        )

    assert [row.document_id for row in results.results(project, run.id).errors] == [ids[1]]


def test_a_book_with_thousands_of_errors_is_a_row_as_soon_as_any():
    from workbench.operations.evaluation.scoring import GoldDocument
    from workbench.tasks.heads.info import SpanGold
    from workbench.text.document import Document

    text = "word " * 20_000
    offsets = [(at, at + 4) for at in range(0, len(text), 5)]
    scored = GoldDocument(
        Document("k", (("text", text),), id=7),
        SpanGold(tuple(Span(*pair, "PER") for pair in offsets[::2])),
    )
    words = tuple(WordTag(*pair, None, 0.5 + (pair[0] == 50) / 4) for pair in offsets)
    answer = Prediction((WordTags(words), SpanScores(())))

    begin = process_time()
    (row,) = results.errors("tag", [scored], [answer])

    assert process_time() - begin < 2
    assert (
        row.score == 0.75
        and row.gold.count("PER “word”") == 50
        and row.gold.endswith(" and 9,950 more")
    )


def test_an_evaluation_asks_only_for_missing_answers_and_keeps_them(
    project, queue, trained, answers
):
    dev = results.evaluate(project, queue, trained, "dev")
    assert dev.n == 4 and dev.scores["accuracy"] == 0.75

    answers("praise")
    train = results.evaluate(project, queue, trained, "train")

    assert train.scores["accuracy"] == 0.5 and train.fingerprint != dev.fingerprint
    queue.worker = None
    assert results.evaluate(project, queue, trained, "train") == train
    cost = run_results.outcome(results.run(project, trained.id)).predicting
    assert (cost.documents, cost.cpu_seconds, cost.per_thousand) == (8, 0.5, 62.5)


def test_each_look_at_the_test_score_is_counted(project, queue, trained, answers):
    answers("praise")
    for _look in range(2):
        results.evaluate(project, queue, trained, "test")

    assert results.run(project, trained.id).seen_test == 2


def test_the_first_test_score_is_stored_per_label_and_stays_when_gold_changes(
    project, queue, trained, topics, answers
):
    layer, ids = topics
    answers("praise")
    results.evaluate(project, queue, trained, "test")
    annotate.set_class(project, ids[12], layer.label("praise").id)  # a complaint until now

    today = results.evaluate(project, queue, trained, "test")

    run = results.run(project, trained.id)
    then = results.original(run, "test")
    support = {row.label: row.support for row in then.per_label}
    assert support == {"complaint": 2, "praise": 2} and then.scores["accuracy"] == 0.5
    assert {row.label: row.support for row in today.per_label} == {"complaint": 1, "praise": 3}
    assert run.test_fingerprint == then.fingerprint != today.fingerprint
    assert then.at and run.seen_test == 2


def test_a_run_of_an_earlier_version_has_nothing_but_scores(project, trained):
    stored = results.original(trained, "dev")
    assert stored.scores == trained.scores["dev"] and not stored.is_complete
    assert results.original(trained, "test") is None
    with project.write():
        run = runs.update(project.db, trained.id, result={"evaluations": {"dev": {"n": 3}}})
    assert results.original(run, "dev") == stored


def test_a_prediction_that_fails_reaches_the_asker(project, queue, trained):
    queue.worker = lambda job: job.end("crashed", message="The worker died.")

    with pytest.raises(JobFailed, match="died"):
        results.evaluate(project, queue, trained, "test")

    assert results.run(project, trained.id).seen_test == 0


def test_a_cancelled_evaluation_predicts_nothing(project, queue, trained, answers):
    answers("praise")
    watch = Watch()
    watch.cancel()

    with pytest.raises(Cancelled):
        results.evaluate(project, queue, trained, "test", watch=watch)

    assert queue.jobs[1:] == () and results.run(project, trained.id).seen_test == 0


def test_missing_weights_are_named(project, queue, trained):
    run_folders.remove(project, trained.id)

    with pytest.raises(WorkbenchError, match="weights of run 'first' are missing"):
        results.evaluate(project, queue, trained, "test")

    assert queue.jobs[1:] == ()


def test_an_empty_split_says_so(project, queue, trained, topics):
    from workbench.operations.documents import corpus

    corpus.set_split(project, topics[1], "train")

    with pytest.raises(WorkbenchError, match="test split"):
        results.evaluate(project, queue, trained, "test")


def test_a_deleted_run_frees_its_space(project, trained):
    assert results.disk_space(project, trained.id) > 0

    freed = results.delete(project, trained.id)

    assert freed > 0 and runs.all(project.db) == () and results.disk_space(project, trained.id) == 0


@pytest.fixture
def suggested(project, trained, topics):
    """The trained run with one suggestion accepted, one rejected and two open; (layer, ids)."""
    layer, ids = topics
    label = layer.label("praise").id
    for id in ids[:4]:
        annotate.clear_class(project, id, layer.id)
    rows = [annotate.NewSuggestion(id, layer.id, label, score=0.9) for id in ids[:4]]
    suggestion_edits.add_suggestions(project, trained.id, rows, title="Suggest")
    accepted, rejected = (document_view.view(project, id).suggestions[0].id for id in ids[:2])
    suggestion_edits.accept(project, [accepted])
    suggestion_edits.reject(project, [rejected])
    return layer, ids


def stored_suggestions(project):
    return project.db.reader().execute("select count(*) from suggestion").fetchone()[0]


def test_a_deleted_run_takes_its_suggestions_with_it_and_leaves_accepted_labels(
    project, trained, suggested
):
    _layer, ids = suggested

    results.delete(project, trained.id)

    assert stored_suggestions(project) == 0
    assert [len(document_view.view(project, id).suggestions) for id in ids[:4]] == [0, 0, 0, 0]
    assert [mark.source_kind for mark in document_view.view(project, ids[0]).marks] == ["run"]
    assert check_open(project) == []


def test_neither_undo_nor_redo_brings_suggestions_of_a_deleted_run_back(
    project, trained, suggested
):
    project.undo(2)
    results.delete(project, trained.id)
    while project.redo():
        assert stored_suggestions(project) == 0
    while project.undo():
        assert stored_suggestions(project) == 0
    while project.redo():
        assert stored_suggestions(project) == 0

    assert check_open(project) == []


def test_who_shows_a_document_hears_that_its_suggestions_went(project, trained, suggested):
    _layer, ids = suggested
    heard = []
    stop = project.changed.connect(heard.append)

    results.delete(project, trained.id)
    stop()

    assert any(event.touches("suggestion", ids[2]) for event in heard)
    assert not any(event.touches("suggestion", ids[5]) for event in heard)


def test_runs_are_deleted_all_or_none(project, trained):
    with project.write():
        busy = runs.add(project.db, "busy", status="running")

    with pytest.raises(WorkbenchError, match="'busy' is still running"):
        results.delete(project, trained.id, busy.id)

    assert {run.name for run in runs.all(project.db)} == {"first", "busy"}


def test_a_run_of_a_deleted_layer_does_not_pass_for_one_of_a_new_layer(project, trained, topics):
    layer, _ids = topics
    labels.delete_layer(project, layer.id)

    new = labels.add_layer(project, "other", "class", labels=["x"])

    assert new != layer.id
    with pytest.raises(WorkbenchError, match=r"Layer .\w+. of run .* is no longer in the project"):
        results.layer_of(project, runs.get(project.db, trained.id))


def test_a_run_without_a_task_has_no_layer(project):
    with project.write():
        run = runs.add(project.db, "pre", "pretrain", status="done")

    with pytest.raises(WorkbenchError, match="'pre' predicts no labels"):
        results.layer_of(project, run)


def test_an_unknown_run_names_those_there_are(project, trained):
    with pytest.raises(WorkbenchError, match="no run 'nix'.*first"):
        results.run_named(project, "nix")
