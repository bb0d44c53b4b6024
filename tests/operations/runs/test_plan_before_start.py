"""The plan that is made before the start is the one that the worker would make by itself."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests import flair_models, tiny_elmo, tiny_models, vector_files  # noqa: E402
from workbench.base import paths  # noqa: E402
from workbench.base.records import to_plain  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.operations.runs import run_results, train, training_data  # noqa: E402
from workbench.operations.runs.kinds import contract as kinds
from workbench.operations.runs.run_settings import differing  # noqa: E402
from workbench.operations.schema import labels as schema  # noqa: E402
from workbench.storage.documents import documents  # noqa: E402
from workbench.storage.runs import runs  # noqa: E402
from workbench.text.dataset import Record, read  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.questions import Question  # noqa: E402
from workbench.text.relations import Relation  # noqa: E402
from workbench.text.spans import Span  # noqa: E402
from workbench.training import loop, prepare  # noqa: E402
from workbench.training.plan import Plan  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

LONG = "the tram from harbour gate is late and full . " * 4
TEXTS = ("Ada met Bob.", "Zürich am See", LONG, LONG.upper(), "电车又晚点了。" * 9, "thank you !")
LETTERS = Span(2, 3, "a"), Span(3, 4, "b")
SPLITS = ("train", "train", "dev")
BARE = str(paths.resource("models") / "bilstm")
MAKERS = {
    "bert": lambda folder: tiny_models.make(folder, "bert"),
    "t5": lambda folder: tiny_models.make(folder, "t5", layers=1),
    "vectors": vector_files.make,
    "elmo": tiny_elmo.make,
    "char_lm": flair_models.pair,
    "bilstm": lambda _folder: BARE,
}


@pytest.fixture
def filled(project):
    """A project whose documents, some of them long, are labelled in a layer of several kinds."""
    for name, kind in (("topic", "class"), ("names", "span")):
        schema.add_layer(project, name, kind, labels=("a", "b"))
    schema.add_layer(project, "qa", "answer")
    schema.add_layer(project, "chains", "cluster", labels=("m",))
    schema.add_layer(project, "links", "relation", labels=("near",))
    records = [
        Record(
            Document(f"d{number}", (("text", f"{number} {text}"),), SPLITS[number % 3]),
            dict.fromkeys(("topic", "names", "qa", "chains", "links"), "submitted"),
            {"topic": ("ab"[number % 2],)},
            {
                "names": (Span(0, 1, "ab"[number % 2]), *LETTERS),
                "chains": (Span(0, 1, "m", chain=1),),
            },
            relations={"links": (Relation("near", *LETTERS),)},
            questions={
                "qa": (Question("Who?", ((0, 1),)), *[Question("?", (), True)] * (number % 2))
            },
        )
        for number, text in enumerate(TEXTS * 4)
    ]
    with project.edit("fill"):
        documents.add(project.db, records, source_id=project.source("import"))
    return project


def spec_of(model, task="tag", layer="names", **options):
    card = models.card(model, allow_pickle=True)
    given = {"device": "cpu", "precision": "fp32", **options}
    return TrainSpec(task, layer, str(model), options=given, allow_pickle=True, family=card.family)


def resolved_by_the_worker(prepared, folder, monkeypatch):
    """The plan of a training that was given none."""
    found, usual = [], prepare.plan_for

    def record(*given):
        found.append(usual(*given))
        return found[-1]

    monkeypatch.setattr(prepare, "plan_for", record)
    spec = train.with_models(prepared.spec)
    work = loop.train(spec, read(Path(prepared.data.path)), folder, prepared.splits)
    while not found:
        next(work)
    work.close()
    return found[0]


@pytest.mark.parametrize("max_length", [None, 24])
@pytest.mark.parametrize("family", MAKERS)
def test_inputs_are_counted_as_the_worker_makes_them(
    family, max_length, filled, tmp_path, monkeypatch
):
    model = MAKERS[family](tmp_path / "model")

    prepared = train.prepare(filled, spec_of(model, max_length=max_length, batch_size=2))

    assert prepared.settings == resolved_by_the_worker(prepared, tmp_path / "run", monkeypatch)
    assert max_length is None or prepared.settings.steps_per_epoch > 8  # windows of long texts


@pytest.mark.parametrize(
    ("task", "layer", "options"),
    [
        ("classify", "topic", {"train_limit": 7, "method": "frozen", "accumulation": 2}),
        ("classify", "topic", {"method": "lora", "schedule": "slanted"}),
        ("answer", "qa", {"max_length": 32}),
        ("spans", "names", {"segmenter": "characters"}),
        ("coreference", "chains", {"max_length": 24}),
        ("relations", "links", {}),
        ("relations", "links", {"pair_reading": "spans", "max_length": 24}),
        ("tag", "names", {"method": "gradual", "epochs": 2, "learning_rate": 0.02}),
    ],
)
def test_each_task_and_method_is_planned_as_the_worker_would(
    task, layer, options, filled, tmp_path, monkeypatch
):
    model = tiny_models.make(tmp_path / "model", "bert")

    prepared = train.prepare(filled, spec_of(model, task, layer, **options))

    assert prepared.settings == resolved_by_the_worker(prepared, tmp_path / "run", monkeypatch)


@pytest.mark.parametrize(
    ("task", "layer", "options"),
    [("relations", "links", {}), ("tag", "names", {"max_length": 24, "batch_size": 2})],
)
def test_the_settings_that_are_displayed_before_the_start_count_all_inputs(
    task, layer, options, filled, tmp_path
):
    model = tiny_models.make(tmp_path / "model", "bert")
    spec, card = spec_of(model, task, layer, **options), models.card(model)
    plan = training_data.plan(filled, task, layer)
    check = training_data.check_texts(
        filled, task, plan.layer, model, max_length=options.get("max_length"),
        model_length=card.max_length, settings=train.with_models(spec).all_options,
    )  # fmt: skip

    displayed = train.settings_plan(spec, card, plan, check=check)

    assert displayed.steps_per_epoch == pytest.approx(
        train.prepare(filled, spec).settings.steps_per_epoch, rel=0.1
    )
    assert displayed.steps_per_epoch > train.settings_plan(spec, card, plan).steps_per_epoch


@pytest.mark.parametrize("width", [None, 300])
def test_the_width_of_a_bare_architecture_is_that_of_its_settings(
    width, filled, tmp_path, monkeypatch
):
    parts = tiny_models.make(tmp_path / "part", "bert")
    options = {"embeddings": f"words+{parts}", "lstm_width": width, "max_length": 40}

    prepared = train.prepare(filled, spec_of(BARE, **options))

    assert prepared.settings.warmup == (0.06 if width else 0.0)
    assert prepared.settings == resolved_by_the_worker(prepared, tmp_path / "run", monkeypatch)


def test_the_worker_obeys_the_plan_that_it_is_sent_and_the_run_keeps_it(
    filled, queue, tmp_path, monkeypatch
):
    model = tiny_models.make(tmp_path / "model", "bert")
    prepared = train.prepare(filled, spec_of(model, epochs=3))
    odd = replace(prepared.settings, epochs=1, batch_size=5, learning_rate=0.0123, max_length=30)

    run = kinds.start(filled, queue, replace(prepared, settings=odd))
    params = queue.jobs[0].spec.params
    work = loop.run(params, tmp_path / "run")
    try:
        while True:
            next(work)
    except StopIteration as end:
        result = end.value

    assert params["plan"] == to_plain(odd) and run_results.planned(run) == odd
    known = {"steps_per_epoch": result["plan"]["steps_per_epoch"]}
    assert result["plan"] == {**to_plain(odd), **known}
    assert result["steps"] == result["plan"]["steps_per_epoch"]


def test_a_run_of_an_earlier_version_shows_the_plan_that_its_worker_reported(
    filled, queue, tmp_path
):
    model = tiny_models.make(tmp_path / "model", "bert")
    run = kinds.start(filled, queue, train.prepare(filled, spec_of(model)))
    plan = Plan(7, 8, 0.5, 64, 2, 2, "span_f1")
    spec = {name: value for name, value in run.spec.items() if name != "resolved"}

    older = replace(run, spec=spec, result={"plan": to_plain(plan), "options": {"epochs": None}})
    newer = replace(run, result={"options": {"epochs": None}})

    assert run_results.planned(older) == plan
    rows = {row.name: row.values for row in differing([older, newer])}
    assert rows["epochs"] == (7, run_results.planned(run).epochs)
    assert runs.get(filled.db, run.id).spec["resolved"] == to_plain(run_results.planned(run))
