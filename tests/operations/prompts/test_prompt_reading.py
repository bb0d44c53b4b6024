"""Prompts about every kind of layer are runs like trained ones: scores, errors, suggestions."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.paths import resource
from workbench.operations.annotation import provenance, suggest
from workbench.operations.annotation.suggestion_edits import accept
from workbench.operations.documents import queries
from workbench.operations.evaluation import board, compare, errors, quality, slices
from workbench.operations.prompts import prompt, prompt_fill, prompt_reading
from workbench.operations.runs import predict, results, run_results
from workbench.operations.runs.run_recorder import wire
from workbench.operations.transfer import data_export
from workbench.prompting import transcript
from workbench.prompting.spec import AnswerSpec, Decoding, PromptSpec
from workbench.storage.documents import documents
from workbench.storage.labels import labels
from workbench.text.dataset import Record
from workbench.text.document import CHOICES, Document, with_choices
from workbench.text.fields import FromReply
from workbench.text.questions import Question
from workbench.text.spans import Span

pytestmark = pytest.mark.process  # the worker that renders templates

MODEL = str(resource("models") / "starter-gpt")
TEMPLATE = (
    "{% for example in examples %}{{ example.text }} {{ example.question }}\n"
    "{{ example.answer }}\n\n{% endfor %}{{ text }} {{ question }}\n{{ answer }}"
)
TEXT = "Ada met Bob in Rome. Bob left Rome."


def spec(form, *, samples=1, shots=2, **answer):
    return PromptSpec(
        TEMPLATE,
        MODEL,
        model_name="starter-gpt",
        shots=shots,
        answer=AnswerSpec(form, **answer),
        decoding=Decoding(samples=samples),
    )


@pytest.fixture
def add_gold(project):
    """add_gold(kind, labels, golds, texts=1) → layer `x` with documents, the first in train, the
    others in dev, and one without gold in no split.
    """

    def add(kind, names, golds, texts=1):
        with project.edit("add layer"):
            layer = labels.add_layer(project.db, "x", kind, texts=texts)
            for name in names:
                labels.add_label(project.db, layer, name)
        records = [record(kind, texts, number, gold) for number, gold in enumerate(golds)]
        records.append(record(kind, texts, len(golds), None))
        with project.edit("add documents"):
            return documents.add(project.db, records, source_id=project.source("import"))

    return add


def record(kind, texts, number, gold):
    text = f"{TEXT} {number}"
    split = None if gold is None else "dev" if number else "train"
    document = Document(f"d{number}", (("text", text),), split)
    if texts == 2:
        document = replace(document, texts=(("text", text), ("text_b", "Yes.")))
    if texts == CHOICES:
        choices = with_choices(f"d{number}", text, ("Ada", "Rome", "nobody"), "Who left?")
        document = replace(choices, split=split)
    states = {} if gold is None else {"x": "submitted"}
    if kind == "score":
        return Record(document, states, numbers={} if gold is None else {"x": gold})
    if kind == "span":
        spans = tuple(Span(*item) for item in gold or ())
        return Record(document, states, spans={"x": spans})
    if kind == "answer":
        asked = gold or (Question("Who?"), Question("Why?"))
        return Record(document, states or {"x": "draft"}, questions={"x": asked})
    return Record(document, states, {} if gold is None else {"x": gold})


def sent(job):
    path = Path(job.spec.params["prompts"])
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def whole(line):
    return line["parts"][line["text"]]


def reply(job, texts):
    """Reply to each request with the texts of its samples."""
    with transcript.AnswerFile(Path(job.spec.folder)) as file:
        for number, (line, samples) in enumerate(zip(sent(job), texts, strict=True)):
            replies = [{"text": text, "finish": "stop"} for text in samples]
            file.add([transcript.answer(number, line, {"replies": replies, "seconds": 0.1})])
    job.end("done", {"n": len(texts), "versions": {}})


@pytest.fixture
def answered(project, queue):
    """answered(spec, replies) → the run, after its worker wrote them: texts, or lists of them."""
    wiring = wire(project, queue)

    def run(spec, replies):
        started = prompt.run(project, queue, spec)
        job = queue.jobs[-1]
        job.start()
        reply(job, [[item] if isinstance(item, str) else item for item in replies])
        return results.run(project, started.id)

    yield run
    wiring.close()


PER = ((0, 3, "PER"), (8, 11, "PER"), (21, 24, "PER"))
ROME = ((15, 19, "LOC"), (30, 34, "LOC"))
WHO = (Question("Who?", ((0, 3),)), Question("Why?", (), True))
KINDS = {
    "class": ("class", ("yes", "no"), (("yes",), ("no",), ("yes",))),
    "pair": ("class", ("yes", "no"), (("yes",), ("no",), ("yes",)), 2),
    "choice": ("choice", ("1", "2", "3"), (("1",), ("1",), ("2",)), CHOICES),
    "multi": ("multi", ("a", "b"), (("a",), ("a", "b"), ())),
    "score": ("score", (), (3.0, 4.0, 1.5)),
    "span": ("span", ("PER", "LOC"), (PER, (*PER, *ROME), ())),
    "answer": ("answer", (), (WHO, WHO, WHO)),
}
RIGHT = {  # form and kind → replies that state the gold of both documents of dev
    ("first", "class"): ("No.", "yes"),
    ("json", "class"): ('{"label": "no"}', '{"label": "yes"}'),
    ("regex", "class"): ("label: no", "label: yes"),
    ("reason", "class"): ("Yes? Answer: no", "Answer: yes"),
    ("first", "pair"): ("no", "yes"),
    ("choice", "choice"): ("Ada", "B"),
    ("json", "choice"): ('{"choice": "A"}', '{"choice": "B"}'),
    ("several", "multi"): ("b and a", "none"),
    ("json", "multi"): ('{"labels": ["a", "b"]}', '{"labels": []}'),
    ("number", "score"): ("4", "1.5 stars"),
    ("json", "score"): ('{"number": 4}', '{"number": 1.5}'),
    ("quotes", "span"): ('PER: "Ada", "Bob"\nLOC: "Rome"', "none"),
    ("json", "span"): (
        '{"spans": [{"text": "Ada", "label": "PER"}, {"text": "Bob", "label": "PER"},'
        ' {"text": "Rome", "label": "LOC"}]}',
        '{"spans": []}',
    ),
    ("tags", "span"): (
        "[PER Ada] met [PER Bob] in [LOC Rome]. [PER Bob] left [LOC Rome]. 1",
        f"{TEXT} 2",
    ),
    ("answer", "answer"): ("Ada", "none", "Ada", "none"),
    ("json", "answer"): ('{"answer": "Ada"}', '{"answer": null}', '{"answer": "Ada"}', "null"),
}
PERFECT = {
    "class": ("accuracy", "macro_f1"),
    "pair": ("accuracy", "macro_f1"),
    "choice": ("accuracy", "mean_reciprocal_rank"),
    "multi": ("micro_f1", "exact_match"),
    "score": ("pearson",),
    "span": ("span_f1", "span_macro_f1"),
    "answer": ("answer_f1", "answer_exact_match"),
}


@pytest.mark.parametrize(("form", "kind"), RIGHT)
def test_right_replies_of_every_form_have_perfect_scores(project, add_gold, answered, form, kind):
    add_gold(*KINDS[kind])
    pattern = r"label: (\w+)" if form == "regex" else ""

    run = answered(spec(form, pattern=pattern), RIGHT[form, kind])

    assert {run.scores["dev"][name] for name in PERFECT[kind]} == {1.0}
    result = results.results(project, run.id)
    assert result.errors == () and result.current.no_answer == 0 and result.without_answer == 0
    ranked = quality.evidence(project, run, "dev")
    assert len(ranked.predictions) == 2


@pytest.mark.parametrize(("form", "kind"), RIGHT)
def test_an_unreadable_reply_is_wrong_listed_and_suggests_nothing(
    project, queue, add_gold, answered, form, kind
):
    ids = add_gold(*KINDS[kind])
    pattern = r"label: (\w+)" if form == "regex" else ""
    asked = 4 if kind == "answer" else 2

    run = answered(spec(form, pattern=pattern), ["?!"] * asked)

    evaluation = results.evaluate_stored(project, run, "dev")
    assert evaluation.no_answer == 2 and evaluation.n == 2
    assert set(run_results.prompted(run).no_answer.values()) == {2}
    listed = results.results(project, run.id).errors
    assert {row.document_id for row in listed} == set(ids[1:3])
    for name in PERFECT[kind]:
        assert evaluation.scores[name] <= 0
    stored = predict.stored(project, run, [documents.get(project.db, id) for id in ids[1:3]])
    assert all(prediction.no_answer for prediction in stored.values())

    queue.worker = lambda job: reply(job, [["?!"]] * len(sent(job)))
    assert suggest.suggest(project, queue, run).suggestions == 0


@pytest.mark.parametrize(("form", "kind"), RIGHT)
def test_runs_of_every_form_are_measured_and_compared_like_trained_ones(
    project, add_gold, answered, form, kind
):
    """Intervals, slices, matrix, errors, the board and paired tests."""
    add_gold(*KINDS[kind])
    pattern = r"label: (\w+)" if form == "regex" else ""
    right = RIGHT[form, kind]
    first = answered(spec(form, pattern=pattern), right)
    half = len(right) // 2
    second = answered(spec(form, pattern=pattern), (*right[:half], *["?!"] * half))

    evaluation = results.evaluate_stored(project, second, "dev")
    measured = quality.measure_intervals(project, second, evaluation)
    main = quality.evidence(project, second, "dev").info.main
    table = board.board(project, "x", "dev")
    pair = compare.compare(project, [first.id, second.id])

    assert measured.no_answer == 1 and measured.intervals.scores[main].interval is not None
    assert slices.slices(quality.evidence(project, second, "dev")) is not None
    assert {entry.run.id for entry in table.entries} == {first.id, second.id}
    assert pair.n == 2 and pair.pair(first.id, second.id) is not None
    assert len(errors.items(project, second)) >= 1 and errors.items(project, first) == ()
    matrix = results.results(project, second.id).current.confusion
    assert (matrix is None) == (kind in ("choice", "multi", "score", "answer"))


def test_span_scores_equal_seqeval(project, add_gold, answered):
    from seqeval.metrics import f1_score
    from seqeval.scheme import IOB2

    add_gold(*KINDS["span"])

    run = answered(spec("quotes"), ('PER: "Ada", "Bob left"\nLOC: "Rome"', "?!"))

    gold = "B-PER O B-PER O B-LOC O B-PER O B-LOC O O".split()
    read = "B-PER O O O B-LOC O B-PER I-PER B-LOC O O".split()
    nothing = ["O"] * len(gold)
    f1 = f1_score([gold, nothing], [read, nothing], mode="strict", scheme=IOB2)
    assert run.scores["dev"]["span_f1"] == pytest.approx(f1)


def test_examples_are_answered_in_the_form_and_the_text_to_continue_ends_before_it(
    project, queue, add_gold
):
    add_gold(*KINDS["span"])

    prompt.run(project, queue, spec("quotes", shots=1))

    first, second = sent(queue.jobs[-1])
    assert whole(first) == f'{TEXT} 0 \nPER: "Ada", "Bob", "Bob"\n\n{TEXT} 1 \n'
    assert whole(second).endswith(f"{TEXT} 2 \n")
    assert queue.jobs[-1].spec.params["decoding"]["stop"] == ["\n\n"]


def test_every_question_is_asked_on_its_own(project, queue, add_gold):
    add_gold(*KINDS["answer"])

    prompt.run(project, queue, spec("answer", shots=2))

    lines = sent(queue.jobs[-1])
    assert [line["question"] for line in lines] == ["Who?", "Why?", "Who?", "Why?"]
    assert f"{TEXT} 0 Why?\nnone\n\n" in whole(lines[0])
    assert whole(lines[1]).endswith(f"{TEXT} 1 Why?\n")


def test_a_question_that_cannot_be_read_is_no_answer_and_the_others_count(
    project, add_gold, answered
):
    add_gold(*KINDS["answer"])

    run = answered(spec("answer"), ("Ada", "Eve", "Ada", "none"))

    assert run.scores["dev"] == {"answer_exact_match": 0.75, "answer_f1": 0.75}
    assert results.evaluate_stored(project, run, "dev").no_answer == 1


def test_the_command_line_repeats_how_the_model_answers(project, add_gold, answered):
    add_gold(*KINDS["class"])
    chosen = replace(
        spec("reason", marker="So:", samples=3),
        words={"yes": ("sure", "yes")},
        decoding=Decoding(samples=3, temperature=0.5, seed=7, stop=("\n",)),
    )

    run = answered(chosen, [["So: sure"] * 3] * 2)

    words = shlex.split(prompt.command(project, run))
    after = [words[words.index(option) + 1] for option in ("--form", "--marker", "--samples")]
    assert after == ["reason", "So:", "3"]
    assert [word for word in words if word.startswith("yes=")] == ["yes=sure", "yes=yes"]
    assert words[words.index("--stop") + 1] == "\\n"


def test_a_reply_can_be_restricted_to_what_the_form_reads(project, queue, add_gold):
    add_gold(*KINDS["class"])

    prompt.run(project, queue, spec("first", constrained=True))
    (line, _other) = sent(queue.jobs[-1])
    prompt.run(project, queue, spec("json", constrained=True))
    (schema, _other) = sent(queue.jobs[-1])

    assert [line["parts"][at] for at in line["choices"]] == ["yes", "no"]
    assert schema["schema"]["properties"] == {"label": {"enum": ["yes", "no"]}}


def test_agreement_of_samples_is_the_confidence_on_the_board_and_in_suggestions(
    project, queue, add_gold, answered
):
    add_gold(*KINDS["class"])

    run = answered(
        spec("first", samples=4), (["no", "no", "yes", "no"], ["yes", "no", "no", "yes"])
    )

    assert run.scores["dev"]["accuracy"] == 1.0
    evidence = quality.evidence(project, run, "dev")
    confidence, right, _at = evidence.info.confidences(evidence.golds, evidence.predictions)
    assert confidence.tolist() == [0.75, 0.5] and right.all()
    assert quality.calibrated(evidence, evidence, 1.0, can_scale=True) is not None

    queue.worker = lambda job: reply(job, [["no", "no", "no", "yes"]])
    suggest.suggest(project, queue, run)
    (row,) = suggestions(project)
    assert row.score == 0.75


def test_one_reply_without_probabilities_suggests_without_confidence(
    project, queue, add_gold, answered
):
    add_gold(*KINDS["class"])
    run = answered(spec("first"), ("no", "yes"))

    queue.worker = lambda job: reply(job, [["no"]])
    suggest.suggest(project, queue, run)

    (row,) = suggestions(project)
    assert row.score is None
    evidence = quality.evidence(project, run, "dev")
    assert quality.calibrated(evidence, evidence, 1.0, can_scale=True) is None


def suggestions(project):
    from workbench.storage.annotation import suggestions as stored

    return [row for id in documents.ids(project.db) for row in stored.suggestions(project.db, id)]


def test_quoted_strings_without_a_place_are_counted_and_listed(project, add_gold, answered):
    ids = add_gold(*KINDS["span"])

    run = answered(spec("quotes"), ('PER: "Ada", "Eve"', "none"))

    assert run_results.prompted(run).unplaced == 1
    first = documents.get(project.db, ids[1])
    prediction = predict.stored(project, run, [first])[ids[1]]
    assert prediction.get(FromReply).unplaced == ("Eve",)
    assert prediction.remark == "Not in the text: “Eve”"
    assert [span.start for span in prediction.spans] == [0]
    assert prediction.words[0].label == "PER" and prediction.words[1].label is None


@pytest.mark.parametrize(("mentions", "starts"), [("all", [8, 21]), ("first", [8])])
def test_which_occurrences_are_spans_is_a_setting(project, add_gold, answered, mentions, starts):
    ids = add_gold(*KINDS["span"])

    run = answered(spec("quotes", mentions=mentions), ('PER: "Bob"', "none"))

    stored = predict.stored(project, run, [documents.get(project.db, ids[1])])
    assert [span.start for span in stored[ids[1]].spans] == starts


def test_a_form_that_does_not_fit_is_refused_with_those_that_do(project, add_gold):
    add_gold(*KINDS["span"])

    with pytest.raises(SpecError, match="does not fit") as refused:
        prompt.prepare(project, spec("scored"))
    assert "quotes, tags, json, reason" in refused.value.hint


def test_all_layers_that_a_prompt_can_answer_about_are_offered(project, add_layer):
    for name, kind, names in (
        ("topic", "class", ("a", "b")),
        ("tags", "multi", ("a",)),
        ("stars", "score", ()),
        ("names", "span", ("PER",)),
        ("questions", "answer", ()),
        ("pos", "tag", ("N", "V")),
    ):
        add_layer(name, kind, names)

    offered = {layer.name for layer, _count in prompt_fill.fitting_layers(project)}

    assert offered == {"topic", "tags", "stars", "names", "questions"}
    assert prompt_reading.task_of(labels.layer_by_name(project.db, "names")).id == "spans"


def test_prompts_of_all_forms_are_on_one_board_and_can_be_compared(project, add_gold, answered):
    add_gold(*KINDS["class"])
    first = answered(spec("first"), ("no", "yes"))
    second = answered(spec("json"), ("?", '{"label": "yes"}'))

    table = board.board(project, "x", "dev")
    paired = compare.compare(project, [first.id, second.id])

    assert {entry.run.id for entry in table.entries} == {first.id, second.id}
    assert paired.n == 2 and len(paired.pairs) == 1
    (item,) = errors.items(project, second)
    assert (item.mistake.gold, item.mistake.predicted) == ("no", "")
    with pytest.raises(WorkbenchError, match="nothing to accept"):
        errors.accept(project, second, item)
    matrix = results.results(project, second.id).current.confusion
    assert matrix.cells[matrix.labels.index("no")][matrix.labels.index("–")] == 1


def test_accepted_suggestions_become_gold_with_their_origin(project, queue, add_gold, answered):
    ids = add_gold(*KINDS["class"])
    run = answered(replace(spec("first"), prompt_name="tone", prompt_version=2), ("no", "yes"))
    queue.worker = lambda job: reply(job, [["no"]])
    suggest.suggest(project, queue, run)

    (row,) = suggestions(project)
    accept(project, [row.id])

    assert row.source_kind == "prompt"
    origin = provenance.origin_of(row)
    assert provenance.Names(project).of(origin) == "prompt:tone@2"
    (record,) = documents.records(project.db, ids=[ids[-1]])
    assert record.marks["x"] == ("no",)
    matches = queries.matching(project, f"source:{run.name}")
    assert list(matches) == [ids[-1]]
    results.delete(project, run.id)
    assert provenance.Names(project).of(origin) == "prompt:tone@2"


def test_predictions_without_an_answer_are_left_out_of_an_export(
    project, add_gold, answered, tmp_path
):
    add_gold(*KINDS["span"])
    run = answered(spec("quotes"), ("?", "none"))
    out = tmp_path / "out.jsonl"

    result = data_export.export_data(
        project, out, format="doccano", split="dev", source="predictions", run=run
    )

    assert len(out.read_text(encoding="utf-8").splitlines()) == 1
    assert any("was omitted" in warning for warning in result.warnings)


@pytest.mark.parametrize("calibration", ["none", "content-free", "batch"])
def test_a_scored_prompt_that_was_refused_is_no_answer(project, queue, add_gold, calibration):
    add_gold("class", ("yes", "no"), (("yes",), ("no",), ("yes",)))
    scored = replace(spec("scored"), template="{{ text }} {{ label }}", calibration=calibration)
    wiring = wire(project, queue)
    started = prompt.run(project, queue, scored)
    job = queue.jobs[-1]
    job.start()
    with transcript.AnswerFile(Path(job.spec.folder)) as file:
        for number, line in enumerate(sent(job)):
            came = {"logprobs": {"yes": [-1.0], "no": [-2.0]}, "seconds": 0.1}
            if line["document_id"] is not None and number == len(sent(job)) - 1:
                refused = {"text": "", "finish": "failed", "error": "Error 400: too long."}
                counts = {"prompt_tokens": 0, "reply_tokens": 0}
                came = {"replies": [{**refused, **counts}], "seconds": 0.1}
            file.add([transcript.answer(number, line, came)])
    job.end("done", {"n": 2, "failed": 1, "versions": {}})
    wiring.close()

    run = results.run(project, started.id)

    assert run.status == "done" and run.result["no_answer"] == {"failed": 1}
    assert run.scores["dev"]["accuracy"] == 0  # "no" is read as "yes", the other is no answer
