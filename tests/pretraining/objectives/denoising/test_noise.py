"""Noise against the figures of the papers, and its rates counted over 100,000 units."""

import numpy as np
import pytest

from workbench.pretraining.objectives.denoising import noise

UNITS, LENGTH, MASK = 100_000, 500, 999


def letters(text):
    return np.array([ord(character) for character in text])


def shown(ids):
    return "".join("_" if id_ == MASK else chr(id_) for id_ in ids)


def test_sentinels_are_those_of_the_figure_of_t5():
    # Raffel et al. 2020, figure 2
    words = "Thank you for inviting me to your party last week .".split()
    numbers = {word: number for number, word in enumerate([*words, "<X>", "<Y>", "<Z>"])}
    names = {number: word for word, number in numbers.items()}
    ids = np.array([numbers[word] for word in words])

    given, wanted = noise.with_sentinels(
        ids, [(2, 4), (8, 9)], [numbers[name] for name in ("<X>", "<Y>", "<Z>")]
    )

    assert " ".join(names[unit] for unit in given) == "Thank you <X> me to your party <Y> week ."
    assert " ".join(names[unit] for unit in wanted) == "<X> for inviting <Y> last <Z>"


def test_the_noises_are_those_of_the_figure_of_bart():
    # Lewis et al. 2020, figure 2: the text ABC.DE. under each noise
    text = letters("ABC.DE.")
    where = lambda *places: np.isin(np.arange(7), places)  # noqa: E731

    assert shown(noise.replaced(text, where(1, 4), MASK)) == "A_C._E."
    assert shown(noise.deleted(text, where(1, 4))) == "AC.E."
    assert shown(noise.infilled(text, [(1, 3), (5, 5)], MASK)) == "A_.D_E."
    assert shown(noise.rotated(text, 2)) == "C.DE.AB"
    orders = {shown(noise.permuted(text, text == ord("."), np.random.default_rng(n)))
              for n in range(20)}  # fmt: skip
    assert orders == {"ABC.DE.", "DE.ABC."}


def test_units_are_inserted_before_the_chosen_ones_and_replaced_at_them():
    text, chosen = letters("ABC"), np.array([True, False, True])

    assert shown(noise.inserted(text, chosen, letters("xy"))) == "xAByC"
    assert shown(noise.replaced(text, chosen, letters("xy"))) == "xBy"


@pytest.mark.parametrize("share", [0.05, 0.15, 0.5])
def test_the_wanted_share_of_single_units_is_chosen(share):
    found = noise.tokens(UNITS, share, np.random.default_rng(1))

    assert found.mean() == pytest.approx(share, abs=0.005)


@pytest.mark.parametrize(("share", "mean"), [(0.15, 3.0), (0.5, 3.0), (0.15, 10.0)])
def test_spans_of_t5_cover_their_share_in_spans_of_the_mean_length(share, mean):
    rng, covered, spans = np.random.default_rng(2), 0, 0
    for _ in range(UNITS // LENGTH):
        found = noise.t5_spans(LENGTH, share, mean, rng)
        assert found[0][0] > 0 and all(a[1] < b[0] for a, b in zip(found, found[1:], strict=False))
        covered, spans = covered + sum(e - s for s, e in found), spans + len(found)

    assert covered / UNITS == pytest.approx(share, abs=0.002)
    assert covered / spans == pytest.approx(mean, rel=0.07)  # whole spans per text


@pytest.mark.parametrize("share", [0.15, 0.3])
def test_infill_covers_its_share_with_poisson_lengths(share):
    rng, sizes = np.random.default_rng(3), []
    for _ in range(UNITS // LENGTH):
        sizes += [end - start for start, end in noise.poisson_spans(LENGTH, share, 3.0, rng)]

    assert sum(sizes) / UNITS == pytest.approx(share, abs=0.005)
    # P(0) = exp(-3); longer spans are cut where they meet others
    assert np.mean(np.array(sizes) == 0) == pytest.approx(np.exp(-3), abs=0.01)
    assert 2.4 < np.mean(sizes) < 3.05


def test_texts_of_few_units_do_not_fail():
    rng = np.random.default_rng(4)

    for count in range(4):
        for draw in (noise.t5_spans, noise.poisson_spans):
            spans = draw(count, 0.5, 3.0, rng)
            assert all(0 <= start <= end <= count for start, end in spans)
