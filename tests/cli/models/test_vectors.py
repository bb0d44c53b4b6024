"""`glossbench vectors`: nearest words, analogies and evaluation from the command line."""

import pytest

from tests.vector_files import WORDS, random_rows, text_of
from workbench.operations.models import installed

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("forked_workers")]


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "small.vec"
    path.write_text(text_of(random_rows(len(WORDS), 1)), encoding="utf-8")
    return path


def test_neighbours_are_listed_for_every_word(ask, model):
    answer = ask(
        "vectors-neighbours", "vectors", "neighbours", "The", "unseen", "--model", model,
        "--by", "euclid", "--top", "3",
    )  # fmt: skip

    the, unseen = answer["words"]
    assert (answer["model"], answer["by"]) == ("small.vec", "euclid")
    assert (the["word"], the["form"], len(the["neighbours"])) == ("The", "the", 3)
    distances = [neighbour["score"] for neighbour in the["neighbours"]]
    assert distances == sorted(distances)
    assert (unseen["form"], unseen["neighbours"]) == ("", [])


def test_people_read_a_table_and_a_note_for_an_unknown_word(call, model):
    code, out, err = call("vectors", "neighbours", "cat", "unseen", "--model", model, "--top", "2")

    assert code == 0
    assert out.splitlines()[0].split() == ["cat", "cosine"]
    assert "'unseen' has no vector in small.vec." in err


def test_an_analogy_leaves_its_own_words_out(ask, model):
    answer = ask("vectors-analogy", "vectors", "analogy", "the", "cat", "dog", "--model", model)

    words = [word["word"] for word in answer["words"]]
    assert not {"the", "cat", "dog"} & set(words) and len(words) == len(WORDS) - 3


def test_evaluation_gives_scores_and_coverage(ask, model, tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "word1,word2,similarity\nthe,cat,3\ncat,dog,2\ndog,sat,1\ndog,bird,5\n"
    )
    (tmp_path / "questions.txt").write_text(": a\nthe cat dog sat\nthe cat dog bird\n")
    sets = ("--set", tmp_path / "pairs.csv", "--set", tmp_path / "questions.txt")

    pairs, questions = ask("vectors-evaluate", "vectors", "evaluate", model, *sets)["sets"]

    assert (pairs["pairs"], pairs["used"], pairs["coverage"]) == (4, 3, 0.75)
    assert -1 <= pairs["spearman"] <= 1 and pairs["ngrams"] is None
    assert (questions["questions"], questions["used"]) == (2, 1)
    assert questions["sections"][0]["name"] == "a"


def test_unknown_words_of_a_fasttext_model_are_counted_with_their_ngrams(ask, call, data_folder):
    model = data_folder / "vectors" / "fasttext.bin"
    sets = ("--set", data_folder / "datasets" / "word-similarity" / "rg-65.csv")

    (pairs,) = ask("vectors-evaluate", "vectors", "evaluate", model, *sets)["sets"]
    head, line = call("vectors", "evaluate", model, *sets)[1].splitlines()

    assert pairs["used"] < pairs["ngrams"]["used"] == 65
    assert "n-grams: Spearman" in head and line.split()[6] == "100.0%"


def test_known_sets_are_found_by_name(ask, model, data_folder, monkeypatch):
    monkeypatch.setenv("GLOSSBENCH_DATA", str(data_folder))

    (found,) = ask("vectors-evaluate", "vectors", "evaluate", model, "--set", "rg-65")["sets"]

    assert (found["name"], found["pairs"], found["spearman"]) == ("rg-65", 65, None)


def test_errors_say_what_to_do(call, model, tiny_model, monkeypatch):
    monkeypatch.delenv("GLOSSBENCH_DATA", raising=False)

    with monkeypatch.context() as without:
        without.setattr(installed, "list", lambda *_: [])
        assert "Specify a file with --model" in call("vectors", "neighbours", "cat")[2]
    assert (
        "does not provide word vectors"
        in call("vectors", "neighbours", "cat", "--model", tiny_model)[2]
    )
    assert "Specify a file or a folder with --set" in call("vectors", "evaluate", model)[2]
    assert "There is no data set 'x'" in call("vectors", "evaluate", model, "--set", "x")[2]


@pytest.mark.process
def test_vectors_are_trained_in_a_worker_on_a_file_and_on_a_project(ask, call, tmp_path, file):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat\nthe dog sat\n" * 30)
    assert call("import", file, text, "--format", "text")[0] == 0
    settings = ("--set", "dimension=4", "--set", "epochs=2", "--set", "min_count=1")

    for source in (text, file):
        out = tmp_path / f"{source.stem}.glove.txt"
        answer = ask(
            "vectors-train", "vectors", "train", source, out, "--method", "glove", *settings
        )

        assert (answer["words"], answer["epochs"], len(answer["losses"])) == (4, 2, 2)
        assert len(out.read_text().splitlines()) == 4


def test_a_wrong_setting_of_a_training_is_named(call, tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat\n")
    message = call(
        "vectors", "train", tmp_path / "text.txt", tmp_path / "v.bin", "--set", "width=4"
    )

    assert message[0] == 1 and "skipgram has no option 'width'" in message[2]
