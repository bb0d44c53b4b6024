"""Data sets of Hugging Face: `tests/data/huggingface` was saved with datasets 5.2."""

import json
import shutil

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.binary.huggingface import entry_of
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source
from workbench.operations.transfer.import_choice import chosen
from workbench.text.spans import Span

CARD = """---
task_categories: [text-classification]
dataset_info:
- config_name: default
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': neg
          '1': pos
configs:
- config_name: other
  data_files: other.csv
- config_name: default
  default: true
  data_files:
  - split: train
    path: data/train-*
  - split: validation
    path: data/validation-*
---
# A data set
"""


@pytest.fixture
def hub(tmp_path):
    """A folder as on the hub, without its files."""
    (tmp_path / "set" / "data").mkdir(parents=True)
    (tmp_path / "set" / "README.md").write_text(CARD, encoding="utf-8")
    return tmp_path / "set"


def splits(found):
    return [(record.document.key, record.document.split) for record in found.records]


def test_a_saved_dataset_is_read_with_its_splits_and_names_of_classes(tiny, read):
    pytest.importorskip("pyarrow")
    (entry,) = chosen([tiny / "huggingface" / "reviews"])

    found = read(entry)

    assert entry.name == "dataset_dict.json" and detect(Source(entry)).format == "huggingface"
    assert found.texts == ["A good film.", "A bad film.", "So."]
    assert [record.document.split for record in found.records] == ["train", "train", "dev"]
    assert [record.marks["class"][0] for record in found.records] == ["pos", "neg", "neg"]


def test_lists_of_tokens_and_tags_with_names_are_spans(tiny, read):
    pytest.importorskip("pyarrow")

    found = read(tiny / "huggingface" / "ner" / "dataset_dict.json")

    assert found.texts == ["Ada met Bob .", "in Rome", "to Rome"]
    assert found.records[0].spans["spans"] == (Span(0, 3, "PER"), Span(8, 11, "PER"))
    assert found.records[2].document.split == "dev"


def test_one_split_of_a_saved_dataset_can_be_read_alone(tiny, read):
    pytest.importorskip("pyarrow")
    (entry,) = chosen([tiny / "huggingface" / "reviews" / "validation"])

    assert entry.name == "state.json" and read(entry).texts == ["So."]


def test_a_missing_file_of_a_saved_dataset_is_named(tiny, tmp_path, read):
    folder = shutil.copytree(tiny / "huggingface" / "reviews", tmp_path / "reviews")
    (folder / "train" / "data-00000-of-00001.arrow").unlink()

    with pytest.raises(ImportFailed, match=r"The file train/data-00000-of-00001.arrow of dataset"):
        read(folder / "dataset_dict.json")


def test_a_folder_of_the_hub_is_read_by_its_card(hub, read):
    (hub / "data" / "train-0.csv").write_text("text,label\ngood,1\nbad,0\n")
    (hub / "data" / "train-1.jsonl").write_text('{"text": "fine", "label": 1}\n')
    (hub / "data" / "validation-0.csv").write_text("text,label\nso,5\nthus,0\n")
    (hub / "other.csv").write_text("text,label\nelse,0\n")

    found = read(hub / "README.md")

    assert chosen([hub]) == (hub / "README.md",)
    assert splits(found) == [
        ("train:1", "train"), ("train:2", "train"), ("train:3", "train"), ("validation:2", "dev"),
    ]  # fmt: skip
    assert [record.marks["class"][0] for record in found.records] == ["pos", "neg", "pos", "neg"]
    assert found.skipped == [
        (4, "data/validation-0.csv, record 1: 'label' is '5', expected a class from 0 to 1")
    ]
    assert read(hub / "README.md", settings={"config": "other"}).texts == ["else"]
    with pytest.raises(ImportFailed, match="README.md has no configuration 'x'"):
        read(hub / "README.md", settings={"config": "x"})


def test_without_a_list_of_files_their_names_tell_the_splits(hub, read):
    (hub / "README.md").write_text("---\ntask_ids: []\n---\n", encoding="utf-8")
    (hub / "train.jsonl").write_text('{"text": "one"}\n')
    (hub / "test.jsonl").write_text('{"text": "two"}\n')
    (hub / "labels.jsonl").write_text('{"text": "no split"}\n')

    assert splits(read(hub / "README.md")) == [("test:1", "test"), ("train:1", "train")]


def test_a_split_of_another_name_gives_none_and_is_named(hub, read):
    card = CARD.replace("split: train", "split: unsupervised")
    (hub / "README.md").write_text(card, encoding="utf-8")
    (hub / "data" / "train-0.csv").write_text("text,label\ngood,1\n")

    found = read(hub / "README.md")

    assert splits(found) == [("unsupervised:1", None)]
    assert found.remarks == [
        "README.md: documents of unsupervised have no split, as it is not train, dev or test."
    ]


def test_files_outside_of_the_folder_are_never_read(hub, tmp_path):
    (tmp_path / "train-secret.csv").write_text("text\nsecret\n")
    card = CARD.replace("data/train-*", "../train-*").replace("data/validation-*", "/etc/*")
    (hub / "README.md").write_text(card, encoding="utf-8")

    with pytest.raises(ImportFailed, match="the data set has no data files"):
        list(importer("huggingface").read(Source(hub / "README.md"), Options()))


def test_other_folders_and_cards_of_models_are_no_datasets(tmp_path):
    (tmp_path / "README.md").write_text("---\nlicense: mit\npipeline_tag: fill-mask\n---\n# x\n")
    (tmp_path / "train.csv").write_text("text\na\n")

    assert entry_of(tmp_path) is None
    assert chosen([tmp_path]) == (tmp_path / "train.csv",)


def test_a_damaged_description_is_named(tmp_path):
    path = tmp_path / "dataset_dict.json"
    path.write_text(json.dumps({"splits": ["train"]}), encoding="utf-8")
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "state.json").write_text("{", encoding="utf-8")

    with pytest.raises(ImportFailed, match=r"train/state.json cannot be read as the description"):
        list(importer("huggingface").read(Source(path), Options()))


@pytest.mark.parametrize("split", ["x" * 5000, "a\\u0000b"])
def test_a_split_that_no_file_can_be_named_after_is_refused(tmp_path, split):
    path = tmp_path / "dataset_dict.json"
    path.write_text(f'{{"splits": ["{split}"]}}', encoding="utf-8")

    with pytest.raises(ImportFailed, match=r"dataset_dict.json") as caught:
        list(importer("huggingface").read(Source(path), Options()))
    assert len(caught.value.message) < 600


@pytest.mark.parametrize("feature", ["dtype: {x: 1}", "x: 1", "dtype: []", "struct: 5"])
def test_features_of_an_unknown_form_are_left_as_they_are(hub, read, feature):
    card = f"---\ndataset_info:\n  features:\n  - name: text\n    {feature}\n---\n"
    (hub / "README.md").write_text(card, encoding="utf-8")
    (hub / "train.jsonl").write_text('{"text": "Some words."}\n')

    assert read(hub / "README.md").texts == ["Some words."]


def test_links_out_of_the_folder_of_a_data_set_are_not_followed_and_named(read, tmp_path):
    (tmp_path / "secret.csv").write_text("text,label\nsecret,0\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "test.csv").write_text("text,label\nsecret,0\n")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "README.md").write_text(
        "---\ntask_categories: [text-classification]\nconfigs:\n- config_name: default\n"
        "  data_files:\n  - split: train\n    path: '*.csv'\n  - split: test\n    path: '*/*.csv'\n"
        "---\n"
    )
    (folder / "train.csv").write_text("text,label\nThe tram.,1\n")
    (folder / "more.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "inner").symlink_to(tmp_path / "elsewhere")

    found = read(folder / "README.md")

    assert found.texts == ["The tram."]
    assert any(
        "2 links of the folder" in item and "more.csv, inner/test.csv" in item
        for item in found.remarks
    )


def test_a_card_that_is_a_link_out_of_its_folder_does_not_stand_for_it(tmp_path):
    (tmp_path / "card.md").write_text(CARD)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"text": "A tram."}\n')
    (folder / "README.md").symlink_to(tmp_path / "card.md")

    assert entry_of(folder) is None
