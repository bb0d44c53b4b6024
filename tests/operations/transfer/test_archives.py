"""Archives are unpacked into a private folder, whole or not at all.

Layout: INCEpTION, user guide, "Export"; doccano, `data_export/celery_tasks.py`.
"""

import io
import zipfile

import pytest

from workbench.base import scratch
from workbench.base.errors import ImportFailed
from workbench.operations.transfer import archives, import_choice


@pytest.fixture
def archive(tmp_path):
    """archive({name: bytes}) → the path of a zip archive."""

    def write(entries, name="x.zip"):
        (tmp_path / name).write_bytes(zipped(entries))
        return tmp_path / name

    yield write
    for folder in scratch.root().glob("archive-*"):
        scratch.remove(folder)


def zipped(entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return content.getvalue()


def left():
    return [path for path in scratch.root().glob("archive-*") if path.is_dir()]


def test_annotations_of_a_project_of_inception_are_taken_and_the_initial_ones_left(archive):
    inner = zipped({"TypeSystem.xml": "", "admin.xmi": "<a/>"})
    path = archive(
        {
            "exportedproject.json": "{}",
            "source/a.txt": "Ada",
            "annotation/a.txt/INITIAL_CAS.xmi": "",
            "annotation/a.txt/ada.xmi": "",
            "annotation/a.txt/bob.zip": inner,
            "annotation/b.txt/INITIAL_CAS.tsv": "",
            "annotation_ser/a.txt/ada.ser": "",
            "curation/a.txt/CURATION_USER.json": "",
            "curation/a.txt/CURATION_USER.xmi": "",
        }
    )

    files = import_choice.chosen([path])

    assert ["/".join(file.parts[-3:]) for file in files] == [
        "annotation/a.txt/ada.xmi",
        "annotation/a.txt/bob.xmi",
        "annotation/b.txt/INITIAL_CAS.tsv",
        "curation/a.txt/CURATION_USER.xmi",
    ]
    assert files[1].read_text() == "<a/>"
    archives.remove(files)
    assert left() == []


def test_files_of_members_are_named_after_them_and_others_are_not(archive):
    files = import_choice.chosen([archive({"ada.jsonl": "", "bob.jsonl": "", "readme.png": ""})])
    alone = import_choice.chosen([archive({"all.jsonl": ""}, "y.zip")])

    assert [archives.named_after(file) for file in files] == ["ada", "bob"]
    assert [archives.named_after(file) for file in alone] == [""]


@pytest.mark.parametrize(
    "name", ["../a.jsonl", "/a.jsonl", "a/../../b.jsonl", "a\\b.jsonl", "C:/a.jsonl", "a//b.jsonl"]
)
def test_an_entry_that_leads_out_of_the_archive_is_refused(archive, name, tmp_path):
    with pytest.raises(ImportFailed, match="leads outside the archive"):
        import_choice.chosen([archive({"b.jsonl": "", name: ""})])

    assert left() == []


def test_a_link_in_an_archive_is_refused(tmp_path):
    info = zipfile.ZipInfo("a.jsonl")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr(info, "/etc/passwd")

    with pytest.raises(ImportFailed, match=r"x.zip has the entry 'a.jsonl'"):
        import_choice.chosen([tmp_path / "x.zip"])


def test_an_archive_that_is_too_large_is_refused_before_it_is_unpacked(archive, monkeypatch):
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)

    with pytest.raises(ImportFailed, match=r"x.zip is too large: 1 file, 2 MB unpacked"):
        import_choice.chosen([archive({"a.jsonl": bytes(2 << 20)})])

    assert left() == []


def test_an_archive_without_data_is_refused(archive):
    with pytest.raises(ImportFailed, match="x.zip holds no data files"):
        import_choice.chosen([archive({"a.png": ""})])


@pytest.mark.parametrize("at", range(0, 1200, 13))
def test_a_damaged_archive_is_refused_or_read_as_it_was(archive, at):
    entries = {f"annotation/d{n}.txt/{who}.tsv": who * 40 for n in range(3) for who in ("ada", "b")}
    path = archive(entries)
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 0xFF
    path.write_bytes(content)

    try:
        files = import_choice.chosen([path])
    except ImportFailed as error:
        assert "x.zip" in str(error)
        assert left() == []
    else:
        assert {file.read_text() for file in files} <= {"ada" * 40, "b" * 40}


@pytest.mark.parametrize("size", [0, 10, 100, 300])
def test_a_truncated_archive_is_refused(archive, size):
    path = archive({"a.jsonl": "x" * 400})
    path.write_bytes(path.read_bytes()[:size])

    with pytest.raises(ImportFailed, match="x.zip"):
        import_choice.chosen([path])
