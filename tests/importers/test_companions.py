"""Files beside data that an import leaves out."""

import pytest

from workbench.base.errors import ImportFailed
from workbench.importers.base import Options
from workbench.importers.companions import is_whole, left_out
from workbench.importers.detect import detect, importer
from workbench.importers.source import Source

TYPES = '<?xml version="1.0"?>\n<typeSystemDescription xmlns="http://uima.apache.org"/>'
LABELS = '[{"text": "PER", "suffix_key": "p", "background_color": "#ff0000"}]'
WSD = (
    '<corpus lang="en" source="x"><text id="d0"><sentence id="d0.s0">'
    '<instance id="d0.s0.t0" lemma="tram" pos="NOUN">tram</instance></sentence></text></corpus>'
)
CONTROLS = '<View><Labels name="ner" toName="text"><Label value="PER"/></Labels></View>'


@pytest.fixture
def folder(tmp_path):
    """folder("a.txt", ("b.xml", content), …) → paths; the usual content is a letter."""

    def folder(*files):
        named = [file if isinstance(file, tuple) else (file, "x") for file in files]
        for name, content in named:
            (tmp_path / name).write_text(content)
        return [tmp_path / name for name, _content in named]

    return folder


# inception-project/inception#2065: every export has TypeSystem.xml beside the .xmi
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("TypeSystem.xml", TYPES, "TypeSystem.xml is a UIMA type system, which holds no text."),
        ("config.xml", CONTROLS, "config.xml is a labelling configuration of Label Studio."),
        (
            "label_config.json",
            LABELS,
            "holds the labels of a project of doccano.",
        ),
        ("annotation.conf", "[entities]\nPER\n", "annotation.conf is a configuration of brat."),
        ("README.txt", "x", "it describes the data."),
        ("LICENSE.txt", "x", "it describes the data."),
        ("._a.txt", "x", "it is a hidden file of the system."),
        ("empty.txt", "", "it is empty."),
        ("b.ann", "T1\tX 0 1\tx", "its text b.txt is missing."),
    ],
)
def test_a_file_without_data_is_left_out_with_a_reason(folder, name, content, reason):
    data, companion = folder("a.xmi", (name, content))

    found = left_out([data, companion])

    assert list(found) == [companion]
    assert found[companion].startswith(f"{name} was left out") and found[companion].endswith(reason)


def test_annotations_of_an_empty_text_are_left_out(folder):
    _text, annotations, data = folder(("a.txt", ""), ("a.ann", ""), "b.txt")

    assert left_out([annotations, data]) == {
        annotations: "a.ann was left out: its text a.txt is empty."
    }


def test_keys_of_word_senses_are_read_with_their_text(folder):
    text, key = folder("a.data.xml", "a.gold.key.txt")

    assert list(left_out([text, key])) == [key]


def test_a_single_file_and_files_of_which_none_is_left_are_imported(folder):
    first, second = folder("README.txt", "LICENSE.txt")

    assert left_out([first]) == {} and left_out([first, second]) == {}


def test_a_text_beside_annotated_ones_is_one_document(folder):
    text, annotations, alone = folder("a.txt", "a.ann", "b.txt")

    assert is_whole(alone, [annotations, alone]) and not is_whole(text, [text, alone])


@pytest.mark.parametrize(
    ("main", "companion", "content"),
    [
        ("a.ann", "a.txt", ""),
        ("a.data.xml", "a.gold.key.txt", WSD),
    ],
)
def test_a_companion_that_is_a_link_out_of_the_folder_is_not_read(
    tmp_path, main, companion, content
):
    (tmp_path / "secret.txt").write_text("secret\n")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / main).write_text(content)
    (folder / companion).symlink_to(tmp_path / "secret.txt")
    source = Source(folder / main)

    with pytest.raises(ImportFailed, match=f"{companion}, which .* leads out of its folder"):
        list(importer(detect(source).format).read(source, Options()))


def test_annotations_whose_text_is_a_link_out_of_the_folder_are_left_out(tmp_path):
    (tmp_path / "secret.txt").write_text("secret\n")
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("a.ann", "b.ann"):
        (folder / name).write_text("")
    (folder / "a.txt").write_text("The tram.\n")
    (folder / "b.txt").symlink_to(tmp_path / "secret.txt")

    assert left_out([folder / "a.ann", folder / "b.ann"]) == {
        folder / "b.ann": "b.ann was left out: its text b.txt is a link that leads out of the "
        "folder."
    }
