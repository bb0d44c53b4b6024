"""Word similarity and analogies, equal to gensim and scipy."""

import numpy as np
import pytest

from tests.vector_files import text_of
from workbench.base.errors import ImportFailed
from workbench.runtime.vectors import evaluation
from workbench.runtime.vectors.evaluation import (
    AnalogyQuestion,
    Evaluator,
    WordPair,
    read_set,
    spearman,
)
from workbench.runtime.vectors.lexicon import Lexicon

SETS = ("men", "mturk-771", "rg-65", "rw", "simlex999", "simverb-3500", "wordsim353-rel",
        "wordsim353-sim")  # fmt: skip


@pytest.fixture
def evaluator(data_folder):
    return Evaluator(Lexicon.open(data_folder / "vectors" / "skipgram.bin"))


@pytest.fixture(scope="module")
def gensim_vectors(data_folder):
    from gensim.models import KeyedVectors

    return KeyedVectors.load_word2vec_format(data_folder / "vectors" / "skipgram.bin", binary=True)


@pytest.mark.parametrize("name", SETS)
def test_similarity_and_coverage_equal_gensim(
    evaluator, gensim_vectors, data_folder, tmp_path, name
):
    pairs = read_set(data_folder / "datasets" / "word-similarity" / f"{name}.csv")
    lines = [f"{pair.first}\t{pair.second}\t{pair.score!r}\n" for pair in pairs]
    (tmp_path / "pairs.tsv").write_text("".join(lines))

    result = evaluator.similarity(name, pairs)
    _pearson, expected, unknown = gensim_vectors.evaluate_word_pairs(tmp_path / "pairs.tsv")

    # float32 products differ in the last bit between processors, so that near ties swap ranks
    assert result.spearman == pytest.approx(expected.statistic, abs=1e-5)
    assert 100 * (1 - result.coverage) == pytest.approx(unknown)
    assert result.used > 30


def test_analogies_equal_gensim_in_every_section(evaluator, gensim_vectors, data_folder, tmp_path):
    path = data_folder / "datasets" / "word-similarity" / "google-analogies.csv"
    chosen = read_set(path)[::40]
    lines, section = [], None
    for question in chosen:
        lines += [f": {question.section}"] if question.section != section else []
        section = question.section
        lines.append(" ".join((*question.words, question.answer)))
    (tmp_path / "questions.txt").write_text("\n".join(lines) + "\n")

    analogies = evaluator.analogies("google", chosen)
    accuracy, sections = gensim_vectors.evaluate_word_analogies(tmp_path / "questions.txt")

    assert analogies.accuracy == pytest.approx(accuracy)
    assert {
        section.name: (section.correct, section.used)
        for section in analogies.sections
        if section.used
    } == {
        section["section"]: (
            len(section["correct"]),
            len(section["correct"]) + len(section["incorrect"]),
        )
        for section in sections[:-1]
        if section["correct"] or section["incorrect"]
    }
    assert read_set(tmp_path / "questions.txt") == chosen


def test_spearman_equals_scipy_with_ties():
    from scipy.stats import spearmanr

    draw = np.random.default_rng(3)
    first, second = draw.integers(0, 9, 60), draw.normal(size=60)

    assert spearman(first, second) == pytest.approx(spearmanr(first, second).statistic)
    assert np.isnan(spearman([1, 1, 1], [1, 2, 3]))
    assert np.isnan(spearman([1], [2]))


def test_unknown_words_are_left_out_and_case_is_ignored(tmp_path):
    path = tmp_path / "a.txt"
    values = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [-1, 1, 0, 0]])
    path.write_text(text_of(values.astype(float), ("king", "Man", "woman", "queen")))
    evaluator = Evaluator(Lexicon.open(path))

    result = evaluator.similarity(
        "x",
        [WordPair("King", "man", 3), WordPair("KING", "queen", 1), WordPair("king", "unheard", 2)],
    )
    answers = evaluator.analogies(
        "y",
        [
            AnalogyQuestion("s", ("Man", "king", "woman"), "queen"),
            AnalogyQuestion("s", ("man", "king", "x"), "y"),
        ],
    )

    assert (result.pairs, result.used, result.spearman) == (3, 2, pytest.approx(1))
    assert (answers.questions, answers.used) == (2, 1)
    assert answers.accuracy in (0.0, 1.0)


def test_words_made_of_ngrams_count_beside_known_ones_as_in_gensim(data_folder):
    from gensim.models.fasttext import load_facebook_vectors
    from scipy.stats import spearmanr

    path = data_folder / "vectors" / "fasttext.bin"
    pairs = read_set(data_folder / "datasets" / "word-similarity" / "rw.csv")[::20]
    vectors = load_facebook_vectors(path)
    near = [vectors.similarity(pair.first.lower(), pair.second.lower()) for pair in pairs]

    result = Evaluator(Lexicon.open(path)).similarity("rw", pairs)

    assert (result.coverage < 0.5, result.ngrams.coverage) == (True, 1.0)
    expected = spearmanr([pair.score for pair in pairs], near).statistic
    assert result.ngrams.spearman == pytest.approx(expected, abs=1e-5)


def test_a_line_that_is_neither_pair_nor_analogy_is_named(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("word1,word2,similarity\na,b,1\na,b,high\n")

    with pytest.raises(ImportFailed, match="line 3: neither a pair"):
        read_set(path)


def test_word_classes_of_men_are_removed(data_folder):
    pairs = read_set(data_folder / "datasets" / "word-similarity" / "men.csv")

    assert pairs[0] == WordPair("sun", "sunlight", 50.0)


def test_a_set_without_rows_is_reported(tmp_path):
    (tmp_path / "set.csv").write_text("word1,word2,similarity\n")

    with pytest.raises(ImportFailed, match="holds no pairs"):
        evaluation.read_set(tmp_path / "set.csv")
