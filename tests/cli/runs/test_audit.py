"""`audit`: findings of the sample, and snapping labels to words."""

import pytest

from workbench.operations.annotation import annotate, document_view
from workbench.operations.evaluation import folds
from workbench.project.project import Project


@pytest.fixture
def sample(ask, tmp_path):
    return ask("sample", "sample", tmp_path / "s")["path"]


def test_labels_off_words_are_listed_and_fixed(ask, call, sample):
    project = Project.open(sample)
    layer = folds.layer_named(project, "spans")
    (first, *_rest) = folds.given_labels(project, "tag", layer)
    row = next(
        r for r in document_view.view(project, first.document.id).spans if r.layer_id == layer.id
    )
    annotate.resize_span(project, row.id, row.start, row.end - 1)
    project.close()
    options = ("audit", sample, "--layer", "spans", "--model", "starter-bert")

    before = ask("audit", *options)
    fixed = ask("audit", *options, "--fix")
    after = ask("audit", *options)

    assert before["kinds"]["word"] == 1 and before["max_length"] == 512
    assert fixed["fixed"] == 1 and "word" not in after["kinds"]
    code, out, _err = call(*options)
    assert code == 0 and "Overlaps a longer label" in out
