"""A run from the first step to the kept version, with a tiny model on the CPU."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from workbench.base.errors import ModelError, SpecError
from workbench.runtime.tokenizer import Tokenizer
from workbench.tasks import model as networks
from workbench.tasks.base import Loss
from workbench.tasks.classify.info import ClassifyInfo
from workbench.tasks.classify.task import Classify
from workbench.tasks.predictor import Predictor
from workbench.tasks.spec import ScoreInfo
from workbench.text.dataset import Dataset, Record, gold_fingerprint, write
from workbench.text.document import Document
from workbench.text.fields import Prediction
from workbench.training import checkpoints, loop
from workbench.training.events import Evaluated, LogMessage, PrecisionTrial, RatePlan, Saved, Step
from workbench.training.finetuning import FineTuning
from workbench.training.spec import TrainSpec

LONG = "the tram is late and the bus from harbour gate to north field is full " * 4
FAST = {"epochs": 3, "learning_rate": 0.01, "batch_size": 8, "device": "cpu", "precision": "fp32"}


def finish(work, commands=None):
    """All events of a generator and its result.

    `commands` maps the number of an event to the command that is sent after it.
    """
    events, command = [], None
    try:
        while True:
            events.append(work.send(command))
            command = (commands or {}).get(len(events))
    except StopIteration as end:
        return events, end.value


def train(
    data, model, folder, task="classify", *, commands=None, with_test=False, seed=1, **options
):
    folder.mkdir(exist_ok=True)
    spec = TrainSpec(
        task,
        data.layers[0].name,
        str(model),
        "tiny",
        seed,
        {**FAST, **options},
        with_test=with_test,
    )
    return finish(loop.train(spec, data, folder), commands)


def kinds(events, kind):
    return [event for event in events if isinstance(event, kind)]


def score_with(monkeypatch, scores):
    """Let `scores()` be the scores of every evaluation of document classes."""
    monkeypatch.setattr(ClassifyInfo, "score", lambda *_: scores())


def answers(folder):
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    "task, data", [("classify", "classes"), ("pairs", "pairs"), ("tag", "tags")]
)
def test_each_task_learns_its_data_by_heart_and_the_folder_answers_alike(
    task, data, request, tiny_model, tmp_path
):
    data = request.getfixturevalue(data)

    events, result = train(
        data, tiny_model, tmp_path / "run", task, with_test=True, epochs=14, learning_rate=0.02
    )

    assert result.evaluations["dev"].scores["span_f1" if task == "tag" else "accuracy"] == 1.0
    assert result.used == {"train": 16, "dev": 4, "test": 4} and result.steps == 28
    assert result.best_step in {kind.step for kind in kinds(events, Saved)}
    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    found = answers(tmp_path / "run")
    assert [item["split"] for item in found] == ["dev"] * 4 + ["test"] * 4
    for line, prediction in zip(
        found, predictor.predict([record.document for record in data.records[16:]]), strict=True
    ):
        assert line["prediction"]["label"] == prediction.label
        assert [(s["start"], s["end"], s["label"]) for s in line["prediction"]["spans"]] == [
            (s.start, s.end, s.label) for s in prediction.spans
        ]


def test_events_tell_the_course_of_a_run(classes, tiny_model, tmp_path):
    events, result = train(classes, tiny_model, tmp_path / "run")

    steps = kinds(events, Step)
    assert (
        [step.step for step in steps] == list(range(1, 7))
        and steps[-1].total == 6
        and steps[-1].epoch == 3
    )
    assert (
        set(steps[0].losses) == {"task"} and steps[0].memory_mb > 0 and steps[-1].seconds_left == 0
    )
    assert [kind.split for kind in kinds(events, Evaluated)] == ["dev"] * 3 and kinds(
        events, LogMessage
    )
    last_epoch = [step.losses["task"] for step in steps[-2:]]
    assert (
        result.loss == pytest.approx(sum(last_epoch) / 2)
        and result.cpu_seconds > result.predicting.cpu_seconds > 0
        and result.predicting.documents > 0
        and len(result.weights_sha256) == 64
    )
    assert all(json.loads(json.dumps(event.to_json()))["kind"] for event in events)


@pytest.mark.parametrize("task, data", [("classify", "classes"), ("tag", "tags")])
def test_one_seed_gives_one_result_and_another_seed_another(
    task, data, request, tiny_model, tmp_path
):
    data = request.getfixturevalue(data)

    (_, item), (_, same), (_, other) = (
        train(data, tiny_model, tmp_path / str(n), task, seed=seed)
        for n, seed in enumerate((3, 3, 4))
    )

    assert (item.evaluations, item.loss, item.weights_sha256) == (
        same.evaluations,
        same.loss,
        same.weights_sha256,
    )
    assert item.loss != other.loss


def test_the_best_is_the_highest_score_and_the_earlier_on_a_tie(
    classes, tiny_model, tmp_path, monkeypatch
):
    values = iter([0.2, 0.7, 0.7, 0.1])
    score_with(monkeypatch, lambda: {"macro_f1": next(values), "accuracy": 0.0})

    events, result = train(classes, tiny_model, tmp_path / "run", epochs=4)

    assert result.best_step == 4 and result.evaluations["dev"].scores["macro_f1"] == 0.7
    assert [kind.step for kind in kinds(events, Saved)] == [2, 4]
    assert json.loads((tmp_path / "run" / "model" / "glossbench.json").read_text())["step"] == 4


def test_of_a_score_that_is_an_error_the_lowest_is_the_best(
    classes, tiny_model, tmp_path, monkeypatch
):
    values = iter([1.4, 0.9, 0.9, 1.2])
    score_with(monkeypatch, lambda: {"macro_f1": next(values), "accuracy": 0.0})
    error = ScoreInfo("macro_f1", "Steps between labels", is_error=True)
    monkeypatch.setattr(ClassifyInfo, "scores", (error, *ClassifyInfo.scores[1:]))

    events, result = train(classes, tiny_model, tmp_path / "run", epochs=4)

    assert result.best_step == 4 and result.evaluations["dev"].scores["macro_f1"] == 0.9
    assert [kind.step for kind in kinds(events, Saved)] == [2, 4]


def test_a_disk_that_fills_up_ends_the_run_with_the_best_version_so_far(
    classes, tiny_model, tmp_path, monkeypatch
):
    values = iter([0.2, 0.7, 0.9])
    save = checkpoints.save
    score_with(monkeypatch, lambda: {"macro_f1": next(values), "accuracy": 0.0})

    def full(*given):
        if given[-1]["step"] == 6:
            raise OSError(28, "No space left on device")
        return save(*given)

    monkeypatch.setattr(checkpoints, "save", full)
    events, result = train(classes, tiny_model, tmp_path / "run", epochs=8)

    assert (
        result.best_step == 4
        and result.evaluations["dev"].scores["macro_f1"] == 0.7
        and result.steps == 6
    )
    assert any("disk is full" in kind.line for kind in kinds(events, LogMessage))
    assert json.loads((tmp_path / "run" / "model" / "glossbench.json").read_text())[
        "step"
    ] == 4 and answers(tmp_path / "run")


def test_a_disk_without_room_for_the_model_is_reported_before_the_first_step(
    classes, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        "shutil.disk_usage", lambda _folder: shutil._ntuple_diskusage(10**9, 10**9, 5_000_000)
    )

    with pytest.raises(SpecError, match="5.0 MB free; the run needs about") as caught:
        train(classes, tiny_model, tmp_path / "run")
    assert "Free some disk space" in caught.value.hint


def test_the_test_score_comes_from_the_best_version_not_the_last(
    classes, tiny_model, tmp_path, monkeypatch
):
    values = iter([0.9, 0.1, 0.1, 0.5])
    score_with(monkeypatch, lambda: {"macro_f1": next(values)})

    _, result = train(classes, tiny_model, tmp_path / "run", with_test=True)

    assert (
        result.best_step == 2
        and result.steps == 6
        and result.evaluations["test"].scores == {"macro_f1": 0.5}
    )
    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    lines = [answer for answer in answers(tmp_path / "run") if answer["split"] == "test"]
    for line, prediction in zip(
        lines,
        predictor.predict([piece.document for piece in classes.by_split("test")]),
        strict=True,
    ):
        assert line["prediction"]["scores"] == pytest.approx(prediction.classes.as_dict(), abs=1e-6)


@pytest.mark.parametrize("task, data", [("classify", "classes"), ("tag", "tags")])
def test_the_scores_of_each_label_are_stored_with_the_gold_they_are_against(
    task, data, request, tiny_model, tmp_path
):
    data = request.getfixturevalue(data)

    _, result = train(data, tiny_model, tmp_path / "run", task, with_test=True, epochs=1)

    layer, records = data.layers[0].name, data.records[20:]
    gold = [
        record.marks[layer][0]
        if task == "classify"
        else [[span.start, span.end, span.label] for span in record.spans[layer]]
        for record in records
    ]
    hashes = [record.document.text_hash for record in records]
    test = result.evaluations["test"]
    assert test.n == 4 and 0 <= test.scores["span_f1" if task == "tag" else "accuracy"] <= 1
    assert test.fingerprint == gold_fingerprint(zip(hashes, gold, strict=True))
    support = {row.label: row.support for row in test.per_label if row.support}
    assert support == ({"bad": 2, "good": 2} if task == "classify" else {"LOC": 4, "PER": 4})
    assert set(result.evaluations) == {"dev", "test"}


def test_without_dev_the_last_version_is_kept(classes, tiny_model, tmp_path):
    data = Dataset(classes.layers, classes.by_split("train"))

    events, result = train(data, tiny_model, tmp_path / "run")

    assert (
        result.evaluations == {}
        and result.best_step == result.steps == 6
        and [kind.step for kind in kinds(events, Saved)] == [6]
    )
    assert answers(tmp_path / "run") == []


def test_stop_keeps_the_best_and_ends_soon(classes, tiny_model, tmp_path):
    first = 3 + 2 + 1  # three lines of the log, two steps, the score: the version is saved next

    events, result = train(
        classes,
        tiny_model,
        tmp_path / "run",
        epochs=50,
        evaluate_every=2,
        commands={first + 1: "stop"},
    )

    assert result.stopped and result.steps <= 4 and result.best_step == 2
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file() and len(
        answers(tmp_path / "run")
    ) == 4


def test_stop_before_the_first_score_takes_one_and_keeps_that(classes, tiny_model, tmp_path):
    events, result = train(classes, tiny_model, tmp_path / "run", epochs=50, commands={4: "stop"})

    assert (
        result.steps == 1
        and result.best_step == 1
        and result.evaluations["dev"].scores
        and kinds(events, Saved)
    )


def test_close_writes_nothing_more(classes, tiny_model, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    work = loop.train(TrainSpec("classify", "c", str(tiny_model), options=FAST), classes, folder)
    while not isinstance(next(work), Step):
        pass

    work.close()

    assert list(folder.iterdir()) == []


def test_patience_ends_a_run_that_gains_nothing(classes, tiny_model, tmp_path, monkeypatch):
    score_with(monkeypatch, lambda: {"macro_f1": 0.5})

    _, result = train(
        classes, tiny_model, tmp_path / "run", epochs=30, evaluate_every=2, patience=2
    )

    assert result.steps == 6 and result.best_step == 2


@pytest.mark.parametrize(
    "freeze, moved", [("none", "011"), ("embeddings", "011"), ("1", "001"), ("encoder", "000")]
)
def test_frozen_weights_stay_bit_for_bit(classes, tiny_model, tmp_path, freeze, moved):
    from safetensors.torch import load_file

    train(classes, tiny_model, tmp_path / "run", freeze=freeze)

    before, after = (
        load_file(tiny_model / "model.safetensors"),
        load_file(tmp_path / "run" / "model" / "model.safetensors"),
    )
    names = [
        "bert.embeddings.word_embeddings.weight",
        "bert.encoder.layer.0.output.dense.weight",
        "bert.encoder.layer.1.output.dense.weight",
    ]
    changed = [not torch.equal(before[name], after[name]) for name in names]
    assert changed == [freeze == "none", moved[1] == "1", moved[2] == "1"]
    assert torch.equal(before["bert.pooler.dense.weight"], after["bert.pooler.dense.weight"]) == (
        freeze == "encoder"
    )


def test_gradual_unfreezing_begins_with_the_head(classes, tiny_model, tmp_path):
    from safetensors.torch import load_file

    train(classes, tiny_model, tmp_path / "run", gradual_unfreezing="yes", epochs=2, best_by="last")

    before, after = (
        load_file(tiny_model / "model.safetensors"),
        load_file(tmp_path / "run" / "model" / "model.safetensors"),
    )
    same = [
        torch.equal(
            before[f"bert.encoder.layer.{n}.output.dense.weight"],
            after[f"bert.encoder.layer.{n}.output.dense.weight"],
        )
        for n in (0, 1)
    ]
    assert same == [True, False]  # two epochs: the head, then the upper layer


def test_the_clipping_and_the_rates_of_parts_are_reported_once(classes, tiny_model, tmp_path):
    options = {"schedule": "constant", "warmup": 0, "epochs": 2}
    same, _result = train(classes, tiny_model, tmp_path / "same", grad_clip=0.5, **options)
    apart, _result = train(classes, tiny_model, tmp_path / "apart", layer_decay=10, **options)

    assert kinds(same, RatePlan) == [RatePlan(0.5)]
    (plan,), steps = kinds(apart, RatePlan), kinds(apart, Step)
    assert plan.clip == 1.0 and plan.steps == tuple(step.step for step in steps)
    assert plan.rates["head"] == tuple(step.learning_rate for step in steps)
    assert plan.rates["embeddings"][0] < plan.rates["layer_1"][0] < plan.rates["head"][0]


def test_layer_decay_moves_the_top_more_than_the_bottom(classes, tiny_model, tmp_path):
    from safetensors.torch import load_file

    train(classes, tiny_model, tmp_path / "run", layer_decay=50, schedule="constant", warmup=0)

    before, after = (
        load_file(tiny_model / "model.safetensors"),
        load_file(tmp_path / "run" / "model" / "model.safetensors"),
    )
    move = [
        float(
            (
                before[f"bert.encoder.layer.{n}.output.dense.weight"]
                - after[f"bert.encoder.layer.{n}.output.dense.weight"]
            )
            .abs()
            .mean()
        )
        for n in (0, 1)
    ]
    assert 0 < move[0] < move[1] / 10


@pytest.mark.parametrize(
    "schedule, last", [("linear", 1 / 6), ("constant", 1.0), ("slanted", None)]
)
def test_the_schedule_sets_the_rate(classes, tiny_model, tmp_path, schedule, last):
    from workbench.training.rates import slanted_triangular

    events, _ = train(classes, tiny_model, tmp_path / "run", schedule=schedule, warmup=0)

    rates = [kind.learning_rate / 0.01 for kind in kinds(events, Step)]
    assert rates[0] == 1.0
    assert rates[-1] == pytest.approx(
        slanted_triangular(5, 6, peak=1.0, cut=0) if last is None else last
    )


def test_accumulated_batches_make_one_step(classes, tiny_model, tmp_path):
    _, result = train(
        classes, tiny_model, tmp_path / "run", batch_size=4, accumulation=2, evaluate_every=2
    )

    assert result.steps == 6 and result.plan.steps_per_epoch == 2


def test_a_score_is_taken_as_often_as_asked(classes, tiny_model, tmp_path):
    events, _ = train(classes, tiny_model, tmp_path / "run", evaluate_every=4, best_by="loss")

    assert [kind.step for kind in kinds(events, Evaluated)] == [4, 6]


def test_the_training_limit_takes_fewer_documents(classes, tiny_model, tmp_path):
    _, result = train(classes, tiny_model, tmp_path / "run", train_limit=5)

    assert result.used["train"] == 5 and result.plan.steps_per_epoch == 1


def test_texts_cut_at_the_maximum_length_are_counted(classes, tiny_model, tmp_path):
    _, result = train(classes, tiny_model, tmp_path / "run", max_length=8)

    tokenizer = Tokenizer.load(tiny_model)
    long = [
        len(encoded.ids) > 8
        for encoded, _ in tokenizer.whole(
            [(record.document.text,) for record in classes.records], 64
        )
    ]
    assert 0 < sum(long[:16]) == result.cut_by_split["train"] < 16 and result.cut == sum(long[:20])
    assert (
        json.loads((tmp_path / "run" / "model" / "glossbench.json").read_text())["max_length"] == 8
    )


def test_long_texts_of_tags_run_in_windows(tags, tiny_model, tmp_path):
    long = Record(
        Document("l", (("text", "ada met bob in paris . " * 20),), "train", id=99),
        {"s": "submitted"},
        {},
        {},
    )

    _, result = train(
        Dataset(tags.layers, (*tags.records, long)), tiny_model, tmp_path / "run", "tag", epochs=1
    )

    assert result.windows > 1 and result.cut == 0 and result.used["train"] == 17


def test_the_job_reads_a_snapshot_and_its_splits(classes, tiny_model, tmp_path):
    write(tmp_path / "data.jsonl", classes.layers, classes.records, ids=True)
    spec = TrainSpec("classify", "c", str(tiny_model), "tiny", 1, FAST)
    params = {
        "spec": spec.to_json(),
        "data": str(tmp_path / "data.jsonl"),
        "splits": {"train": [1, 2, 3, 4], "dev": [17, 18], "test": []},
    }
    (tmp_path / "run").mkdir()

    events, result = finish(loop.run(params, tmp_path / "run"))

    assert result["used"] == {"train": 4, "dev": 2, "test": 0} and {
        event["kind"] for event in events
    } >= {
        "log",
        "step",
        "evaluated",
        "saved",
    }
    assert [answer["document_id"] for answer in answers(tmp_path / "run")] == [17, 18]


def test_what_cannot_be_learned_is_refused_before_the_model_is_loaded(
    classes, tiny_model, tmp_path
):
    pending = Dataset(classes.layers, tuple(Record(record.document) for record in classes.records))

    with pytest.raises(SpecError, match="no submitted document"):
        train(pending, tiny_model, tmp_path / "run")
    with pytest.raises(ModelError, match="no such file or folder"):
        train(classes, tmp_path / "none", tmp_path / "run")
    with pytest.raises(SpecError, match="2 layers"):
        train(classes, tiny_model, tmp_path / "run", freeze="3")


def test_a_rate_that_bursts_the_loss_ends_with_a_clear_message(
    classes, tiny_model, tmp_path, monkeypatch
):
    forward = Classify.forward

    def burst(self, model, batch):
        outputs = forward(self, model, batch)
        loss = outputs.losses["task"]
        return outputs._replace(losses={"task": Loss(loss.total * float("nan"), loss.count)})

    monkeypatch.setattr(Classify, "forward", burst)

    with pytest.raises(SpecError, match="diverged"):
        train(classes, tiny_model, tmp_path / "run")


def test_out_of_memory_passes_to_the_worker(classes, tiny_model, tmp_path, monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("no memory")

    monkeypatch.setattr(Classify, "forward", full)

    with pytest.raises(torch.OutOfMemoryError):
        train(classes, tiny_model, tmp_path / "run")


def weights_of(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model" / "model.safetensors")


@pytest.mark.parametrize("task, data", [("classify", "classes"), ("tag", "tags")])
def test_a_run_that_is_short_of_memory_learns_the_same_in_smaller_parts(
    task, data, request, tiny_model, tmp_path, monkeypatch
):
    data = request.getfixturevalue(data)
    exact = {"dropout": 0.0, "epochs": 1, "accumulation": 2, "evaluate_every": 1}
    train(data, tiny_model, tmp_path / "whole", task, **exact)
    kind = type(networks.task_of(task))
    forward = kind.forward

    def limited(self, model, batch):
        if model.training and len(batch.inputs["input_ids"]) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to …")
        return forward(self, model, batch)

    monkeypatch.setattr(kind, "forward", limited)
    events, result = train(data, tiny_model, tmp_path / "parts", task, **exact)

    whole, parts = weights_of(tmp_path / "whole"), weights_of(tmp_path / "parts")
    for name, expected in whole.items():
        torch.testing.assert_close(parts[name], expected, atol=1e-5, rtol=0)
    lines = [event.line for event in kinds(events, LogMessage) if "memory" in event.line]
    assert len(lines) == 2 and "micro-batches of 2 examples" in lines[-1]
    description = json.loads((tmp_path / "parts" / "model" / "glossbench.json").read_text())
    assert result.micro_batch == description["micro_batch"] == 2 and not result.checkpointing


# Trains while no more than 200 MB can be added to the memory of the process: a new one, as others
# have freed memory that they can use again.
SHORT_OF_MEMORY = """
import json, resource, sys
from pathlib import Path
from workbench.text.dataset import read
from workbench.training import loop
from workbench.training.spec import TrainSpec

folder = Path(sys.argv[1])
spec, data = json.loads((folder / "spec.json").read_text()), read(folder / "data.jsonl")
few = {**spec, "options": {**spec["options"], "batch_size": 8, "train_limit": 8}}
for event in loop.train(TrainSpec.from_json(few), data, folder / "first"):
    pass  # what libraries take once is there before the limit
for event in loop.train(TrainSpec.from_json(spec), data, folder / "run"):
    if "batch size 3072" in getattr(event, "line", ""):
        lines = Path("/proc/self/status").read_text().splitlines()
        used = next(int(line.split()[1]) for line in lines if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, ((used + 200 * 1024) * 1024,) * 2)
    print(getattr(event, "line", event.kind))
"""


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="limits the memory of Linux")
def test_a_batch_that_really_does_not_fit_into_memory_is_divided(classes, tiny_model, tmp_path):
    records = [
        replace(record, document=replace(record.document, texts=(("text", LONG),), id=100 + number))
        for number, record in enumerate(classes.by_split("train") * 192)
    ]
    options = {**FAST, "epochs": 1, "batch_size": len(records)}
    spec = TrainSpec("classify", "c", str(tiny_model), options=options)
    (tmp_path / "spec.json").write_text(json.dumps(spec.to_json()))
    write(tmp_path / "data.jsonl", classes.layers, records, ids=True)

    command = [sys.executable, "-c", SHORT_OF_MEMORY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)

    # Not how it ends: a limit on addresses also keeps oneDNN from creating its code at times.
    assert "Continuing with micro-batches of" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("family", ["bert", "gpt2", "t5"])
def test_gradient_checkpointing_learns_the_same_with_the_same_dropout(
    classes, tmp_path, family, monkeypatch
):
    from tests import tiny_models
    from workbench.models.base import Encoder

    monkeypatch.setattr(Encoder, "whole", True)  # as with checkpointing: the masks have one shape
    model = tiny_models.make(tmp_path / family, family)
    settings = {"dropout": 0.3, "epochs": 1}

    events, _result = train(classes, model, tmp_path / "kept", **settings, checkpointing="off")
    train(classes, model, tmp_path / "again", **settings, checkpointing="on")

    kept, again = weights_of(tmp_path / "kept"), weights_of(tmp_path / "again")
    for name, expected in kept.items():
        torch.testing.assert_close(again[name], expected, atol=1e-6, rtol=0)


def test_bf16_is_used_only_where_the_device_has_it(classes, tiny_model, tmp_path):
    if loop.devices.has_bf16(torch.device("cpu")):
        _, result = train(classes, tiny_model, tmp_path / "run", precision="bf16", epochs=1)
        assert result.bf16
    else:
        with pytest.raises(SpecError, match="bf16"):
            train(classes, tiny_model, tmp_path / "run", precision="bf16")


@pytest.mark.parametrize(("speedup", "bf16"), [(0.36, False), (2.0, True)])
def test_auto_precision_follows_the_measurement_which_is_reported(
    classes, tiny_model, tmp_path, monkeypatch, speedup, bf16
):
    monkeypatch.setattr(loop.precision, "MIN_WIDTH", 16)
    monkeypatch.setattr(loop.precision, "_measured", {})
    monkeypatch.setattr(loop.precision, "trial", lambda run: speedup)
    monkeypatch.setattr(loop.devices, "has_bf16", lambda device: True)

    events, result = train(classes, tiny_model, tmp_path / "run", precision="auto", epochs=1)

    assert result.bf16 is bf16
    lines = [kind.line for kind in kinds(events, LogMessage)]
    assert any(f"{speedup:.2f} times as fast as fp32 on this CPU" in line for line in lines)
    assert any(("bf16" if bf16 else "fp32") in line for line in lines if line.startswith("On cpu"))
    (measured,) = [
        trial.speedup
        for trial in kinds(events, PrecisionTrial)
        if "/step bert classify " in trial.key
    ]
    assert measured == speedup


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("task, data", [("classify", "classes"), ("tag", "tags")])
def test_cuda_learns_the_same_data_in_bf16_and_gives_its_memory_back(
    task, data, request, tiny_model, tmp_path
):
    before = torch.cuda.memory_reserved()

    _, result = train(
        request.getfixturevalue(data),
        tiny_model,
        tmp_path / "run",
        task,
        device="cuda",
        precision="bf16",
        epochs=14,
        learning_rate=0.02,
    )

    assert result.evaluations["dev"].scores["span_f1" if task == "tag" else "accuracy"] == 1.0
    assert result.bf16 and result.device.startswith("cuda")
    assert torch.cuda.memory_reserved() - before < 100 << 20


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_gives_one_result_for_one_seed(classes, tiny_model, tmp_path):
    (_, item), (_, same) = (
        train(classes, tiny_model, tmp_path / name, device="cuda") for name in "ab"
    )

    assert item.loss == same.loss and item.evaluations == same.evaluations


def test_a_run_on_imported_tokens_says_so_in_its_description(tags, tiny_model, tmp_path):
    def with_tokens(record):
        first = record.document.text.index(
            " ", 4
        )  # the first two words are one token, the rest another
        offsets = ((0, first), (first + 1, len(record.document.text)))
        return replace(record, document=replace(record.document, tokens={"text": offsets}))

    imported = Dataset(tags.layers, tuple(with_tokens(record) for record in tags.records))
    described = []
    for name, data in (("raw", tags), ("imported", imported)):
        train(data, tiny_model, tmp_path / name, "tag", epochs=1)
        described.append(
            json.loads((tmp_path / name / "model" / "glossbench.json").read_text())["tokens"]
        )

    assert described == [None, {"documents": 16, "of": 16, "alike": 0.0}]


def test_a_run_fails_if_its_saved_model_predicts_otherwise(
    classes, tiny_model, tmp_path, monkeypatch
):
    """Here the method writes other weights than those it has trained."""
    from workbench.tasks import model as networks

    save = networks.save

    def damaged(model, folder):
        kept = {name: value.clone() for name, value in model.state_dict().items()}
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        save(model, folder)
        model.load_state_dict(kept)

    monkeypatch.setattr(networks, "save", damaged)

    with pytest.raises(ModelError, match="loaded again it does not give the same predictions"):
        train(classes, tiny_model, tmp_path / "run")


def test_weights_that_changed_after_the_run_are_not_loaded(classes, tiny_model, tmp_path):
    train(classes, tiny_model, tmp_path / "run")
    file = tmp_path / "run" / "model" / "model.safetensors"
    raw = bytearray(file.read_bytes())
    raw[-4000:] = bytes(4000)
    file.write_bytes(raw)

    with pytest.raises(ModelError, match="model.safetensors is damaged, changed or missing"):
        Predictor.load(tmp_path / "run" / "model", "cpu")


def test_a_base_with_an_adapter_is_trained_and_kept_whole(classes, tiny_model, tmp_path):
    from tests.models.families.transformer.test_family import with_lora

    base = with_lora(tiny_model, tmp_path / "base")

    train(classes, base, tmp_path / "run")

    names = {path.name for path in (tmp_path / "run" / "model").iterdir()}
    assert "model.safetensors" in names and "adapter_config.json" not in names


def test_the_trial_of_precision_is_a_step_that_changes_nothing(classes, tiny_model, tmp_path):
    spec = TrainSpec("classify", "c", str(tiny_model))
    learning = FineTuning(spec, classes, tmp_path, None, None)
    learning.state.device = torch.device("cpu")
    for _event in learning.load():
        pass
    before = {name: value.clone() for name, value in learning.model.state_dict().items()}
    random = torch.get_rng_state()

    step = learning.trial_step()
    assert loop.precision.trial(step.run) > 0

    assert "16x32x2" in step.name and torch.equal(torch.get_rng_state(), random)
    assert all(torch.equal(before[n], v) for n, v in learning.model.state_dict().items())
    assert all(parameter.grad is None for parameter in learning.model.parameters())


def test_scores_and_predictions_of_a_training_in_bf16_are_those_of_float32(
    classes, tiny_model, tmp_path, monkeypatch
):
    monkeypatch.setattr(loop.devices, "has_bf16", lambda device: True)

    train(classes, tiny_model, tmp_path / "run", precision="bf16", epochs=3, learning_rate=0.02)

    predictor = Predictor.load(tmp_path / "run" / "model", "cpu")
    later = predictor.predict([record.document for record in classes.records[16:20]])
    for line, prediction in zip(answers(tmp_path / "run"), later, strict=True):
        stored = Prediction.from_json(line["prediction"]).classes.scores
        assert stored == pytest.approx(prediction.classes.scores, abs=1e-5)
