"""A run has a folder of its own; what another project left under the same number stays."""

import json
import os

from workbench.base import owned_folder, paths
from workbench.operations.runs import results, run_folders
from workbench.storage.runs import runs


def add(project, name):
    with project.write():
        return run_folders.add_run(project, name, status="done")


def left_behind(project, number, content="another project's weights"):
    folder = paths.run_folder(project.path, number)
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "glossbench.json").write_text(content)
    return folder


def test_a_new_run_passes_over_folders_that_exist(project):
    first, second = left_behind(project, 1), left_behind(project, 2)

    run = add(project, "first")

    assert run.id == 3 and owned_folder.is_owned(paths.run_folder(project.path, 3))
    assert [entry.name for entry in runs.all(project.db)] == ["first"]
    assert all((item / "model" / "glossbench.json").is_file() for item in (first, second))


def test_deleting_a_run_deletes_its_folder_but_none_made_for_another(project):
    mine, other = add(project, "mine"), add(project, "other")
    folder = paths.run_folder(project.path, other.id)
    owned_folder.remove(folder)
    left_behind(project, other.id)

    results.delete(project, mine.id)
    results.delete(project, other.id)

    assert not paths.run_folder(project.path, mine.id).exists()
    assert (folder / "model" / "glossbench.json").is_file()


def test_a_folder_of_an_earlier_version_is_known_by_its_job(project):
    run = add(project, "old")
    folder = paths.run_folder(project.path, run.id)
    (folder / owned_folder.MARKER).unlink()

    about = {"project": "someone else", "id": run.id}
    (folder / "job.json").write_text(json.dumps({"params": {"run": about}}))
    run_folders.remove(project, run.id)
    assert folder.is_dir()

    about["project"] = project.uid
    (folder / "job.json").write_text(json.dumps({"params": {"run": about}}))
    run_folders.remove(project, run.id)
    assert not folder.exists()


def test_a_model_that_was_being_replaced_is_found_and_recovered_by_the_writer(project):
    run = add(project, "crashed")
    model = paths.run_folder(project.path, run.id) / "model"
    owned_folder.replace(model, lambda draft: (draft / "glossbench.json").write_text("{}"))
    os.replace(model, model.with_name("model.old"))

    assert run_folders.model(project, run.id).name == "model.old" and not model.exists()

    run_folders.recover(project, run.id)
    assert run_folders.model(project, run.id) == model and (model / "glossbench.json").is_file()


def test_weights_are_deleted_with_the_state_that_shares_their_files(project):
    run = add(project, "trial")
    folder = paths.run_folder(project.path, run.id)
    for name in ("model", "state"):
        owned_folder.create(folder / name)
    (folder / "predictions.jsonl").touch()

    run_folders.remove_model(project, run.id)

    assert not (folder / "model").exists() and not (folder / "state").exists()
    assert (folder / "predictions.jsonl").exists()
