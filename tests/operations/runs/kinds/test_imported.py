"""Predictions made elsewhere become runs; scores equal those of scikit-learn and seqeval."""

import json

import pytest
from seqeval.metrics import f1_score as span_f1
from sklearn.metrics import accuracy_score, f1_score

from workbench.base.errors import WorkbenchError
from workbench.operations.application.sample import create_sample
from workbench.operations.evaluation import compare, scoring
from workbench.operations.runs import predict, results
from workbench.operations.runs.kinds.imported.kind import add, match
from workbench.operations.schema import labels as schema
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.tasks import spec as tasks
from workbench.text.dataset import Record
from workbench.text.document import Document
from workbench.text.spans import Span


@pytest.fixture
def sample(tmp_path):
    project = Project.open(create_sample(tmp_path))
    yield project
    project.close()


def gold_of(project, layer, split="dev"):
    found = documents.records(project.db, layers=(layer,), splits=(split,), submitted_in=layer)
    return list(found)


def write(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def classes(project):
    """(key, gold, predicted) of dev: every third document is predicted as delay."""
    rows = [
        (record.document.key, record.marks["class"][0])
        for record in gold_of(project, "class")
        if record.marks.get("class")
    ]
    return [(key, gold, "delay" if n % 3 == 0 else gold) for n, (key, gold) in enumerate(rows)]


def test_scores_of_a_table_equal_those_of_scikit_learn(sample, tmp_path):
    rows = classes(sample)
    file = write(tmp_path / "mine.csv", "id,label,score", [f"{k},{p},0.9" for k, _g, p in rows])

    matched = match(sample, file)
    run = add(sample, None, matched)

    gold, predicted = [gold for _k, gold, _p in rows], [p for _k, _g, p in rows]
    assert (run.name, run.kind, run.layer, run.status) == ("mine", "imported", "class", "done")
    assert matched.unmatched == () and len(matched.answers) == len(rows)
    assert run.scores["dev"]["accuracy"] == pytest.approx(accuracy_score(gold, predicted))
    assert run.scores["dev"]["macro_f1"] == pytest.approx(
        f1_score(gold, predicted, average="macro", zero_division=0)
    )
    wrong = sum(g != p for g, p in zip(gold, predicted, strict=True))
    assert len(results.results(sample, run.id).errors) == wrong
    answer = next(iter(matched.answers.values()))[1]
    assert max(answer.classes.scores) == 0.9


def test_scores_of_spans_equal_those_of_seqeval(sample, tmp_path):
    golds, predicted, lines = [], [], []
    layer = next(layer for layer in labels.layers(sample.db) if layer.name == "spans")
    for n, item in enumerate(scoring.scored_documents(sample, tasks.info("tag"), layer, "dev")):
        spans = [(span.start, span.end, span.label) for span in item.gold.spans]
        mine = spans[1:] if n % 2 else spans
        text = item.document.text
        golds.append(tags(text, spans))
        predicted.append(tags(text, mine))
        lines.append(json.dumps({"text": text, "spans": mine}))
    file = tmp_path / "spans.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")

    run = add(sample, None, match(sample, file, "spans"))

    assert run.scores["dev"]["span_f1"] == pytest.approx(span_f1(golds, predicted))


def tags(text, spans):
    """A tag for each character, as the spans do not overlap."""
    found = ["O"] * len(text)
    for start, end, label in spans:
        found[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return found


def test_nested_spans_are_scored_against_all_gold_spans(sample, tmp_path):
    lines = [
        json.dumps(
            {"id": record.document.key, "spans": [span_of(s) for s in record.spans["spans"]]}
        )
        for record in gold_of(sample, "spans")
        if record.spans.get("spans")
    ]
    file = tmp_path / "nested.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")

    matched = match(sample, file)
    run = add(sample, None, matched)

    assert matched.task.id == run.spec["task"] == "spans"
    assert run.scores["dev"]["span_f1"] == 1


def span_of(span):
    return {"start": span.start, "end": span.end, "label": span.label}


def test_the_format_of_predict_is_read_as_it_was_written(sample, tmp_path):
    rows = classes(sample)
    file = write(tmp_path / "a.csv", "key,label", [f"{k},{p}" for k, _g, p in rows])
    first = add(sample, None, match(sample, file))
    found = [record.document for record in gold_of(sample, "class")]
    stored = predict.stored(sample, first, found)
    lines = [json.dumps({"key": d.key, **stored[d.id].to_json()}) for d in found if d.id in stored]
    own = tmp_path / "own.jsonl"
    own.write_text("\n".join(lines), encoding="utf-8")

    second = add(sample, None, match(sample, own))

    assert second.scores == first.scores
    assert predict.stored(sample, second, found) == stored


def test_lines_that_match_nothing_are_named_with_their_value(sample, tmp_path):
    key = classes(sample)[0][0]
    other = classes(sample)[1][0]
    rows = [f"{key},delay", "nobody,delay", f"{other},weather", f"{key},praise"]
    file = write(tmp_path / "mine.tsv", "id\tlabel", [row.replace(",", "\t") for row in rows])

    matched = match(sample, file, "class")

    assert len(matched.answers) == 1 and matched.unknown == {"weather": 1}
    assert [item.line for item in matched.unmatched] == [3, 4, 5]
    reasons = [item.reason for item in matched.unmatched]
    assert "'nobody'" in reasons[0] and "'weather'" in reasons[1] and "line 2" in reasons[2]


def test_a_file_without_a_match_is_refused(sample, tmp_path):
    file = write(tmp_path / "mine.csv", "id,label", ["nobody,delay"])

    with pytest.raises(WorkbenchError, match="no prediction for a document") as error:
        match(sample, file)

    assert "nobody" in error.value.hint


def test_a_file_without_a_match_is_explained_for_the_layer_that_it_has_fields_of(sample, tmp_path):
    file = tmp_path / "spans.jsonl"
    line = {"id": classes(sample)[0][0], "spans": [[0, 99999, "STOP"]]}
    file.write_text(json.dumps(line), encoding="utf-8")

    with pytest.raises(WorkbenchError) as error:
        match(sample, file)

    assert "99999 is outside the text" in error.value.hint


def test_a_run_without_a_model_predicts_no_other_documents(sample, tmp_path):
    file = write(tmp_path / "a.csv", "id,label", [f"{classes(sample)[0][0]},delay"])
    run = add(sample, None, match(sample, file))
    found = [record.document for record in gold_of(sample, "class")]

    with pytest.raises(WorkbenchError, match="no model to predict them"):
        predict.predictions(sample, None, run, found)


def test_a_comparison_with_documents_that_lack_predictions_says_how_to_add_them(sample, tmp_path):
    rows = classes(sample)
    chosen = []
    for name, used in (("all", rows), ("some", rows[1:])):
        file = write(tmp_path / f"{name}.csv", "id,label", [f"{k},{p}" for k, _g, p in used])
        chosen.append(add(sample, None, match(sample, file)))

    with pytest.raises(WorkbenchError, match="not scored on the same test set") as error:
        compare.compare(sample, [run.id for run in chosen])

    assert error.value.hint == "Import a file with predictions for all of them."


def test_the_last_column_of_tokens_has_the_predicted_tags(sample, tmp_path):
    with sample.edit("Add"):
        record = Record(Document("c-1", (("text", "Ada met Bob Roe"),)))
        documents.add(sample.db, [record], source_id=sample.source("import"))
    file = write(
        tmp_path / "mine.conll",
        "Ada B-PERSON O",
        ["met O O", "Bob B-PERSON B-PERSON", "Roe I-PERSON I-PERSON", ""],
    )

    matched = match(sample, file, "spans")

    ((document, answer),) = matched.answers.values()
    assert document.key == "c-1"
    assert [(span.start, span.end, span.label) for span in answer.spans] == [(8, 15, "PERSON")]


def test_chains_of_another_system_are_scored_as_those_of_a_run(project, tmp_path):
    """Gold is {Ada, She} {Bob}; the file links Bob and She: no link of MUC is right."""
    schema.add_layer(project, "people", "cluster", labels=("m",))
    text = "Ada met Bob. She left."
    places = {"Ada": (0, 3), "Bob": (8, 11), "She": (13, 16)}
    gold = tuple(
        Span(*places[name], "m", chain=chain)
        for name, chain in (("Ada", 1), ("Bob", 2), ("She", 1))
    )
    document = Document("a", (("text", text),), "dev")
    record = Record(document, {"people": "submitted"}, {}, {"people": gold})
    with project.edit("add"):
        documents.add(project.db, [record], source_id=project.source("import"))
    spans = [
        {"start": start, "end": end, "label": "m", "chain": chain}
        for (start, end), chain in zip(places.values(), (7, 3, 3), strict=True)
    ]
    line = {"id": "a", "text": text, "spans": spans}
    file = write(tmp_path / "other.jsonl", json.dumps(line), [])

    run = add(project, None, match(project, file))

    scores = run.scores["dev"]
    assert scores["muc_f1"] == 0.0 and scores["mention_f1"] == 1.0
    assert scores["b_cubed_precision"] == pytest.approx(2 / 3)  # 1 of Ada, 1 / 2 of Bob and She
