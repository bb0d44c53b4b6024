from pathlib import Path

import pytest

from workbench.base import untrusted
from workbench.base.errors import ImportFailed
from workbench.operations.runs.predict_files import read_inputs
from workbench.operations.transfer import data_import
from workbench.operations.transfer.import_choice import (
    chosen,
    described_splits,
    links_out,
    split_of,
    suggested_splits,
)
from workbench.storage.documents import documents


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "from brat"
    folder.mkdir()
    for name in ("2.txt", "2.ann", "1.txt", "1.ann", "annotation.conf", "README.md", ".hidden"):
        (folder / name).write_text("")
    (folder / "inner").mkdir()
    (folder / "inner" / "3.ann").write_text("")
    return folder


def test_a_folder_stands_for_its_data_files_in_order(folder, tmp_path):
    other = tmp_path / "a.jsonl"

    assert chosen([other, folder]) == (other, folder / "1.ann", folder / "2.ann")


def test_of_files_of_brat_the_annotations_are_taken(folder):
    """They are read with their text: selecting all files of a folder imports no text twice."""
    names = ["1.ann", "1.txt", "annotation.conf", "alone.txt"]

    assert chosen([folder / name for name in names]) == (folder / "1.ann", folder / "alone.txt")


def test_texts_without_annotations_stay(tmp_path):
    files = [tmp_path / "1.txt", tmp_path / "tools.conf"]

    assert chosen(files) == tuple(files)


def test_a_folder_without_data_is_named(tmp_path):
    (tmp_path / "README.md").write_text("")

    with pytest.raises(ImportFailed, match="no data files") as caught:
        chosen([tmp_path])

    assert str(tmp_path) in str(caught.value)


@pytest.fixture
def linked(tmp_path):
    """A folder with a file, a link to it, and a link to a file outside."""
    (tmp_path / "secret.txt").write_text("secret\n")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.txt").write_text("The tram.\n")
    (folder / "b.txt").symlink_to(folder / "a.txt")
    (folder / "c.txt").symlink_to(tmp_path / "secret.txt")
    return folder


def test_links_that_lead_out_of_a_folder_are_not_followed_and_named(linked):
    assert chosen([linked]) == (linked / "a.txt", linked / "b.txt")
    (warning,) = links_out([linked])
    assert warning == f"1 link of the folder {linked} leads out of it and was not followed: c.txt."
    assert chosen([linked / "c.txt"]) == (linked / "c.txt",)  # chosen by its name


def test_a_folder_may_be_a_link_itself(linked, tmp_path):
    (tmp_path / "link").symlink_to(linked)

    assert [path.name for path in chosen([tmp_path / "link"])] == ["a.txt", "b.txt"]


def test_a_snapshot_of_the_hub_may_link_to_files_of_its_repository(tmp_path):
    repository = tmp_path / "datasets--ada--tram"
    snapshot = repository / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "0a").write_text("")
    (snapshot / "a.txt").symlink_to("../../blobs/0a")

    assert not untrusted.leads_out(snapshot / "a.txt", snapshot)


def test_inputs_of_predictions_in_a_folder_do_not_lead_out_of_it(linked):
    skipped = []
    documents = list(read_inputs(linked, skipped.append))

    assert [document.text for document in documents] == ["The tram."] * 2
    assert [Path(item.file).name for item in skipped] == ["c.txt"]
    assert "leads out of the folder" in skipped[0].reason


@pytest.mark.parametrize(
    "name, split",
    [
        ("train.conll", "train"), ("de-dev.tsv", "dev"), ("valid", "dev"),
        ("validation.jsonl", "dev"), ("test.csv", "test"), ("eng.testa", "dev"),
        ("eng.testb", "test"), ("NER-de-train.tsv", "train"), ("en_ewt-ud-dev.conllu", "dev"),
        ("TRAIN_01.txt", "train"), ("train2.csv", "train"), ("latest.csv", ""),
        ("contest.txt", ""), ("trainer.txt", ""), ("test-train.csv", ""), ("a.txt", ""),
        ("test/a.txt", "test"), ("train/dev.txt", "dev"), ("deviation.txt", ""),
        ("my test/a.txt", ""),
    ],
)  # fmt: skip
def test_the_split_is_a_word_in_the_name_of_the_file_or_of_its_folder(name, split):
    assert split_of(Path(name)) == split


def test_splits_are_suggested_from_two_files_with_such_names():
    assert suggested_splits(["train.csv", "a.csv"]) == {}
    result = suggested_splits(["train.csv", "a.csv", "x-test.csv"])

    assert result == {Path("train.csv"): "train", Path("x-test.csv"): "test"}
    assert described_splits(result) == "train.csv → train, x-test.csv → test"


def test_many_files_are_described_in_short():
    assert described_splits(suggested_splits([f"train-{n}.csv" for n in range(6)])).endswith(
        "2 more"
    )


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
