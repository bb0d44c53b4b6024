"""Runs of both tasks on a span layer, on one board and compared: all gold spans count."""

import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.evaluation import board_export, compare, quality
from workbench.operations.evaluation.board import board
from workbench.operations.runs import results
from workbench.storage.runs import runs
from workbench.text.fields import Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

TEXT = "Ada of York met Bob."
OUTER, INNER, BOB = (0, 11, "PER"), (7, 11, "LOC"), (16, 19, "PER")
OFFSETS = ((0, 3), (4, 6), (7, 11), (12, 15), (16, 19), (19, 20))


@pytest.fixture
def add_run(project, add_layer, add_documents):
    """add_run("name", "task", spans of the first document) → a run; the second has its spans."""
    layer = add_layer("names", "span", ("PER", "LOC"))
    add_documents(
        [
            (TEXT, "dev", "submitted", "names", (OUTER, INNER, BOB)),
            (f"{TEXT} ", "dev", "submitted", "names", (BOB,)),
        ]
    )

    def add(name, task, *spans):
        with project.write():
            run = runs.add(
                project.db,
                name,
                layer_id=layer.id,
                spec={"task": task, "layer": "names"},
                status="done",
            )
        rows = []
        for at, item in enumerate(results.scored(project, run, "dev")):
            answer = predicted(spans if at == 0 else (BOB,)).to_json()
            rows.append((item.document.id, item.document.text_hash, answer))
        with project.write():
            runs.save_predictions(project.db, run.id, rows)
        own = results.results(project, run.id).current
        with project.write():
            result = {"evaluations": {"dev": own.to_json()}}
            runs.update(project.db, run.id, result=result)
        return results.run(project, run.id)

    return add


def predicted(spans):
    """The spans, and the tag of each word by the longest of them."""
    words = []
    for start, end in OFFSETS:
        over = [span for span in spans if span[0] <= start < span[1]]
        label = max(over, key=lambda item: item[1] - item[0])[2] if over else None
        words.append(WordTag(start, end, label, 0.9))
    found = tuple(Span(*span, score=0.9) for span in sorted(spans))
    return Prediction((WordTags(tuple(words)), SpanScores(found)))


@pytest.fixture
def pair(add_run):
    """A tagger that finds every flat span, and a classifier of spans that finds all."""
    return add_run("tagger", "tag", OUTER, BOB), add_run("nested", "spans", OUTER, INNER, BOB)


def test_a_tagger_misses_nested_spans_on_the_board_but_not_in_its_own_scores(project, pair):
    tagger, nested = pair
    own = quality.evaluate(quality.evidence(project, tagger, "dev")).intervals
    assert own.scores["span_f1"].value == 1.0

    found = board(project)

    # by hand: 4 gold spans, of which the tagger finds 3 of 3: F1 = 2 · 3 / 7
    assert [entry.run.name for entry in found.entries] == ["nested", "tagger"] and not found.others
    assert found.named("nested").value("span_f1") == 1.0
    assert found.named("tagger").value("span_f1") == pytest.approx(6 / 7)
    assert found.named("tagger").value("token_accuracy") == 1.0  # of the longest spans
    assert found.named("nested").value("token_accuracy") == 1.0
    assert not any(entry.changed for entry in found.entries)
    assert "all gold spans" in board_export.to_markdown(found)
    assert "all gold spans" in board_export.board_report(found)["definition"]


def test_runs_of_both_tasks_are_compared_on_all_gold_spans(project, pair):
    tagger, nested = pair

    found = compare.compare(project, (tagger.id, nested.id))

    (tests,) = found.pairs
    assert [row.gold for row in tests.only_second] == ["LOC “York”"]
    assert tests.both_right == 1 and not tests.only_first
    assert tests.differences["span_f1"].value == pytest.approx(6 / 7 - 1)
    assert {row.name: row.difference.value for row in tests.labels} == {"LOC": -1.0, "PER": 0.0}


def test_gold_that_changed_since_one_of_the_runs_is_noted(project, pair):
    with project.write():
        row = {**results.original(pair[0], "dev").to_json(), "fingerprint": "0" * 32}
        runs.update(project.db, pair[0].id, result={"evaluations": {"dev": row}})

    changed = {entry.run.name: entry.changed for entry in board(project).entries}

    assert changed == {"nested": False, "tagger": True}


def test_runs_that_answer_another_question_of_the_layer_are_told_apart(project, pair):
    with project.write():
        other = runs.add(
            project.db, "z", layer_id=pair[0].layer_id, spec={"task": "token"}, status="done"
        )

    with pytest.raises(WorkbenchError, match="The task of tagger is “Token tagging”, that of z"):
        compare.compare(project, (pair[0].id, other.id))
    (entry,) = board(project).others
    assert entry.problem == "Its task is a different one: Tag for every token."
