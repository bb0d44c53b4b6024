"""Settings are checked by name and value; automatic ones are computed from the data."""

import pytest

from workbench.base.errors import SpecError
from workbench.tasks import spec as tasks
from workbench.training import spec
from workbench.training.spec import TrainSpec

STABLE = "epochs batch_size learning_rate max_length freeze best_by train_limit device".split()


TASKS = [info.id for info in tasks.all_tasks()]


@pytest.mark.parametrize("task", TASKS)
def test_the_stable_keys_are_there_for_every_task_with_help(task):
    known = {option.name: option for option in spec.options(task)}

    assert set(STABLE) <= known.keys()
    assert all(value.help and value.title for value in known.values())


@pytest.mark.parametrize("task", TASKS)
def test_the_best_checkpoint_is_selected_by_a_score_of_the_task_or_by_loss(task):
    info = tasks.info(task)
    (option,) = (option for option in spec.options(task) if option.name == "best_by")

    assert option.choices[0] == info.main and option.choices[-2:] == ("loss", "last")
    selecting = {score.name for score in info.scores if score.selects}
    assert set(option.choices) == selecting | {"loss", "last"}
    assert len(option.choices) == len(set(option.choices))


def test_the_choices_of_the_best_score_are_those_of_each_task():
    assert spec.best_by(tasks.info("classify")) == ("macro_f1", "accuracy", "loss", "last")
    assert spec.best_by(tasks.info("tag")) == ("span_f1", "token_accuracy", "loss", "last")


def test_every_setting_is_listed_once_with_the_tasks_that_have_it():
    result = {option.name: (option, ids) for option, ids in spec.all_options().items()}

    assert len(result) == len(spec.all_options())
    assert result["epochs"][1] == tuple(TASKS) and result["label_subwords"][1] == ("tag",)
    for task in TASKS:
        for option in spec.options(task):
            listed, ids = result[option.name]
            assert task in ids and set(option.choices) <= set(listed.choices), option.name


def test_texts_become_values_of_their_kind():
    given = {
        "epochs": "3",
        "learning_rate": "1e-4",
        "freeze": "2",
        "gradual_unfreezing": "yes",
        "max_length": "auto",
    }

    assert spec.parse_settings("tag", given) == {
        "epochs": 3,
        "learning_rate": 1e-4,
        "freeze": "2",
        "gradual_unfreezing": True,
        "max_length": None,
    }


@pytest.mark.parametrize(
    "name, value",
    [
        ("learning_rate", "abc"),
        ("learning_rate", "nan"),
        ("learning_rate", "-1"),
        ("epochs", "0"),
        ("epochs", "1.5"),
        ("freeze", "half"),
        ("best_by", "span_f1"),
        ("schedule", "up"),
        ("batch_size", ""),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_key(name, value):
    if value == "":  # empty means automatic, where there is such a thing
        assert spec.parse_settings("classify", {name: value}) == {name: None}
        return
    with pytest.raises(SpecError) as caught:
        spec.parse_settings("classify", {name: value})

    assert name in caught.value.message and value in caught.value.message


def test_an_unknown_setting_and_an_unknown_task_list_what_is_known():
    with pytest.raises(SpecError, match="epochs") as caught:
        spec.parse_settings("classify", {"label_subwords": "all"})
    assert "label_subwords" in caught.value.message
    with pytest.raises(SpecError, match="nonsense"):
        spec.options("nonsense")
    with pytest.raises(SpecError, match="nonsense"):
        TrainSpec("nonsense", "c", "m")


def test_a_setting_that_is_not_given_has_its_default():
    made = TrainSpec("tag", "s", "m", options={"epochs": "2"})

    assert (made.option("epochs"), made.option("schedule")) == (2, "linear")
    assert made.all_options["label_subwords"] == "first" and made.all_options["epochs"] == 2
    with pytest.raises(KeyError):
        TrainSpec("classify", "c", "m").option("label_subwords")


def test_the_settings_of_a_method_are_known_only_with_it():
    assert TrainSpec("classify", "c", "m", options={"freeze": "2"}).method == "full"
    assert TrainSpec("classify", "c", "m", options={"method": "frozen"}).method == "frozen"
    with pytest.raises(
        SpecError, match="'2'.* is a setting of method full, not of frozen"
    ) as caught:
        TrainSpec("classify", "c", "m", options={"method": "frozen", "freeze": "2"})
    assert "method=full" in caught.value.hint


@pytest.mark.parametrize("settings", [{"method": "magic"}, {"epochs": "2", "method": "magic"}])
def test_an_unknown_method_lists_the_known_ones(settings):
    with pytest.raises(SpecError, match="'magic'") as caught:
        TrainSpec("classify", "c", "m", options=settings)

    assert "full" in caught.value.hint and "frozen" in caught.value.hint


def test_a_spec_goes_to_json_and_back():
    made = TrainSpec(
        "tag", "spans", "/models/m", "m", 3, {"epochs": "2", "patience": 1}, "first", True
    )

    assert TrainSpec.from_json(made.to_json()) == made and made.options == {
        "epochs": 2,
        "patience": 1,
    }
    assert TrainSpec.from_json(
        {**made.to_json(), "options": {"epochs": 2, "of_a_later_version": 1}}
    ).options == {"epochs": 2}


def test_a_limit_samples_by_the_seed_and_samples_are_nested():
    ids = list(range(100, 200))

    few, more = spec.limited(ids, 10, 1), spec.limited(ids, 30, 1)

    assert len(few) == 10 and set(few) < set(more) and few == sorted(few)
    assert (
        spec.limited(ids, 10, 2) != few
        and spec.limited(ids, None, 1) == ids
        and spec.limited(ids, 500, 1) == ids
    )


@pytest.mark.parametrize("seed", [-1, 2**32, True, "7"])
def test_a_seed_that_not_every_generator_takes_is_refused(seed):
    with pytest.raises(SpecError, match="The seed is"):
        TrainSpec("classify", "class", "model", seed=seed)


def test_a_sample_of_every_class_holds_each_where_there_is_room_and_is_nested():
    items = [(n, "rare" if n == 60 else "odd" if n % 2 else "even") for n in range(100)]
    samples = {
        limit: spec.limited(items, limit, 4, lambda item: [item[1]]) for limit in (2, 3, 10, 40)
    }

    assert {name for _n, name in samples[3]} == {"rare", "odd", "even"}
    assert set(samples[2]) < set(samples[3]) < set(samples[10]) < set(samples[40])
    plain = spec.limited(items, 40, 4)
    assert len(set(plain) & set(samples[40])) >= 38  # else as random as without


def forecast(model, batch=8, length=64, **options):
    from workbench.models.spec import read_folder

    settings = {"device": "cuda", **options}  # on a CPU the forecast has the gaps of malloc too
    info = read_folder(model)
    run = TrainSpec("classify", "c", str(model), options=settings, family=info.family)
    return run.forecast(info, batch, length)


@pytest.mark.parametrize("family", ["bert", "gpt2", "distilbert", "t5"])
def test_the_forecast_counts_what_a_model_keeps_for_the_backward_pass(tmp_path, family):
    import torch

    from tests import tiny_models
    from workbench.models.base import LoadOptions
    from workbench.models.loading import load

    model = tiny_models.make(tmp_path / family, family, layers=4)
    encoder = load(model, LoadOptions(attention_dropout=0.0)).train()
    ids = torch.randint(5, 30, (64, 64))
    own = {parameter.untyped_storage().data_ptr() for parameter in encoder.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        inputs = {name: torch.ones_like(ids) for name in encoder.input_names} | {"input_ids": ids}
        states = encoder(inputs)

    counted = sum(storage.nbytes() for key, storage in kept.items() if key not in own)
    assert states.layers
    assert forecast(model, 64, 64).activations == pytest.approx(counted, rel=0.35)


def test_a_forecast_grows_with_the_batch_and_shrinks_with_what_is_trained(tmp_path):
    from tests import tiny_models

    model = tiny_models.make(tmp_path / "bert", "bert", layers=4)
    whole = forecast(model, 512).activations

    assert forecast(model, 1024).activations == 2 * whole == forecast(model, 512, 128).activations
    assert forecast(model, 512, freeze="2").activations == whole / 2
    assert forecast(model, 512, method="lora").activations < whole
    assert forecast(model, 512, checkpointing="on").activations < whole
    assert forecast(model, 512, method="frozen").memory_mb < forecast(model, 512).memory_mb
