"""The nearest words of a text, of pretrained vectors and of a run with tuned ones."""

import pytest

from tests.vector_files import WORDS, native_of, random_rows, text_of
from workbench.inspection.neighbours.info import INFO
from workbench.inspection.serve import Inspecting
from workbench.inspection.subject import Subject
from workbench.runtime.vectors.lexicon import Lexicon


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "small.vec"
    path.write_text(text_of(random_rows(len(WORDS), 1)), encoding="utf-8")
    return path


def answer(path, text, **options):
    request = {"inspector": "neighbours", "documents": [{"texts": {"text": text}}]}
    return Inspecting(Subject(path)).answer({**request, "options": options})


def test_every_word_of_the_text_appears_once_with_its_neighbours(path):
    result = answer(path, "The cat, the unseen cat!", top=2).result

    assert [(word.text, word.form) for word in result.words] == [
        ("The", "the"), ("cat", "cat"), ("the", "the"), ("unseen", ""),
    ]  # fmt: skip
    expected = Lexicon.open(path).neighbours("cat", top=2)
    assert [(neighbour.word, neighbour.score) for neighbour in result.words[1].neighbours] == [
        (neighbour.word, neighbour.score) for neighbour in expected
    ]
    assert (result.by, result.size, result.cut) == ("cosine", len(WORDS), False)


def test_a_typed_word_replaces_the_text(path):
    result = answer(path, "the", word="dog", by="euclid").result

    assert [word.text for word in result.words] == ["dog"]
    scores = [neighbour.score for neighbour in result.words[0].neighbours]
    assert scores == sorted(scores)


def test_unseen_words_have_neighbours_through_ngrams(tmp_path):
    path = tmp_path / "native.bin"
    path.write_bytes(native_of(random_rows(len(WORDS), 1), random_rows(20, 2)))

    (word,) = answer(path, "unseen").result.words

    assert (word.form, word.in_vocabulary, len(word.neighbours)) == ("unseen", False, len(WORDS))


def test_it_is_offered_where_there_are_word_vectors_alone(path, tiny_model):
    from workbench.operations.inspecting import inspect

    def refused(model):
        offers = inspect.offers(inspect.of_folder(str(model)))
        return next(offer.refused for offer in offers if offer.id == INFO.id)

    assert refused(path) == ""
    assert refused(tiny_model) == "This model does not provide: word vectors."
