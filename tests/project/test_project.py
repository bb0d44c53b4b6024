import pytest

from workbench.base import settings
from workbench.base.errors import ProjectError
from workbench.operations.annotation import annotate
from workbench.operations.schema import labels as label_acts
from workbench.project import backup
from workbench.project.changes import Changes
from workbench.project.project import Project
from workbench.storage.documents import documents
from workbench.storage.runs import runs
from workbench.text.dataset import Record
from workbench.text.document import Document


def add_documents(project, count=1):
    with project.edit("Import", bulk=True):
        records = [Record(Document(str(n), (("text", "Ada met Bob."),))) for n in range(count)]
        return documents.add(project.db, records, source_id=project.source("import"))


@pytest.fixture
def heard(project):
    news = []
    stop = project.changed.connect(news.append)
    yield news
    stop()


def test_every_edit_is_reported_once_with_its_rows_and_documents(project, heard):
    layer = label_acts.add_layer(project, "spans", "span", labels=["PER"])
    (document,) = add_documents(project)
    origin = object()
    label = label_acts.layers(project)[0].labels[0].id
    span = annotate.add_span(project, document, 0, 3, label, origin=origin)

    last = heard[-1]
    assert (last.title, last.origin) == ("Add PER", origin)
    assert last.rows["span"] == {span} and last.documents == {document}
    assert last.touches("span", document) and last.touches("state", document)
    assert not last.touches("span", document + 1) and not last.touches("label")
    assert [event.title for event in heard] == ["Add layer spans", "Import", "Add PER"] and layer


def test_undo_and_redo_tell_the_same_rows(project, heard):
    (document,) = add_documents(project)
    project.undo()
    project.redo()

    assert [event.title for event in heard] == ["Import"] * 3
    assert [event.documents for event in heard] == [{document}] * 3
    assert all(event.touches("document", document) for event in heard)


def test_more_than_a_thousand_rows_say_reload(project, heard):
    add_documents(project, 1001)
    assert heard[-1].rows is None and heard[-1].documents is None
    assert heard[-1].touches("anything", 5)


def test_a_project_that_is_opened_and_closed_is_not_written(project):
    project.close()
    before = project.path.read_bytes(), project.path.stat().st_mtime_ns

    Project.open(project.path).close()

    assert (project.path.read_bytes(), project.path.stat().st_mtime_ns) == before


def test_nothing_is_reported_of_an_edit_that_failed_or_changed_nothing(project, heard):
    with pytest.raises(ZeroDivisionError):
        with project.edit("Fails"):
            add_documents(project)
            raise ZeroDivisionError
    with project.edit("Nothing"):
        pass
    assert heard == []


def test_an_edit_within_a_write_is_reported_beside_it(project, heard):
    with project.write("Run"):
        runs.add(project.db, "r")
        add_documents(project)

    assert [sorted(event.rows) for event in heard] == [["body", "document", "source"], ["run"]]
    assert project.undo_title == "Import"


def test_a_label_concerns_every_document():
    changes = Changes("x", None, {"label": frozenset({1})}, frozenset())
    assert changes.touches("label", 77) and not changes.touches("span", 77)


def test_the_edit_menu_shows_the_title_of_the_next_step(project):
    add_documents(project)
    label_acts.add_layer(project, "c", "class")
    assert (project.undo_title, project.redo_title) == ("Add layer c", None)
    project.undo()
    assert (project.undo_title, project.redo_title) == ("Import", "Add layer c")
    assert [(step.title, step.undone) for step in project.history()] == [
        ("Add layer c", True),
        ("Import", False),
    ]


def test_pages_hear_of_other_current_documents_and_where_they_were_selected(project):
    heard = []
    stop = project.selected.connect(lambda origin: heard.append((project.selection, origin)))
    project.select([3], "data")
    project.select((3,), "inspect")
    project.select((4, 5))
    stop()
    assert heard == [((3,), "data"), ((4, 5), None)]


def test_a_project_knows_itself_again(tmp_path):
    project = Project.create(tmp_path / "my data.glossbench")
    uid, seed = project.uid, project.seed
    assert project.name == "my data" and project.runs_folder == tmp_path / "my data.runs"
    project.close()

    project = Project.open(tmp_path / "my data.glossbench")
    assert (project.uid, project.seed) == (uid, seed) and len(uid) == 16
    project.close()


def test_the_annotator_of_the_settings_names_a_project_that_had_no_name(tmp_path, monkeypatch):
    Project.create(tmp_path / "p.glossbench").close()
    monkeypatch.setattr(settings, "load", lambda: settings.Settings(annotator="Ada"))

    project = Project.open(tmp_path / "p.glossbench")
    assert project.annotator_name == "Ada"
    project.close()
    monkeypatch.setattr(settings, "load", lambda: settings.Settings(annotator="Bob"))
    project = Project.open(tmp_path / "p.glossbench")
    assert project.annotator_name == "Ada"
    project.close()


def test_a_copy_of_an_open_project_is_whole_and_never_overwrites(project, tmp_path):
    add_documents(project, 3)
    copy = backup.save_copy(project, tmp_path / "copy.glossbench")
    add_documents(project)

    with pytest.raises(ProjectError, match="exists already"):
        backup.save_copy(project, copy)
    other = Project.open(copy)
    assert documents.counts(other.db).documents == 3
    other.close()


@pytest.mark.parametrize(
    "name", ["a b", "a#b", "a?b=c&d", "100%25", "Größe 中文 \U0001f600", "a'b\"c;--"]
)
def test_any_file_name_will_do(tmp_path, name):
    path = tmp_path / f"{name}.glossbench"
    project = Project.create(path)
    add_documents(project)
    project.close()

    for read_only in (False, True):
        project = Project.open(path, read_only=read_only)
        assert project.name == name and documents.counts(project.db).documents == 1
        project.close()


def test_several_steps_undone_together_are_reported_once_where_all_is_read_again(project, heard):
    add_documents(project, 1001)
    add_documents(project, 1001)
    heard.clear()

    project.undo(2)

    assert len(heard) == 1 and heard[0].touches("document", 5)
