"""Pretraining into the list of models: texts of the project, names, and what stays at the end."""

from pathlib import Path

import pytest

from tests.operations.conftest import HeldQueue
from workbench.base import owned_folder, paths
from workbench.base.errors import SpecError, WorkbenchError
from workbench.base.settings import Settings
from workbench.operations.models import new_models
from workbench.operations.models.new_models import TextSource
from workbench.pretraining.spec import PretrainSpec
from workbench.storage.documents import documents
from workbench.text.dataset import Record
from workbench.text.document import Document

TEXTS = (("train", "a tram\n\nis late"), (None, "no split"), ("dev", "held out"))
TEST = (("test", "a secret"), ("train", "a secret"), ("train", "a bus"))


@pytest.fixture
def filled(project):
    records = [
        Record(Document(f"k{number}", (("text", text),), split=split))
        for number, (split, text) in enumerate((*TEXTS, *TEST))
    ]
    with project.edit("Add"):
        documents.add(project.db, records, source_id=project.source("person"))
    return project


def test_texts_of_test_are_not_written_even_where_they_occur_again(filled):
    written = new_models.write(filled, TextSource(held_out=("dev",)))

    assert Path(written.texts[0]).read_text() == "a tram\nis late\n\nno split\n\na bus\n\n"
    assert Path(written.held_out[0]).read_text() == "held out\n\n"
    written.close()
    assert not written.folder.exists()


def test_only_documents_with_the_words_are_used(filled):
    source = TextSource(words="tram")

    assert new_models.measure(filled, source).documents == 1
    with pytest.raises(WorkbenchError, match="No document"):
        new_models.write(filled, TextSource(words="zeppelin"))


def test_a_name_is_free_and_fit_for_a_folder():
    (paths.models_folder() / "bert").mkdir(parents=True)
    (paths.models_folder() / "glove.txt").touch()

    assert new_models.free_name("bert") == "bert-2"
    assert new_models.free_name("glove") == "glove-2"
    for name in ("", "a/b", "BERT", " x"):
        with pytest.raises(SpecError):
            new_models.check_name(name)


@pytest.mark.parametrize(("status", "listed"), [("done", True), ("failed", True), ("cancelled", 0)])
def test_the_model_is_listed_at_the_end_and_deleted_after_a_cancel(
    filled, tiny_model, status, listed
):
    queue, settings = HeldQueue(), Settings()
    spec = PretrainSpec("masked_lm", str(tiny_model), ())
    work = new_models.prepare(filled, spec, TextSource(), "mine")
    job = new_models.start(queue, work)
    owned_folder.create(work.out)  # saved at an evaluation

    job.start()
    job.end(status)
    new_models.ended(job, settings)

    assert settings.model_folders == ([str(work.out)] if listed else [])
    assert work.out.exists() is bool(listed)
    assert [str(Path(work.spec.texts[0]).parent)] == list(job.spec.scratch)  # deleted by the queue
