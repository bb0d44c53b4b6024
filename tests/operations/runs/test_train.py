"""Which layer and documents a training uses, what is left out and why, and how a run begins."""

import shutil
from pathlib import Path

import pytest

from tests import flair_models
from tests.models import folders
from workbench.base import paths
from workbench.base.errors import Cancelled, ModelError, SpecError, WorkbenchError
from workbench.base.settings import Settings
from workbench.base.watch import Watch
from workbench.models.families.bilstm.info import BilstmInfo
from workbench.operations.models import installed
from workbench.operations.prompts import servers
from workbench.operations.runs import train, training_data
from workbench.operations.runs.kinds import contract as kinds
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.text.dataset import read
from workbench.text.segmenters import stored
from workbench.training.spec import TrainSpec


def spec(task="classify", layer="topic", **more):
    return TrainSpec(task, layer, str(paths.resource("models/starter-bert")), "starter", **more)


def reasons(plan):
    return {group.reason: group.count for group in plan.left_out}


def test_the_layer_with_most_submitted_documents_is_taken_and_named(
    project, topics, add_layer, add_documents
):
    add_layer("mood")
    add_documents([("so so", "train", "submitted", "mood", "praise")])

    layer, remark = training_data.choose_layer(project, "classify")

    assert layer.name == "topic" and "topic" in remark and "mood" in remark
    assert training_data.choose_layer(project, "classify", "mood")[0].name == "mood"


def test_a_layer_that_does_not_fit_or_exist_is_an_error_that_names_those_that_do(
    project, topics, add_layer
):
    add_layer("entities", "span")

    with pytest.raises(SpecError, match="does not fit task classify.*topic"):
        training_data.choose_layer(project, "classify", "entities")
    with pytest.raises(SpecError, match="no layer 'nix'.*topic, entities"):
        training_data.choose_layer(project, "classify", "nix")
    with pytest.raises(SpecError, match="no layer for task pairs"):
        training_data.choose_layer(project, "pairs")


def test_a_task_is_found_where_only_one_fits_what_is_submitted(project, topics, add_layer):
    add_layer("names", "span")  # nothing of it is submitted

    assert training_data.only_task(project) == "classify"
    with pytest.raises(SpecError, match="--task: no task fits"):
        training_data.only_task(project, "names")


def test_of_several_tasks_that_fit_each_is_named_with_its_layers(
    project, topics, add_layer, add_documents
):
    add_layer("names", "span", ("PER", "LOC"))
    add_documents([("Ada came.", "train", "submitted", "names", [(0, 3, "PER")])])

    with pytest.raises(SpecError, match="several tasks fit") as told:
        training_data.only_task(project)

    assert told.value.hint == (
        "Tasks that fit: classify (layer topic), tag (layer names), spans (layer names)."
    )
    assert training_data.only_task(project, "topic") == "classify"


def test_a_layer_that_no_task_learns_is_named(project, add_layer):
    add_layer("names", "span")
    assert training_data.unlearned(project) == ""

    add_layer("themes", "multi", texts=2)

    with pytest.raises(SpecError, match="does not fit task classify") as raised:
        training_data.choose_layer(project, "classify", "themes")
    assert "Tasks for themes: none" in raised.value.hint
    with pytest.raises(SpecError, match="does not fit task classify") as raised:
        training_data.choose_layer(project, "classify", "names")
    assert "Tasks for names: tag" in raised.value.hint
    assert training_data.unlearned(project) == "No task can learn layer themes."


def test_the_plan_counts_what_is_used_and_says_why_the_rest_is_not(project, topics, add_documents):
    add_documents(
        [
            ("   \t", "train", "submitted", "topic", "praise"),
            ("a draft", "train", "draft", "topic", "praise"),
            ("bare", "train", "submitted", "topic", None),
        ]
    )

    plan = training_data.plan(project, "classify")

    assert plan.used == {"train": 8, "dev": 4, "test": 4} and plan.problem == ""
    assert reasons(plan) == {"not submitted": 5, "empty text": 1, "submitted without a class": 1}


def test_overlapping_spans_are_counted_and_a_document_without_spans_is_used(
    project, add_layer, add_documents
):
    add_layer("entities", "span", ("PER", "LOC"))
    add_documents(
        [
            (
                "Ada Lovelace met Bob",
                "train",
                "submitted",
                "entities",
                [(0, 12, "PER"), (0, 3, "PER"), (17, 20, "PER")],
            ),
            ("nobody here", "train", "submitted", "entities", []),
            ("Bob in Paris", "dev", "submitted", "entities", [(0, 3, "PER"), (7, 12, "LOC")]),
        ]
    )

    plan = training_data.plan(project, "tag")

    assert plan.used == {"train": 2, "dev": 1, "test": 0}
    assert reasons(plan) == {"spans that overlap a longer one": 1}
    assert any("LOC" in warning for warning in plan.warnings)


def test_one_class_alone_and_no_submitted_document_are_problems(project, add_layer, add_documents):
    add_layer("topic")
    assert "No document is submitted" in training_data.plan(project, "classify").problem

    add_documents([(f"fine {n}", "train", "submitted", "topic", "praise") for n in range(5)])
    assert "one class" in training_data.plan(project, "classify").problem


def test_a_start_freezes_the_data_and_leaves_a_waiting_run(project, queue, topics):
    Settings(precision_trials={"this cpu": 0.4}).save()

    run = train.start(project, queue, spec(seed=3, options={"train_limit": "5"}))

    job = queue.jobs[0]
    assert job.spec.params["precision_trials"] == {"this cpu": 0.4}
    data = read(job.spec.params["data"])
    assert (run.name, run.status, run.layer, run.spec["seed"]) == (
        "classify-1",
        "waiting",
        "topic",
        3,
    )
    assert len(data.records) == 16 and data.fingerprint() == run.data_fingerprint
    assert len(job.spec.params["splits"]["train"]) == 5 and "test" not in job.spec.params["splits"]
    assert run.spec["plan"]["used"] == {"train": 5, "dev": 4, "test": 4}


def test_a_sample_of_every_class_is_the_same_in_the_plan_and_in_the_run(
    project, queue, add_layer, add_documents
):
    add_layer("topic")
    golds = ["praise"] * 30 + ["complaint"]
    rows = [(f"text {n}", "train", "submitted", "topic", gold) for n, gold in enumerate(golds)]
    ids = add_documents([*rows, ("another", "dev", "submitted", "topic", "praise")])
    options = {"train_limit": "3", "train_sample": "every_class"}

    run = train.start(project, queue, spec(seed=3, options=options))

    assert ids[30] in queue.jobs[0].spec.params["splits"]["train"]
    plan = training_data.plan(project, "classify", train_limit=3, seed=3, every_class=True)
    assert run.spec["plan"]["used"] == plan.used and plan.used["train"] == 3
    assert not any("cannot learn" in text for text in plan.warnings)


def test_splits_are_made_once_where_submitted_documents_have_none(
    project, queue, add_layer, add_documents
):
    add_layer("topic")
    ids = add_documents(
        [
            (f"number {n}", None, "submitted", "topic", ("praise", "complaint")[n % 2])
            for n in range(40)
        ]
    )

    plan = training_data.plan(project, "classify")
    assert (plan.unsplit, plan.used) == (40, {"train": 32, "dev": 4, "test": 4})
    assert documents.counts(project.db).splits["none"] == 40
    train.start(project, queue, spec())
    made = {id: documents.get(project.db, id).split for id in ids}
    train.start(project, queue, spec())

    counts = {split: list(made.values()).count(split) for split in ("train", "dev", "test")}
    assert counts == {"train": 32, "dev": 4, "test": 4}
    assert {id: documents.get(project.db, id).split for id in ids} == made


@pytest.mark.parametrize(
    "given",
    [
        {None: 30},
        {None: 7, "train": 20},
        {None: 9, "train": 20, "dev": 5, "test": 5},
        {"train": 25, "test": 5},
        {None: 5, "test": 10},
    ],
    ids=str,
)
def test_the_plan_counts_the_splits_that_training_will_make(
    project, queue, add_layer, add_documents, given
):
    add_layer("topic")
    add_documents(
        [
            (f"{split} {n}", split, "submitted", "topic", ("praise", "complaint")[n % 2])
            for split, count in given.items()
            for n in range(count)
        ]
    )
    planned = training_data.plan(project, "classify")

    run = train.start(project, queue, spec())

    assert planned.used == run.spec["plan"]["used"] and planned.unsplit == given.get(None, 0)
    assert planned.used["train"] and planned.used["dev"]
    assert (planned.assigned > 0) == (given.get(None, 0) > 0 or "dev" not in given)


def test_a_missing_dev_split_is_cut_from_train_never_from_test(
    project, queue, add_layer, add_documents
):
    add_layer("topic")
    rows = [
        (f"{split} {n}", split, "submitted", "topic", ("praise", "complaint")[n % 2])
        for split, count in (("train", 30), ("test", 10))
        for n in range(count)
    ]
    ids = add_documents(rows)

    train.start(project, queue, spec())

    splits = [documents.get(project.db, id).split for id in ids]
    assert splits[30:] == ["test"] * 10 and splits[:30].count("dev") >= 2


def test_a_start_that_cannot_be_leaves_nothing_behind(project, queue, add_layer, tmp_path):
    add_layer("topic")

    with pytest.raises(WorkbenchError, match="No document is submitted"):
        train.start(project, queue, spec())

    assert runs.all(project.db) == () and queue.jobs == () and not project.runs_folder.exists()


def test_preparing_a_training_can_be_cancelled(project, queue, topics):
    shares = []
    watch = Watch(lambda share: (shares.append(share), watch.cancel()))

    with pytest.raises(Cancelled):
        train.prepare(project, spec(), watch=watch)

    assert len(shares) == 1 and runs.all(project.db) == ()


def test_two_runs_cannot_have_one_name(project, queue, topics):
    train.start(project, queue, spec(name="mine"))

    with pytest.raises(SpecError, match="'mine'"):
        train.start(project, queue, spec(name="mine"))


def repeat(project, queue, run):
    """What Train starts for “Repeat”."""
    return train.start(project, queue, train.again_spec(project, run.id), parent_id=run.id)


def test_the_command_repeats_the_run_and_again_trains_with_its_settings(project, queue, topics):
    run = train.start(
        project, queue, spec(seed=4, options={"epochs": "2", "batch_size": "auto"}, with_test=True)
    )

    words = train.command(project, run)
    second = repeat(project, queue, run)

    assert (
        "--task classify --model starter --layer topic --set epochs=2 --set "
        "batch_size=auto --seed 4 --with-test"
    ) in words
    assert (
        train.spec_of(second).options == {"epochs": 2, "batch_size": None}
        and second.parent_id == run.id
        and second.name != run.name
    )


def test_a_run_that_repeats_a_named_one_takes_its_name_with_a_number(project, queue, topics):
    first = train.start(project, queue, spec(name="model 2020"))
    second = repeat(project, queue, first)

    assert second.name == "model 2020 2"
    assert repeat(project, queue, second).name == "model 2020 3"
    assert train.again_spec(project, first.id, name="mine").name == "mine"


def test_stop_and_cancel_reach_the_job_of_the_run(project, queue, topics):
    run = train.start(project, queue, spec())

    train.stop(project, queue, run.id)
    assert queue.jobs[0].asked == "stop"
    train.cancel(project, queue, run.id)
    assert queue.jobs[0].asked == "cancel"


def test_words_that_a_model_does_not_know_and_long_texts_are_reported_before_the_start():
    text_check = training_data.TextCheck(texts=100, unknown=0.4, cut=0.05, max_length=128)

    unknown, cut = training_data.text_warnings("classify", text_check, "starter-bert")

    assert "40%" in unknown and "starter-bert" in unknown and "5%" in cut and "128" in cut
    assert len(training_data.text_warnings("tag", text_check, "starter-bert")) == 1
    assert (
        training_data.text_warnings("classify", training_data.TextCheck(10, 0.1, 0.0, 128), "x")
        == ()
    )


def test_all_gpus_are_offered_where_there_are_several_and_train_with_a_process_each(
    project, queue, topics
):
    devices = ("cpu", "cuda:0", "cuda:1")
    Settings(devices={"all": [{"name": name} for name in devices], "best": "cuda:0"}).save()

    train.start(project, queue, spec(options={"device": "all"}))

    offered = next(option for option in train.options("classify") if option.name == "device")
    assert offered.choices[-1] == "all" and offered.choice_titles[-1] == "All GPUs"
    job = queue.jobs[-1]
    assert (job.spec.processes, job.spec.device) == (2, "cuda")


def test_one_process_trains_by_default_and_no_device_is_all_gpus_without_several(
    project, queue, topics
):
    train.start(project, queue, spec())

    offered = next(option for option in train.options("classify") if option.name == "device")
    assert "all" not in offered.choices and queue.jobs[-1].spec.processes == 1


def test_a_cluster_gets_the_data_once_the_user_has_agreed_to_its_address(project, queue, topics):
    far = spec(options={"run_on": "10.0.0.5"})
    with pytest.raises(servers.ConsentNeeded, match="would be sent to ray://10.0.0.5:10001"):
        train.start(project, queue, far)
    assert not queue.jobs

    servers.agree(project, "ray://10.0.0.5:10001")
    train.start(project, queue, far)

    job = queue.jobs[-1].spec
    assert (job.run_on, job.device) == ("ray://10.0.0.5:10001", "")  # waits for no device here
    assert job.files == (job.params["data"], far.model)


def test_a_cluster_on_this_computer_needs_no_consent(project, queue, topics):
    train.start(project, queue, spec(options={"run_on": "ray://127.0.0.1:10001"}))

    assert queue.jobs[-1].spec.run_on == "ray://127.0.0.1:10001"


@pytest.mark.parametrize("text", ["http://10.0.0.5:10001", "ray://", "a b"])
def test_what_is_no_address_of_a_cluster_is_refused(text, project, queue, topics):
    with pytest.raises(SpecError, match="is not the address of a Ray cluster"):
        train.start(project, queue, spec(options={"run_on": text}))


def test_a_run_on_a_cluster_is_the_same_run(project):
    kind = kinds.named("train")

    assert kind.identity(spec(options={"run_on": "10.0.0.5"})) == kind.identity(spec())


def test_the_device_of_the_settings_is_used_unless_the_run_names_one(project, queue, topics):
    Settings(device="cpu").save()

    run = train.start(project, queue, spec())
    train.start(project, queue, spec(options={"device": "cuda:1"}))

    first, second = queue.jobs
    assert first.spec.params["spec"]["options"] == {"device": "cpu"} and first.spec.device == "cpu"
    assert (
        second.spec.params["spec"]["options"] == {"device": "cuda:1"}
        and second.spec.device == "cuda:1"
    )
    assert (
        train.spec_of(run).options == {}
    )  # repeated elsewhere, the run takes what that computer has


def test_a_model_that_lacks_what_the_task_needs_is_refused_before_anything_is_made(
    project, queue, topics, tmp_path, monkeypatch
):
    monkeypatch.setattr(type(tasks.info("classify")), "needs", frozenset({"states", "masked_lm"}))
    folder = str(folders.make_decoder(tmp_path / "olmo-1b", "olmo"))

    with pytest.raises(ModelError, match="olmo-1b .olmo. .* needs predictions of masked") as raised:
        train.prepare(project, TrainSpec("classify", "topic", folder, "olmo-1b"))

    assert (
        raised.value.hint == "Models that support it: starter-bert." and runs.all(project.db) == ()
    )
    assert not project.runs_folder.exists()


def test_a_broken_model_is_refused_before_anything_is_made(project, queue, topics, tmp_path):
    folder = folders.make_decoder(tmp_path / "llama", "llama")
    (folder / "model.safetensors").unlink()

    with pytest.raises(ModelError, match="model.safetensors is missing"):
        train.prepare(project, TrainSpec("classify", "topic", str(folder), "llama"))
    assert runs.all(project.db) == ()


def bilstm(**settings):
    return TrainSpec(
        "classify", "class", installed.find("bilstm").path, options=settings, family="bilstm"
    )


def test_models_named_in_the_settings_become_paths_for_the_worker():
    found = train.with_models(bilstm(embeddings="words+starter-bert@mix"))

    path = installed.find("starter-bert").path
    assert found.options["embeddings"] == f"words+{path}@mix" and not found.allow_pickle


def test_an_unknown_model_in_the_settings_is_named_before_the_training():
    with pytest.raises(ModelError, match="There is no model 'nix'"):
        train.with_models(bilstm(embeddings="words+nix"))


def test_pickled_models_in_the_settings_must_have_been_confirmed(tmp_path):
    path = str(flair_models.pair(tmp_path / "flair"))
    with pytest.raises(ModelError, match="pickle"):
        train.with_models(bilstm(embeddings=path))

    installed.add(path, allow_pickle=True)

    assert train.with_models(bilstm(embeddings=path)).allow_pickle


def test_a_path_with_the_separator_of_embeddings_is_refused(tmp_path):
    shutil.copytree(installed.find("starter-bert").path, tmp_path / "a+b")
    installed.add(tmp_path / "a+b")

    with pytest.raises(SpecError, match="contains a"):
        BilstmInfo().resolved({"embeddings": "mine"}, lambda name: installed.find("a+b"))


@pytest.mark.parametrize(
    ("model", "advised"),
    [("starter-vectors", True), ("starter-ulmfit-forward", True), ("starter-bert", False)],
)
def test_texts_without_spaces_are_noticed_for_models_that_read_words(
    project, add_layer, add_documents, model, advised
):
    layer = add_layer("topic")
    add_documents([("รถไฟฟ้ามาสายอีกแล้ว", "train", "submitted", "topic", "praise")])

    found = training_data.check_texts(project, "classify", layer, paths.resource(f"models/{model}"))

    assert bool(found.words) == advised
    if advised:
        assert found.words.names == ("icu", "newmm")


def test_no_segmenter_is_advised_where_a_model_of_the_embeddings_has_one(
    project, add_layer, add_documents, tmp_path
):
    layer = add_layer("topic")
    add_documents([("รถไฟฟ้ามาสายอีกแล้ว", "train", "submitted", "topic", "praise")])
    elmo = Path(shutil.copytree(installed.find("starter-elmo").path, tmp_path / "elmo"))
    stored.write("characters", elmo)
    bare = paths.resource("models/bilstm")

    def advice(embeddings):
        settings = {"embeddings": embeddings}
        return training_data.check_texts(project, "classify", layer, bare, settings=settings).words

    assert advice("words+chars") is not None
    assert advice(f"words+{elmo}") is None


def test_rare_labels_are_those_of_the_documents_that_a_limit_leaves(
    project, add_layer, add_documents
):
    add_layer("topic")
    golds = ("praise", "complaint") * 10
    rows = [(f"text {n}", "train", "submitted", "topic", gold) for n, gold in enumerate(golds)]
    add_documents([*rows, ("another", "dev", "submitted", "topic", "praise")])

    warnings = training_data.plan(project, "classify", train_limit=2).warnings

    assert training_data.plan(project, "classify").warnings == ()
    assert all(any(label in text for text in warnings) for label in ("praise", "complaint"))


def test_a_fold_replaces_train_and_dev_and_leaves_test_alone(project, topics):
    _layer, ids = topics
    folds = [train.prepare(project, spec(options={"fold": f"{n}/4"})) for n in (1, 2, 3, 4)]

    held_out = [prepared.splits["dev"] for prepared in folds]
    assert sorted(id for part in held_out for id in part) == sorted(ids[:12])
    for prepared in folds:
        assert sorted(prepared.splits["train"] + prepared.splits["dev"]) == sorted(ids[:12])
        assert prepared.plan.used == {"train": 9, "dev": 3, "test": 4}
    assert len({prepared.fingerprint for prepared in folds}) == 1


def test_equal_texts_and_groups_are_in_one_fold(project, add_layer, add_documents):
    add_layer("topic")
    ids = add_documents(
        [(f"text {n // 2}", "train", "submitted", "topic", ("praise", "complaint")[n % 3 == 0])
         for n in range(12)]
    )  # fmt: skip

    prepared = train.prepare(project, spec(options={"fold": "2/3"}))

    pairs = [{ids[n], ids[n + 1]} for n in range(0, 12, 2)]
    dev = set(prepared.splits["dev"])
    assert len(dev) == 4 and all(pair <= dev or not pair & dev for pair in pairs)


@pytest.mark.parametrize("text", ["3/2", "0/5", "1/1", "1/21", "1", "a/b", "1/5/5"])
def test_a_fold_that_does_not_exist_is_an_error(text):
    with pytest.raises(SpecError, match="such as 2/5"):
        spec(options={"fold": text})


def test_too_few_documents_for_the_folds_are_told(project, topics):
    plan = training_data.plan(project, "classify", fold="1/20")

    assert "cannot be divided into 20 folds" in plan.problem
