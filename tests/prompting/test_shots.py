from workbench.prompting.base import Example
from workbench.prompting.shots import Shot, Shots

POOL = [
    Shot(
        number, f"hash{number}", Example(f"text {number}", "abc"[number % 3] if number < 9 else "a")
    )
    for number in range(20)
]


def labels(shots):
    return sorted(shot.label for shot in shots)


def test_balanced_examples_have_every_label_equally_often():
    assert labels(Shots(POOL, order="balanced", seed=3).take(6)) == list("aabbcc")


def test_a_seed_gives_one_choice_and_another_seed_another():
    first, again, other = (Shots(POOL, order="random", seed=seed).take(5) for seed in (1, 1, 2))

    assert first == again != other


def test_fewer_examples_are_the_first_of_more():
    shots = Shots(POOL, order="balanced", seed=1)

    assert shots.take(7)[:3] == shots.take(3)


def test_the_scored_document_and_its_doubles_are_never_shown():
    double = Shot(99, "hash4", Example("text 4", "b"))
    for order in ("random", "balanced"):
        result = Shots([*POOL, double], order=order, seed=1).take(
            100, document_id=4, text_hash="hash4"
        )
        assert len(result) == 19
        assert Example("text 4", "b") not in result


def test_more_examples_than_there_are_gives_all():
    assert len(Shots(POOL, seed=1).take(100)) == 20
    assert Shots([], seed=1).take(3) == ()
