import math

import pytest

from workbench.metrics.perplexity import perplexity


def test_perplexity_by_hand():
    # four tokens with probability 1/2 each: 2 per token; two words: 4; eight characters: 2^(1/2)
    found = perplexity(4 * math.log(2), 4, words=2, characters=8)

    assert found.per_token == pytest.approx(2.0)
    assert found.per_word == pytest.approx(4.0)
    assert found.per_character == pytest.approx(math.sqrt(2))


def test_nothing_to_divide_by_and_hopeless_models():
    assert perplexity(0.0, 0, words=0, characters=0).per_token is None
    assert math.isfinite(perplexity(1e9, 1, words=1, characters=1).per_word)
