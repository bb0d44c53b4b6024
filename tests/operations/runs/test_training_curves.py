import json

from workbench.base import paths
from workbench.jobs import steps
from workbench.operations.runs.training_curves import part_rates, training_curves


def step(number, **more):
    return {
        "kind": "step",
        "step": number,
        "total": 4,
        "losses": {"task": 1.0 / number, "lm": 1.0},
        "per_step": ["learning_rate", "gradient_norm"],
        "learning_rate": number / 10,
        **more,
    }


def test_every_step_of_merged_messages_is_read(project, trained):
    merged = steps.merge([step(1, gradient_norm=0.5), step(2, gradient_norm=1.5)])
    evaluated = {"kind": "evaluated", "step": 3, "split": "dev", "scores": {"accuracy": 0.5}}
    plan = {"kind": "rate_plan", "clip": 0.5, "steps": [], "rates": {}}
    payloads = [plan, merged, step(3, gradient_norm=2.0), evaluated, {"kind": "saved", "step": 3}]
    folder = paths.run_folder(project.path, trained.id)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "output", "payload": payload}) for payload in payloads]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    found = training_curves(project, trained.id)

    assert found.loss == ((1, 2, 3), (2.0, 1.5, 1 / 3 + 1.0))
    assert found.parts == {
        "task": ((1, 2, 3), (1.0, 0.5, 1 / 3)),
        "lm": ((1, 2, 3), (1.0, 1.0, 1.0)),
    }
    assert found.learning_rate == ((1, 2, 3), (0.1, 0.2, 0.3))
    assert found.gradient_norm == ((1, 2, 3), (0.5, 1.5, 2.0))
    assert found.clip == 0.5 and found.part_rates == {}
    assert found.scores == {"accuracy": ((3,), (0.5,))} and found.best == 3


def test_the_rates_of_five_parts_are_drawn_and_the_clipping_is_known():
    names = ["embeddings", *(f"layer_{number}" for number in range(1, 13)), "head"]
    payload = {"clip": 1.0, "steps": [1, 3], "rates": {name: [0.1, 0.2] for name in names}}

    found = part_rates(payload)

    assert list(found) == ["embeddings", "layer_3", "layer_6", "layer_10", "head"]
    assert found["head"] == ((1, 3), (0.1, 0.2))
    assert list(part_rates({**payload, "rates": dict.fromkeys(names[:1], [0.1, 0.2])})) == names[:1]
    assert part_rates({"clip": 1.0}) == {}


def test_an_adaptation_of_the_language_model_has_curves_of_its_own(project, trained):
    adapting = {"kind": "adapting", "step": 1, "losses": {"masked": 4.0}}
    adapted = {"kind": "adapted", "step": 2, "scores": {"perplexity": 60.0}}
    payloads = [adapting, {**adapting, "step": 2, "losses": {"masked": 3.5}}, adapted, step(1)]
    folder = paths.run_folder(project.path, trained.id)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "output", "payload": payload}) for payload in payloads]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    found = training_curves(project, trained.id)

    assert found.adapting == {"masked": ((1, 2), (4.0, 3.5))}
    assert found.adapted == {"perplexity": ((2,), (60.0,))} and found.loss[0] == (1,)


def test_a_run_without_events_has_no_curves(project, trained):
    assert training_curves(project, trained.id) is None


def test_a_pretraining_has_curves_of_its_held_out_text(project, trained):
    held_out = {"kind": "evaluated", "split": "held-out", "loss": 2.0}
    payloads = [
        step(1),
        {**held_out, "step": 1, "scores": {"perplexity": 9.0}},
        step(2),
        {**held_out, "step": 2, "scores": {"perplexity": 7.5}},
    ]
    folder = paths.run_folder(project.path, trained.id)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "output", "payload": payload}) for payload in payloads]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    curves = training_curves(project, trained.id)

    assert curves.held_out == {"perplexity": ((1, 2), (9.0, 7.5))}
    assert curves.loss[0] == (1, 2) and curves.scores == {}


def test_a_damaged_line_is_skipped(project, trained):
    folder = paths.run_folder(project.path, trained.id)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"type": "output", "payload": step(number)}) for number in (1, 2)]
    (folder / "events.jsonl").write_text(f'{lines[0]}\n{{"type": "out\n{lines[1]}\n')

    assert training_curves(project, trained.id).loss[0] == (1, 2)
