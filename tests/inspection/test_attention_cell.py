"""The arithmetic of attention equals the model's own output and the library's weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.attention_cell.inspector import AttentionCellInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris"
DEFAULTS = {option.name: option.default for option in AttentionCellInspector.info.options}


def run(subject, **options):
    found = AttentionCellInspector()
    return found.run(subject, [Document("", (("text", TEXT),))], {**DEFAULTS, **options})


def subject_of(tmp_path, family):
    return Subject(tiny_models.make(tmp_path / family, family), device="cpu")


@pytest.mark.parametrize(
    ("family", "mask"),
    [("bert", "none"), ("distilbert", "none"), ("gpt2", "causal"), ("llama", "causal")],
)
def test_each_step_follows_from_the_one_before(family, mask, tmp_path):
    result = run(subject_of(tmp_path, family), layer=2, head=2, query=3)

    assert result.difference <= 1e-5 and result.mask_kind == mask
    assert result.dots == pytest.approx(result.k @ result.q, abs=1e-5)
    assert result.scaled == pytest.approx(result.dots / np.sqrt(len(result.q)), abs=1e-5)
    scores = result.scaled.astype(float) + result.mask
    powers = np.exp(scores - scores.max())
    assert result.weights == pytest.approx(powers / powers.sum(), abs=1e-5)
    assert result.products.sum(1) == pytest.approx(result.dots, abs=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_weights_are_those_that_the_library_gives(family, tmp_path):
    subject = subject_of(tmp_path, family)
    result = run(subject, layer=2, head=1, query=2)

    model = transformers.AutoModel.from_pretrained(subject.folder, attn_implementation="eager")
    ids = torch.tensor([[token.id for token in result.queries]])
    with torch.no_grad():
        wanted = model.eval()(ids, output_attentions=True).attentions[1][0, 0, 2]
    assert result.weights == pytest.approx(wanted.numpy(), abs=1e-5)


def test_a_decoder_that_reads_a_text_attends_to_its_encoder(tmp_path):
    result = run(subject_of(tmp_path, "bart"), kind="cross", layer=2)

    assert (result.kinds, result.kind, result.layers) == (("self", "cross"), "cross", 2)
    assert result.difference <= 1e-5 and result.mask_kind == "none"
    assert run(subject_of(tmp_path, "bart"), kind="self", layer=4).mask_kind == "causal"


def test_what_does_not_exist_is_named(tmp_path):
    subject = subject_of(tmp_path, "bert")
    with pytest.raises(WorkbenchError, match="no layer 3: it has 2"):
        run(subject, layer=3)
    with pytest.raises(WorkbenchError, match="no head 9: it has 2"):
        run(subject, head=9)
