"""A prompt is filled exactly, run over a split, scored like a trained run, and can suggest."""

import json
from pathlib import Path

import pytest

from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.paths import resource
from workbench.operations import predict, prompt, results, suggest
from workbench.operations.prompt import PromptSpec
from workbench.operations.wire import wire
from workbench.storage import documents, runs

TEMPLATE = "{% for example in examples %}{{ example.text }} => {{ example.label }}\n{% endfor %}{{ text }} => {{ label }}"
STARTER = str(resource("models") / "starter-bert")


def spec(**more):
    return PromptSpec(
        **{"template": TEMPLATE, "model": STARTER, "model_name": "starter-bert", "shots": 2, **more}
    )


def test_the_preview_is_exactly_the_prompt_with_its_length(project, topics):
    found = prompt.preview(project, spec(shots=1, seed=3), label="praise")

    first, second = found.text.split("\n")
    assert first.rsplit(" => ")[1] in ("praise", "complaint") and "train" in first
    assert second == "the tram is late again dev 0 => praise"
    assert found.limit == 512 and found.examples == 1 and found.dropped == 0
    assert (
        set(found.prompts) == {"praise", "complaint"}
        and "".join(found.prompts["praise"]) == found.text
    )
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{STARTER}/tokenizer.json")
    tokenizer.no_padding()
    encode = tokenizer.encode
    assert found.tokens == max(len(encode("".join(one)).ids) for one in found.prompts.values())


def test_the_document_asked_about_is_never_among_the_examples(project, topics):
    training = documents.get(project.db, topics[1][0])

    found = prompt.preview(project, spec(shots=8), training)

    assert found.examples == 7 and found.text.count(training.text) == 1


def test_what_is_too_long_loses_examples_and_says_how_many(project, topics):
    filler = prompt.Filler(project, spec(shots=8))
    filler.budget.limit = 40

    found = prompt.preview(project, spec(shots=8), filler=filler)

    assert (
        found.tokens <= 40
        and found.examples + found.dropped == 8
        and found.dropped > 0
        and not found.cut
    )


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"template": "{{ text }}"}, "never writes the label"),
        ({"layer": "nix"}, "No layer 'nix'"),
        ({"model": "/nowhere"}, "no such folder"),
    ],
)
def test_what_cannot_work_is_told_before_anything_starts(project, topics, more, says):
    with pytest.raises(WorkbenchError, match=says):
        prompt.prepare(project, spec(**more))


@pytest.mark.parametrize("more", [{"shots": 99}, {"shots": -1}, {"order": "best"}])
def test_settings_out_of_range_are_refused(more):
    with pytest.raises(SpecError):
        spec(**more)


def test_a_split_without_documents_is_told(project, add_layer):
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
        json.loads(one)
        for one in Path(job.spec.params["prompts"]).read_text(encoding="ascii").splitlines()
    ]


def answer_all(job, label):
    lines = asked_lines(job)
    with open(f"{job.spec.folder}/scores.jsonl", "w", encoding="utf-8") as file:
        for line in lines:
            scores = {name: [-1.0, -3.0] if name == label else [-5.0] for name in line["prompts"]}
            about = {name: line[name] for name in ("document_id", "text_hash", "split", "cut")}
            file.write(json.dumps({**about, "logprobs": scores}) + "\n")


def test_a_finished_prompt_is_a_run_with_scores_and_answers(project, asked):
    evaluation = prompt.evaluation(project, asked)

    assert (asked.kind, asked.status, asked.name) == ("prompt", "done", "few")
    assert asked.scores["dev"]["accuracy"] == evaluation.scores["accuracy"] == 0.5
    assert evaluation.n == 4 and evaluation.fingerprint == asked.spec["fingerprint"]
    found = results.results(project, asked.id)
    assert found.today.scores == evaluation.scores and len(found.errors) == 2
    assert found.errors[0].score == pytest.approx(1 / (1 + 2.718281828**-3))


def test_the_input_of_the_worker_is_small_and_complete(project, queue, topics):
    prompt.run(project, queue, spec())

    lines = asked_lines(queue.jobs[-1])

    assert len(lines) == 4 and set(lines[0]["prompts"]) == {"praise", "complaint"}
    before, answer, _after = lines[0]["prompts"]["praise"]
    assert before == lines[0]["prompts"]["complaint"][0] and lines[0]["parts"][answer] == "praise"


def test_a_prompt_suggests_for_documents_that_nobody_has_labelled(project, queue, asked):
    told = []

    suggest.suggest(project, queue, asked, lambda outcome, error: told.append((outcome, error)))
    job = queue.jobs[-1]
    job.start()
    answer_all(job, "complaint")
    job.end("done", {"n": 4})

    outcome, error = told[0]
    assert error is None and outcome.documents == 4 and outcome.suggestions == 4


def test_answers_once_given_are_kept(project, queue, asked):
    waiting = [
        one.document for one in suggest.waiting_documents(project, results.layer_of(project, asked))
    ]
    told = []
    predict.ensure(project, queue, asked, waiting, lambda answers, error: told.append(answers))
    answer_all(queue.jobs[-1], "praise")
    queue.jobs[-1].end("done", {"n": 4})

    before = len(queue.jobs)
    predict.ensure(project, queue, asked, waiting, lambda answers, error: told.append(answers))

    assert len(queue.jobs) == before and told[0].keys() == told[1].keys()


def test_a_cancelled_prompt_leaves_no_run_and_a_failed_one_says_why(project, queue, topics):
    wiring = wire(project, queue)
    first, second = prompt.run(project, queue, spec()), prompt.run(project, queue, spec())
    queue.jobs[0].end("cancelled")
    queue.jobs[1].end("failed", message="No memory.")
    wiring.close()

    assert [one.id for one in runs.all(project.db)] == [second.id] != [first.id]
    failed = results.run(project, second.id)
    assert failed.status == "failed" and failed.result["message"] == "No memory."


def test_templates_are_kept_in_the_project_and_can_be_undone(project):
    prompt.save(project, "mine", "{{ text }} {{ label }}")
    prompt.save(project, "mine", "{{ text }}: {{ label }}")

    assert [one.body for one in prompt.saved(project)] == ["{{ text }}: {{ label }}"]
    project.undo()
    assert [one.body for one in prompt.saved(project)] == ["{{ text }} {{ label }}"]


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
    assert done.result["language_model"] == "masked" and prompt.evaluation(project, done).n == 4
