import pytest

from tests.tiny_runs import tiny_run

__all__ = ["tiny_run"]


@pytest.fixture(scope="module")
def trained(tiny_model, tmp_path_factory):
    """Folders of models with a random head: only the form of their predictions is tested."""
    from workbench.models import folder as folders
    from workbench.models.base import LoadOptions
    from workbench.models.families.transformer.family import TransformerFamily
    from workbench.models.loading import load

    result = {}
    for task, head, outputs, labels in (
        ("classify", "sequence", ("x", "y"), ["x", "y"]),
        ("tag", "token", ("O", "B-P", "I-P"), ["P"]),
    ):
        folder = tmp_path_factory.mktemp("trained") / task
        folder.mkdir()
        options = LoadOptions(head=head, outputs=outputs, seed=5)
        TransformerFamily().save(load(tiny_model, options), folder)
        folders.describe(folder, {"task": task, "labels": labels, "max_length": 32})
        result[task] = folder
    return result
