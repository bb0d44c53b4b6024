"""The command line that repeats a run is one that the program accepts."""

import shlex

import click
import pytest

from tests.operations.conftest import STARTER
from workbench.base import paths
from workbench.base.errors import WorkbenchError
from workbench.cli.main import cli
from workbench.operations.prompts.prompt import TEMPLATE
from workbench.operations.runs import results
from workbench.storage.runs import runs


def add(project, name, kind, **spec):
    with project.write():
        return runs.add(project.db, name, kind, spec=spec, status="done")


def command(project, run):
    """The words of the command without the project, all accepted by the command line."""
    program, *words = shlex.split(results.command(project, run))
    assert program == "glossbench"
    context, group, left = click.Context(cli), cli, words
    while isinstance(group, click.Group):
        name, group, left = group.resolve_command(context, left)
        context = group.make_context(name, [*left], parent=context)
    return [word for word in words if word != str(project.path)]


def test_an_ensemble_is_averaged_again_from_its_members_by_their_present_names(project):
    first, second = (add(project, name, "train", task="classify") for name in ("a b", "c"))
    members = [{"id": run.id, "uid": run.uid, "name": "former"} for run in (first, second)]
    run = add(project, "both", "ensemble", task="classify", members=members)
    assert command(project, run) == ["ensemble", "--run", "a b", "--run", "c"]

    project.delete_run(second.id)
    with pytest.raises(WorkbenchError, match="was deleted"):
        results.command(project, run)


def test_a_published_model_is_added_by_its_name_or_path(project):
    known = add(project, "x", "published", model=STARTER, model_name="starter-bert", layer="topic")
    other = add(project, "y", "published", model="/models/mine", model_name="mine", layer="topic")

    assert command(project, known) == ["runs", "add", "starter-bert", "--layer", "topic"]
    assert command(project, other) == ["runs", "add", "/models/mine", "--layer", "topic"]


def test_predictions_are_imported_from_the_same_file(project):
    run = add(project, "mine", "imported", task="classify", layer="topic", file="/tmp/my file.csv")

    words = ["runs", "import", "/tmp/my file.csv", "--layer", "topic"]
    assert command(project, run) == words


def test_a_pretraining_writes_a_new_folder_and_names_its_texts(project, tmp_path):
    (tmp_path / "model").mkdir()
    spec = {"objective": "masked_lm", "model": STARTER, "seed": 3, "out": str(tmp_path / "model")}
    run = add(
        project, "p", "pretrain", **spec, options={"epochs": 2, "batch_size": None},
        texts=["/texts/a.txt"], held_out=["/texts/b.txt"],
    )  # fmt: skip

    assert command(project, run) == shlex.split(
        f"pretrain /texts/a.txt {tmp_path}/model-2 --objective masked_lm --model starter-bert "
        "--held-out /texts/b.txt --set epochs=2 --set batch_size=auto --seed 3"
    )
    with pytest.raises(WorkbenchError, match="No command line"):
        results.command(project, add(project, "of the window", "pretrain", **spec, options={}))


def test_a_prompt_is_repeated_with_the_template_in_its_folder(project):
    run = add(
        project, "prompt-1", "prompt", template="{{ label }}", model=STARTER, split="dev",
        model_name="starter-bert", layer="topic", shots=4, order="random", calibration="pmi",
    )  # fmt: skip
    with pytest.raises(WorkbenchError, match="template.txt"):
        results.command(project, run)

    folder = paths.run_folder(project.path, run.id)
    folder.mkdir(parents=True)
    (folder / TEMPLATE).write_text("{{ label }}")

    assert command(project, run) == shlex.split(
        f"prompt --template {folder / TEMPLATE} --model starter-bert --layer topic --shots 4 "
        "--order random --seed 1 --split dev --calibration pmi"
    )
