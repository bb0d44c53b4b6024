"""The arithmetic of attention equals the model's own output and the library's weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.attention_cell.inspector import AttentionCellInspector  # noqa: E402
from workbench.inspection.attention_cell.recording import capped, record  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris"
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIGS = {
    "openai-gpt": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 16},
    "gemma2": {
        **SIZES, "intermediate_size": 32, "num_key_value_heads": 1, "head_dim": 8,
        "query_pre_attn_scalar": 8,
    },
    "xlm": {"emb_dim": 16, "n_layers": 2, "n_heads": 2, "max_position_embeddings": 16},
    "mpnet": {**SIZES, "intermediate_size": 32, "max_position_embeddings": 16},
    "xlnet": {"d_model": 16, "n_layer": 2, "n_head": 2, "d_inner": 32},
}  # fmt: skip
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
    assert not result.bias.any()
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


def calls_of(subject):
    """The recorded layers of a model, its layers being in `subject.encoder`."""
    encoder = subject.encoder
    piece = subject.prepared(Document("", (("text", TEXT),))).inputs[0]
    arrays = stack([piece], encoder.input_names, encoder.preparer.fill)
    inputs = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return record(encoder, lambda: encoder(inputs))


def difference(call):
    scores = capped(call.q @ call.k.mT * call.scale, call.cap) + call.bias + call.mask
    return float((scores.softmax(-1) @ call.v - call.output).abs().max())


@pytest.mark.parametrize("family", ["openai-gpt", "gemma2", "xlm", "mpnet", "xlnet"])
def test_attention_without_the_fused_function_is_followed_step_by_step(family, tmp_path):
    config = CONFIGS[family]
    torch.manual_seed(0)
    model = transformers.AutoModel.from_config(
        transformers.AutoConfig.for_model(family, vocab_size=30, **config),
        attn_implementation="eager",
    ).eval()
    ids = torch.tensor([[3, 4, 5, 6, 7]])
    calls = record(model, lambda: model(ids))

    assert len(calls) == 2 and all(difference(call) <= 1e-5 for call in calls)
    causal = family in ("openai-gpt", "gemma2")
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert all(((call.mask < 0) == (later if causal else False)).all() for call in calls)
    assert {round(call.scale, 6) for call in calls} == {round(8**-0.5, 6)}
    assert {call.cap for call in calls} == {50.0 if family == "gemma2" else 0.0}
    has_bias = family in ("mpnet", "xlnet")
    assert all((float(call.bias.abs().max()) > 1e-5) == has_bias for call in calls)


def test_the_bias_of_t5_is_that_of_its_relative_positions(tmp_path):
    subject = subject_of(tmp_path, "t5")
    first, second = calls_of(subject)

    attention = subject.encoder.reader.block[0].layer[0].SelfAttention
    length = first.q.shape[1]
    wanted = attention.compute_bias(length, length)[0].double()  # (H, T, T)
    for call in (first, second):
        assert call.scale == 1 and difference(call) <= 1e-5
        assert torch.allclose(call.bias, wanted, atol=1e-6)


def test_the_bias_of_deberta_is_that_of_its_disentangled_attention(tmp_path):
    calls = calls_of(subject_of(tmp_path, "deberta"))

    assert [round(call.scale, 6) for call in calls] == [round((3 * 8) ** -0.5, 6)] * 2
    assert all(difference(call) <= 1e-5 and call.bias.abs().max() > 1e-5 for call in calls)


def test_t5_attends_to_itself_and_to_its_encoder_while_it_writes(tmp_path):
    subject = subject_of(tmp_path, "t5")
    causal = run(subject, layer=3, target="late bus")
    cross = run(subject, kind="cross", layer=2, query=2, target="late bus")

    assert (causal.layers, causal.mask_kind, cross.layers, cross.mask_kind) == (
        4,
        "causal",
        2,
        "none",
    )
    assert max(causal.difference, cross.difference) <= 1e-5 and causal.scale == cross.scale == 1
    assert causal.queries == causal.keys == cross.queries and causal.target == "late bus"
    assert len(cross.keys) > len(cross.queries) and cross.bias == pytest.approx(0, abs=1e-6)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(
        subject.folder, attn_implementation="eager"
    )
    with torch.no_grad():
        output = model.eval()(
            input_ids=torch.tensor([[token.id for token in cross.keys]]),
            decoder_input_ids=torch.tensor([[token.id for token in cross.queries]]),
            output_attentions=True,
        )
    assert cross.weights == pytest.approx(output.cross_attentions[1][0, 0, 2].numpy(), abs=1e-5)
    wanted = output.decoder_attentions[0][0, 0, 1].numpy()
    assert causal.weights == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("layer", 3, "no layer 3: the last is 2"),
        ("head", 9, "no head 9: the last is 2"),
        ("query", 7, "no token 7: the last is 6"),
        ("kind", "cross", "no cross-attention"),
        ("target", "a gate", "no decoder that generates a target text"),
    ],
)
def test_what_does_not_exist_is_named(tmp_path, option, value, message):
    with pytest.raises(WorkbenchError, match=message):
        run(subject_of(tmp_path, "bert"), **{option: value})
