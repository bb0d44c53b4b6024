"""Automatic settings are computed from the number of documents and the size of the model."""

from workbench.training.methods import spec as methods
from workbench.training.plan import plan, rare_documents
from workbench.training.spec import TrainSpec


def test_few_documents_get_more_epochs_than_many():
    plans = [
        plan(TrainSpec("classify", "c", "m"), documents=count)
        for count in (40, 180, 2000, 20_000, 100_000)
    ]

    assert [plan.epochs for plan in plans] == [15, 11, 3, 2, 1]
    assert [plan.batch_size for plan in plans] == [16, 16, 32, 32, 32]
    assert all(plan.steps == plan.epochs * plan.steps_per_epoch for plan in plans)


def test_a_wide_model_gets_a_smaller_rate_and_a_short_one_a_shorter_length():
    small = plan(TrainSpec("tag", "s", "m"), documents=180, width=384)
    base = plan(
        TrainSpec("tag", "s", "m", options={"max_length": 1000}),
        documents=180,
        width=768,
        model_length=256,
    )

    assert (small.learning_rate, base.learning_rate) == (3e-4, 1.5e-4)
    assert (small.max_length, base.max_length) == (512, 256)


def test_wide_models_and_the_slanted_schedule_warm_up():
    def warmup(width, **options):
        return plan(TrainSpec("tag", "s", "m", options=options), documents=1000, width=width).warmup

    assert (warmup(384), warmup(768), warmup(384, schedule="slanted")) == (0.0, 0.06, 0.1)
    assert warmup(768, warmup=0) == 0.0 and warmup(384, warmup=0.2, schedule="slanted") == 0.2


def test_what_is_chosen_is_never_replaced():
    chosen = {
        "epochs": 2,
        "batch_size": 8,
        "learning_rate": 0.5,
        "max_length": 32,
        "evaluate_every": 7,
        "best_by": "loss",
        "accumulation": 2,
    }

    made = plan(TrainSpec("classify", "c", "m", options=chosen), documents=100)

    assert (
        made.epochs,
        made.batch_size,
        made.learning_rate,
        made.max_length,
        made.evaluate_every,
        made.best_by,
    ) == (
        2,
        8,
        0.5,
        32,
        7,
        "loss",
    )
    assert made.steps_per_epoch == 7  # 13 batches, two to a step


def test_about_ten_scores_are_taken_in_a_run():
    for count in (40, 180, 2000, 5000, 20_000, 100_000):
        made = plan(TrainSpec("tag", "s", "m"), documents=count)
        assert 3 <= made.steps // made.evaluate_every <= 12


def test_the_rising_fraction_of_the_slanted_schedule_comes_before_the_warm_up():
    def warmup(**options):
        return plan(TrainSpec("classify", "c", "/m", options=options), documents=100).warmup

    assert warmup(schedule="slanted", warmup="0.3", cut_frac="0.2") == 0.2
    assert warmup(cut_frac="0.2") == 0.0


def test_a_method_may_have_a_rate_of_its_own_unless_the_user_or_the_model_gives_one():
    full = TrainSpec("classify", "c", "m")
    frozen = TrainSpec("classify", "c", "m", options={"method": "frozen"})
    chosen = TrainSpec("classify", "c", "m", options={"method": "frozen", "learning_rate": 0.02})

    own = methods.info("frozen").learning_rate

    assert plan(frozen, documents=100).learning_rate == own
    assert own > plan(full, documents=100).learning_rate
    assert plan(frozen, documents=100, learning_rate=0.5).learning_rate == 0.5
    assert plan(chosen, documents=100).learning_rate == 0.02


def test_many_classes_get_more_steps_and_a_higher_rate():
    two, many = (
        plan(TrainSpec("classify", "c", "m"), documents=1233, labels=count) for count in (2, 77)
    )

    assert many.epochs > 3 * two.epochs  # the dev score of Banking77 still rose after three epochs
    assert (two.learning_rate, many.learning_rate) == (1e-4, 3e-4)


def test_rare_labels_get_more_epochs():
    spec = TrainSpec("classify", "c", "m")

    def epochs(rare):
        return plan(spec, documents=4952, labels=50, rare=rare).epochs

    # After five epochs, macro F1 of TREC with 50 classes was below that of a frozen encoder.
    assert [epochs(rare) for rare in (0, 53, 14, 1)] == [5, 5, 10, 20]


def test_tags_get_no_more_epochs_for_rare_labels():
    assert plan(TrainSpec("tag", "t", "m"), documents=5000, labels=50, rare=1).epochs == 3


def test_the_documents_of_a_rare_label_are_those_of_the_lower_quartile():
    texts = [["a", "a"], ["a"], ["a"], ["a", "b"], ["b"], ["c", "b"], ["c"], ["d"]]

    assert rare_documents(texts) == 2  # a 4, b 3, c 2, d 1
    assert rare_documents([[], []]) == 0


def test_a_wide_model_gets_a_smaller_increase_for_many_classes():
    def rate(labels):
        spec = TrainSpec("classify", "c", "m")
        return plan(spec, documents=1233, labels=labels, width=768).learning_rate

    assert (rate(2), rate(77)) == (5e-5, 1e-4)
