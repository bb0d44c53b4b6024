"""Splits from the names of files: offered, and giving way to what the data say."""

from pathlib import Path

import pytest

from workbench.operations.transfer import data_import
from workbench.operations.transfer.import_splits import described, split_of, suggested
from workbench.storage.documents import documents


@pytest.mark.parametrize(
    "name, split",
    [
        ("train.conll", "train"), ("de-dev.tsv", "dev"), ("valid", "dev"), ("validation.jsonl", "dev"),
        ("test.csv", "test"), ("eng.testa", "dev"), ("eng.testb", "test"), ("NER-de-train.tsv", "train"),
        ("en_ewt-ud-dev.conllu", "dev"), ("TRAIN_01.txt", "train"), ("train2.csv", "train"),
        ("latest.csv", ""), ("contest.txt", ""), ("trainer.txt", ""), ("test-train.csv", ""), ("a.txt", ""),
        ("test/a.txt", "test"), ("train/dev.txt", "dev"), ("deviation.txt", ""),
        ("my test/a.txt", ""),
    ],
)  # fmt: skip
def test_the_split_is_a_word_in_the_name_of_the_file_or_of_its_folder(name, split):
    assert split_of(Path(name)) == split


def test_splits_are_suggested_from_two_files_with_such_names():
    assert suggested(["train.csv", "a.csv"]) == {}
    result = suggested(["train.csv", "a.csv", "x-test.csv"])

    assert result == {Path("train.csv"): "train", Path("x-test.csv"): "test"}
    assert described(result) == "train.csv → train, x-test.csv → test"


def test_many_files_are_described_in_short():
    assert described(suggested([f"train-{n}.csv" for n in range(6)])).endswith("2 more")


@pytest.fixture
def bring(project, inline_jobs, tmp_path):
    def bring(files, **options):
        paths = []
        for name, content in files.items():
            paths.append(tmp_path / name)
            paths[-1].write_text(content)
        data_import.import_files(project, inline_jobs, paths, **options)
        return [
            (record.document.text, record.document.split)
            for record in documents.records(project.db)
        ]

    return bring


FILES = {
    "train.csv": "text,split\na,\nb,test\n",
    "dev.csv": "text,label\nc,X\n",
    "more.csv": "text,label\nd,X\n",
}


def test_names_set_the_split_and_a_split_in_the_data_wins(bring):
    result = bring(FILES, split="by-name")

    assert result == [("a", "train"), ("b", "test"), ("c", "dev"), ("d", None)]


def test_names_set_no_split_unless_asked(bring):
    assert [split for _text, split in bring(FILES)] == [None, "test", None, None]


def test_one_split_for_all_goes_before_everything(bring):
    assert {split for _text, split in bring(FILES, split="dev")} == {"dev"}
