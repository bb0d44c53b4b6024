"""A prompt is filled exactly, run over a split, scored like a trained run, and can suggest."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from workbench.base import paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.paths import resource
from workbench.operations.annotation import suggest
from workbench.operations.prompts import prompt, prompt_fill
from workbench.operations.runs import predict, results, run_results
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_recorder import wire
from workbench.prompting import transcript
from workbench.prompting.backends import spec as backends
from workbench.prompting.generation import Reply
from workbench.prompting.spec import AnswerSpec, PromptSpec
from workbench.storage.documents import documents
from workbench.storage.runs import replies, runs
from workbench.tasks.pairs.info import PairsInfo

pytestmark = pytest.mark.process  # the worker that renders templates

TEMPLATE = (
    "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}"
    "{{ text }} => {{ label }}"
)
STARTER = str(resource("models") / "starter-bert")


def spec(**more):
    return PromptSpec(
        **{"template": TEMPLATE, "model": STARTER, "model_name": "starter-bert", "shots": 2, **more}
    )


@pytest.fixture
def preview(project):
    """preview(spec, document=None, limit=None, **more) → the preview.

    By default of the first document of dev.
    """
    with prompt_fill.Fillers(project) as fillers:

        def make(spec, document=None, limit=None, **more):
            filler = fillers.filler(spec)
            filler.budget.limit = limit or filler.budget.limit
            document = document or prompt_fill.first_document(project, filler.layer)
            return prompt_fill.preview(filler, document, **more)

        yield make


def test_the_preview_is_exactly_the_prompt_with_its_length(preview, topics):
    result = preview(spec(shots=1, seed=3), label="praise")

    first, second = result.text.split("\n")
    assert first.rsplit(" => ")[1] in ("praise", "complaint") and "train" in first
    assert second == "the tram is late again dev 0 => praise"
    assert result.limit == 512 and result.examples == 1 and result.dropped == 0
    assert (
        set(result.prompts) == {"praise", "complaint"}
        and "".join(result.prompts["praise"]) == result.text
    )
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{STARTER}/tokenizer.json")
    tokenizer.no_padding()
    encode = tokenizer.encode
    assert result.tokens == max(len(encode("".join(item)).ids) for item in result.prompts.values())


def test_the_document_asked_about_is_never_among_the_examples(project, preview, topics):
    training = documents.get(project.db, topics[1][0])

    result = preview(spec(shots=8), training)

    assert result.examples == 7 and result.text.count(training.text) == 1


def test_what_is_too_long_loses_examples_and_says_how_many(preview, topics):
    result = preview(spec(shots=8), limit=40)

    assert (
        result.tokens <= 40
        and result.examples + result.dropped == 8
        and result.dropped > 0
        and not result.cut
    )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"template": "{{ text }}"}, "never writes the label"),
        ({"template": "x" * 200_000 + "{{ label }}"}, "200,011 of at most"),
        ({"layer": "nix"}, "no layer 'nix' that a prompt"),
        ({"model": "/nowhere"}, "no such file or folder"),
    ],
)
def test_what_cannot_work_is_reported_before_anything_starts(project, topics, more, says):
    with pytest.raises(WorkbenchError, match=says):
        prompt.prepare(project, spec(**more))


@pytest.mark.parametrize(
    "more", [{"shots": 99}, {"shots": -1}, {"order": "best"}, {"calibration": "x"}]
)
def test_settings_out_of_range_are_refused(more):
    with pytest.raises(SpecError):
        spec(**more)


def test_a_layer_that_two_tasks_learn_is_offered_once(project, topics, monkeypatch):
    monkeypatch.setattr(PairsInfo, "texts", 1)

    assert [layer.name for layer, _count in prompt_fill.fitting_layers(project)] == ["topic"]


def test_a_split_without_documents_is_reported(project, add_layer):
    add_layer("topic")

    with pytest.raises(
        WorkbenchError, match="No submitted document of layer 'topic' is in the dev split"
    ):
        prompt.prepare(project, spec())


@pytest.fixture
def asked(project, queue, topics):
    """A prompt run whose worker has answered "praise" for everything."""
    wiring = wire(project, queue)
    run = prompt.run(project, queue, spec(name="few"))
    job = queue.jobs[-1]
    job.start()
    answer_all(job, "praise")
    job.end(
        "done", {"n": 4, "seconds": 1.0, "language_model": "masked", "versions": {"torch": "2"}}
    )
    yield results.run(project, run.id)
    wiring.close()


def asked_lines(job):
    return [
        json.loads(line)
        for line in Path(job.spec.params["prompts"]).read_text(encoding="ascii").splitlines()
    ]


def answer_all(job, label, without_text=None, most=None):
    """Answer `label` with a mean of -2 against -5, at most so many prompts.

    Without a text as given, otherwise all labels alike.
    """
    scored = []
    for line in asked_lines(job)[:most]:
        scores = {name: [-1.0, -3.0] if name == label else [-5.0] for name in line["prompts"]}
        if line["document_id"] is None:
            scores = without_text or {name: [-1.0] for name in line["prompts"]}
        scored.append(scores)
    score(job, scored)


def score(job, scored):
    """Give the units of the candidates of each line these log-probabilities."""
    with transcript.AnswerFile(Path(job.spec.folder)) as file:
        for number, (line, scores) in enumerate(zip(asked_lines(job), scored, strict=False)):
            came = {"logprobs": scores, "seconds": 0.1}
            file.add([transcript.answer(number, line, came)])


def test_a_finished_prompt_is_a_run_with_scores_and_answers(project, asked):
    evaluation = results.evaluate_stored(project, asked, "dev")

    assert (asked.kind, asked.status, asked.name) == ("prompt", "done", "few")
    assert asked.scores["dev"]["accuracy"] == evaluation.scores["accuracy"] == 0.5
    assert evaluation.n == 4 and evaluation.fingerprint == asked.spec["fingerprint"]
    result = results.results(project, asked.id)
    assert result.current.scores == evaluation.scores and len(result.errors) == 2
    assert result.errors[0].score == pytest.approx(1 / (1 + 2.718281828**-3))


def test_shuffled_examples_are_scored_in_several_orders_and_the_first_one_answers(
    project, queue, topics
):
    wiring = wire(project, queue)
    shuffled = {"arrangement": "shuffled", "orders": 3, "shots": 4}
    run = prompt.run(project, queue, spec(calibration="pmi", **shuffled))
    job = queue.jobs[-1]
    lines = asked_lines(job)
    by_order = {n: [line for line in lines if line.get("order", 0) == n] for n in (0, 1, 2)}
    asked_about = [line for line in by_order[0] if line["document_id"] is not None]
    gold = {id: ("complaint", "praise")[n % 2] for n, id in enumerate(topics[1][8:12])}

    assert run.spec["documents"] == 4 == len(asked_about)
    assert [line["of"] for line in by_order[1]] == [line["document_id"] for line in asked_about]
    assert [{*line["examples"]} for line in by_order[2]] == [
        {*line["examples"]} for line in asked_about
    ]
    assert len({tuple(by_order[n][-1]["examples"]) for n in (0, 1, 2)}) == 3

    def scores(line):
        best = gold[line["of"]] if line.get("order") == 1 else "praise"
        return {name: [-1.0 if name == best else -5.0] for name in line["prompts"]}

    job.start()
    equal = {"praise": [-1.0], "complaint": [-1.0]}
    score(job, [scores(line) if line.get("of") or line["document_id"] else equal for line in lines])
    job.end("done", {"n": 4})

    ended = results.run(project, run.id)
    orders = run_results.prompted(ended).orders
    assert orders[1] == 1.0
    assert orders[0] == orders[2] == ended.scores["dev"]["macro_f1"] < 0.5
    assert "over 3 orders of the examples: 33.3 to 100.0, mean 55.6" in prompt.order_spread(ended)
    assert "--orders 3" in prompt.command(project, ended)
    wiring.close()


def test_the_input_of_the_worker_is_small_and_complete(project, queue, topics):
    prompt.run(project, queue, spec())

    lines = [line for line in asked_lines(queue.jobs[-1]) if line["document_id"] is not None]

    assert len(lines) == 4 and set(lines[0]["prompts"]) == {"praise", "complaint"}
    before, answer, _after = lines[0]["prompts"]["praise"]
    assert before == lines[0]["prompts"]["complaint"][0] and lines[0]["parts"][answer] == "praise"


def whole(line, label="praise"):
    return "".join(line["parts"][number] for number in line["prompts"][label])


@pytest.mark.parametrize(
    ("calibration", "texts"),
    [("none", []), ("content-free", ["N/A", "[MASK]", ""]), ("pmi", [""])],
)
def test_the_prior_is_asked_once_for_a_set_of_examples_and_first(
    project, queue, topics, calibration, texts
):
    prompt.run(project, queue, spec(calibration=calibration))

    lines = asked_lines(queue.jobs[-1])
    prior, documents = lines[: len(texts)], lines[len(texts) :]

    assert [line["document_id"] for line in prior] == [None] * len(texts)
    assert len(documents) == 4 and {line["set"] for line in lines} == {0}
    examples = whole(documents[0]).rpartition("\n")[0]  # the same in all prompts
    assert [whole(line) for line in prior] == [f"{examples}\n{text} => praise" for text in texts]


def test_documents_with_other_examples_have_a_prior_of_their_own(project, queue, topics):
    """Two of the 8 training documents are examples; for each of them another one is used."""
    prepared = prompt.prepare(project, spec(calibration="pmi"), split="train")

    lines = [json.loads(line) for line in prepared.requests.lines]

    prior = [line["set"] for line in lines if line["document_id"] is None]
    assert prior == [0, 1, 2]
    assert lines[0]["document_id"] is None and lines[1]["document_id"] is not None
    asked = Counter(line["set"] for line in lines if line["document_id"] is not None)
    assert sorted(asked.values()) == [1, 1, 6]


def test_a_pair_is_without_both_texts(project, queue, add_layer, add_documents):
    add_layer("rte", texts=2)
    rows = [((f"a {n}", f"b {n}"), "dev", "submitted", "rte", "praise") for n in range(2)]
    add_documents(rows)
    template = "{{ text }} then {{ text_b }}: {{ label }}"

    prompt.run(project, queue, spec(template=template, shots=0))

    prior = asked_lines(queue.jobs[-1])[:3]
    assert [whole(prompt) for prompt in prior] == [
        "N/A then N/A: praise",
        "[MASK] then [MASK]: praise",
        " then : praise",
    ]


def test_choices_are_scored_for_each_document_with_a_prior_of_its_own(
    project, queue, choice_documents
):
    shipped = prompt.templates_for(prompt_fill.choose_layer(project, "answer")[0])[0].source

    run = prompt.run(project, queue, spec(template=shipped, layer="answer", shots=1))

    lines = asked_lines(queue.jobs[-1])
    first, second = (line for line in lines if line["document_id"] is not None)
    assert list(first["prompts"]) == ["1", "2", "3"] and list(second["prompts"]) == ["1", "2"]
    assert whole(second, "2").endswith("Bob waited.\nQuestion: For what?\nAnswer: the bus\n")
    assert "Ada left.\nQuestion: Where to?\nAnswer: home\n" in whole(first, "1")  # the example
    prior = [line for line in lines if line["set"] == second["set"]][:3]
    assert [whole(line, "2").rpartition("\n\n")[2] for line in prior] == [
        "N/A\nQuestion: N/A\nAnswer: the bus\n",
        "[MASK]\nQuestion: [MASK]\nAnswer: the bus\n",
        "Answer: the bus\n",  # after the line of the empty text
    ]
    assert run.spec["task"] == "choice"


def test_a_prompt_run_over_choices_is_scored_and_has_no_common_prior(
    project, queue, choice_documents
):
    wiring = wire(project, queue)
    template = "{{ text }} {{ question }} {{ label }}"
    run = prompt.run(project, queue, spec(template=template, layer="answer", calibration="none"))
    job = queue.jobs[-1]
    job.start()
    # by the mean over the units, the first of three and the second of two; gold is 1 and 2
    answers = [{"1": [-1.0, -1.0], "2": [-1.5], "3": [-4.0]}, {"1": [-3.0], "2": [-2.0, -2.0]}]
    score(job, answers)
    job.end("done", {"n": 2, "versions": {}})
    wiring.close()

    run = results.run(project, run.id)
    assert run.scores["dev"] == {"accuracy": 1.0, "mean_reciprocal_rank": 1.0}
    assert run.result["prior"] is None


def test_a_template_that_needs_a_text_is_calibrated_with_the_content_free_texts_it_takes(
    project, queue, topics
):
    template = "{{ text.split() | first }} => {{ label }}"

    prompt.run(project, queue, spec(template=template, shots=0))
    prior = [line for line in asked_lines(queue.jobs[-1]) if line["document_id"] is None]
    assert [whole(line) for line in prior] == ["N/A => praise", "[MASK] => praise"]

    with pytest.raises(SpecError, match="needs the prompt without a text: Line 1"):
        prompt.prepare(project, spec(template=template, shots=0, calibration="pmi"))


def test_a_calibrated_run_is_a_regular_run_with_its_prior(project, queue, topics):
    wiring = wire(project, queue)
    run = prompt.run(project, queue, spec(name="calibrated"))
    job = queue.jobs[-1]
    job.start()
    # "praise" is e^-2 : e^-5 with a text and e^0 : e^-5 without: divided, "complaint" wins 1 : e^-2
    answer_all(job, "praise", {"praise": [0.0], "complaint": [-5.0]})
    job.end("done", {"n": 4, "versions": {}})
    wiring.close()

    run = results.run(project, run.id)
    result = results.results(project, run.id)
    share = 1 / (1 + math.exp(-2))
    assert run.result["calibration"] == "content-free" and run.result["prior_sets"] == 1
    assert run.result["prior"]["praise"] == pytest.approx(1 / (1 + math.exp(-5)))
    assert run.scores["dev"]["accuracy"] == 0.5 and len(result.errors) == 2
    assert result.errors[0].score == pytest.approx(share)


def test_a_run_of_a_version_without_calibration_stays_uncalibrated(project, queue, topics):
    run = prompt.run(project, queue, spec())
    raw = {name: value for name, value in run.spec.items() if name != "calibration"}

    assert PromptSpec.from_json(raw).calibration == "none"
    assert prompt.spec_of(run).calibration == "content-free"


def test_a_run_of_a_version_without_backends_asks_a_model_on_this_computer(project, queue, topics):
    run = prompt.run(project, queue, spec())
    raw = {name: value for name, value in run.spec.items() if name != "backend"}

    result = PromptSpec.from_json({**raw, "options": {}})

    assert result == prompt.spec_of(run)
    assert queue.jobs[-1].spec.params["backend"] == result.backend == backends.DEFAULT


def test_a_prompt_suggests_for_documents_that_nobody_has_labelled(project, queue, asked):
    def worker(job):
        answer_all(job, "complaint")
        job.end("done", {"n": 4})

    queue.worker = worker

    outcome = suggest.suggest(project, queue, asked)

    assert outcome.documents == 4 and outcome.suggestions == 4


def test_answers_once_given_are_kept(project, queue, asked):
    waiting = [
        waiting_document.document
        for waiting_document in suggest.waiting_documents(project, results.layer_of(project, asked))
    ]

    def worker(job):
        answer_all(job, "praise")
        job.end("done", {"n": 4})

    queue.worker = worker
    first = predict.predictions(project, queue, asked, waiting)
    before = len(queue.jobs)
    second = predict.predictions(project, queue, asked, waiting)

    assert len(queue.jobs) == before and first.keys() == second.keys()


def test_a_cancelled_prompt_leaves_no_run_and_a_failed_one_says_why(project, queue, topics):
    wiring = wire(project, queue)
    first, second = prompt.run(project, queue, spec()), prompt.run(project, queue, spec())
    queue.jobs[0].end("cancelled")
    queue.jobs[1].end("failed", message="No memory.")
    wiring.close()

    assert [entry.id for entry in runs.all(project.db)] == [second.id] != [first.id]
    failed = results.run(project, second.id)
    assert failed.status == "failed" and failed.result["message"] == "No memory."


def test_a_prompt_that_is_stopped_before_its_first_answer_leaves_no_run(project, queue, topics):
    wiring = wire(project, queue)
    prompt.run(project, queue, spec(calibration="none"))
    queue.jobs[-1].start()

    queue.jobs[-1].end("stopped", {"n": 0, "seconds": 1.0})
    wiring.close()

    assert not runs.all(project.db)


@pytest.fixture
def partly(project, queue, topics):
    """partly(status) → a run whose worker ended after two of four documents."""
    wiring = wire(project, queue)

    def end(status):
        run = prompt.run(project, queue, spec(calibration="none"))
        queue.jobs[-1].start()
        answer_all(queue.jobs[-1], "praise", most=2)
        queue.jobs[-1].end(status)
        return results.run(project, run.id)

    yield end
    wiring.close()


@pytest.mark.parametrize(
    ("status", "shown"), [("cancelled", "interrupted"), ("crashed", "crashed"), ("failed",) * 2]
)
def test_a_run_that_ended_early_keeps_its_answers_and_goes_on(
    project, queue, partly, status, shown
):
    run = partly(status)
    assert run.status == shown and prompt.can_resume(project, run)
    assert replies.count(project.db) == 2

    assert not kinds.start(project, queue, prompt.prepare_resume(project, run)).failure.message
    job = queue.jobs[-1]
    assert list(transcript.answers(Path(job.spec.folder))) == [0, 1]
    answer_all(job, "praise")
    job.end("done", {"n": 4})

    done = results.run(project, run.id)
    assert done.status == "done" and results.evaluate_stored(project, done, "dev").n == 4
    assert not prompt.can_resume(project, done)
    with pytest.raises(SpecError, match="nothing left to send"):
        prompt.prepare_resume(project, done)


def test_the_answers_of_a_program_that_was_killed_are_kept_when_it_is_opened_again(
    project, queue, topics
):
    run = prompt.run(project, queue, spec(calibration="none"))
    answer_all(queue.jobs[-1], "praise", most=3)
    with project.write():
        runs.update(project.db, run.id, status="interrupted")  # as by opening the project
    queue.jobs = ()

    wire(project, queue).close()

    assert replies.count(project.db) == 3
    assert prompt.can_resume(project, results.run(project, run.id))


def test_answers_that_arrived_before_a_second_kill_are_kept_too(project, queue, topics):
    run = prompt.run(project, queue, spec(calibration="none"))
    for most in (2, 3):
        answer_all(queue.jobs[-1], "praise", most=most)
        with project.write():
            runs.update(project.db, run.id, status="interrupted")  # as by opening the project
        queue.jobs = ()
        wire(project, queue).close()
        assert replies.count(project.db) == most
        run = results.run(project, run.id)
        assert run.result["n"] == most
        kinds.start(project, queue, prompt.prepare_resume(project, run))


def test_half_a_surrogate_pair_in_an_answer_is_kept(project, queue, topics):
    wiring = wire(project, queue)
    first = spec(calibration="none", answer=AnswerSpec("first"), template="{{ text }} {{ answer }}")
    run = prompt.run(project, queue, first)
    queue.jobs[-1].start()
    reply = Reply("praise \ud83d é").to_json()
    with transcript.AnswerFile(Path(queue.jobs[-1].spec.folder)) as file:
        for number, line in enumerate(asked_lines(queue.jobs[-1])):
            came = {"replies": [reply], "seconds": 0.1}
            file.add([transcript.answer(number, line, came)])
    queue.jobs[-1].end("done", {"n": 4})
    wiring.close()

    assert results.run(project, run.id).status == "done"
    again = prompt.prepare(project, first)
    assert [answer["replies"] for answer in again.requests.answers] == [[reply]] * 4


def test_what_the_project_knows_is_not_sent_again(project, queue, partly):
    partly("cancelled")

    run = prompt.run(project, queue, spec(calibration="none"))

    answers = transcript.answers(paths.run_folder(project.path, run.id))
    assert [answer["known"] for answer in answers.values()] == [True, True]
    other = prompt.run(project, queue, spec(calibration="none", shots=1))
    assert transcript.answers(paths.run_folder(project.path, other.id)) == {}


@pytest.mark.slow
def test_the_starter_answers_a_whole_split(project, inline_jobs, topics):
    pytest.importorskip("torch")
    wiring = wire(project, inline_jobs)

    run = prompt.run(project, inline_jobs, spec(device="cpu"))
    inline_jobs.wait(inline_jobs.jobs[-1], 100)
    wiring.close()

    done = results.run(project, run.id)
    assert done.status == "done" and set(done.scores["dev"]) == {
        "accuracy",
        "macro_f1",
        "micro_f1",
        "weighted_f1",
    }
    assert done.result["language_model"] == "masked"
    assert results.evaluate_stored(project, done, done.spec["split"]).n == 4
    assert sum(done.result["prior"].values()) == pytest.approx(1) and done.result["n"] == 4


def test_batch_calibration_sends_nothing_more_and_uses_the_prior_of_the_run_later(
    project, queue, topics
):
    wiring = wire(project, queue)
    run = prompt.run(project, queue, spec(calibration="batch", shots=0))
    job = queue.jobs[-1]
    assert all(line["document_id"] is not None for line in asked_lines(job))
    job.start()
    # shares of "praise" 0.9, 0.9, 0.6, 0.6: their mean is 0.75
    likely = [[math.log(p)] for p in (0.9, 0.9, 0.6, 0.6)]
    other = [[math.log(1 - p)] for p in (0.9, 0.9, 0.6, 0.6)]
    score(job, [{"praise": a, "complaint": b} for a, b in zip(likely, other, strict=True)])
    job.end("done", {"n": 4, "versions": {}})
    wiring.close()

    run = results.run(project, run.id)
    assert run.result["prior"]["praise"] == pytest.approx(0.75)
    dev = [documents.get(project.db, id) for id in topics[1][8:12]]
    stored = predict.stored(project, run, dev)
    assert [stored[item.id].label for item in dev] == ["praise"] * 2 + ["complaint"] * 2

    def worker(job):
        few = [{"praise": [math.log(0.7)], "complaint": [math.log(0.3)]}] * 4
        score(job, few)
        job.end("done", {"n": 4})

    queue.worker = worker
    later = [documents.get(project.db, id) for id in topics[1][-4:]]
    answers = predict.predictions(project, queue, run, later)
    assert {answer.label for answer in answers.values()} == {"complaint"}  # 0.7 / 0.75 < 0.3 / 0.25


def test_words_of_one_label_are_counted_together(project, queue, topics):
    wiring = wire(project, queue)
    words = {"praise": ("good", "fine"), "complaint": ("bad",)}
    run = prompt.run(project, queue, spec(calibration="none", words=words))
    job = queue.jobs[-1]
    assert set(asked_lines(job)[0]["prompts"]) == {"good", "fine", "bad"}
    job.start()
    score(job, [{"good": [-1.0], "fine": [-1.0], "bad": [-0.8]}] * 4)
    job.end("done", {"n": 4, "versions": {}})
    wiring.close()

    stored = results.evaluate_stored(project, results.run(project, run.id), "dev")
    assert {row.label for row in stored.per_label} == {"praise", "complaint"}
    assert stored.scores["accuracy"] == 0.5
