"""The cross-attention inspector against transformers' own output."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.cross_attention.info import INFO  # noqa: E402
from workbench.inspection.cross_attention.inspector import CrossAttentionInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.document import Document  # noqa: E402

DEFAULTS = {option.name: option.default for option in INFO.options}
SOURCE, TARGET = "the tram was late", "delay"


def run(subject, **options):
    document = Document("", (("text", SOURCE),))
    return CrossAttentionInspector().run(subject, [document], {**DEFAULTS, **options})


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_every_head_is_equal_to_the_library_s(family, tmp_path):
    folder = tiny_models.make(tmp_path / family, family)
    subject = Subject(folder, device="cpu")
    library = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        folder, attn_implementation="eager"
    ).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    labels = tokenizer(TARGET, return_tensors="pt").input_ids
    with torch.no_grad():
        output = library(
            **tokenizer(SOURCE, return_tensors="pt", return_token_type_ids=False),
            labels=labels,
            output_attentions=True,
        )

    for layer in (1, 2):
        for head in (1, 2):
            result = run(subject, target=TARGET, layer=layer, head=head)
            wanted = output.cross_attentions[layer - 1][0, head - 1].numpy()
            assert result.weights == pytest.approx(wanted, abs=1e-5)
    assert result.weights.sum(1) == pytest.approx([1.0] * labels.shape[1], abs=1e-5)
    assert len(result.written) == labels.shape[1] and not result.own
    assert "".join(token.shown for token in result.source if not token.special).startswith("the")
    assert (result.layers, result.heads, result.target) == (2, 2, TARGET)


def test_without_a_target_the_model_writes_one_and_missing_heads_are_named(tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "bart", "bart"), device="cpu")

    assert run(subject).own
    with pytest.raises(WorkbenchError, match="no layer 3: the decoder has 2"):
        run(subject, target=TARGET, layer=3)
