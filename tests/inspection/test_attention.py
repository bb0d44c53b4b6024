"""The attention inspector against transformers' own output_attentions."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.inspection.attention.info import INFO  # noqa: E402
from workbench.inspection.attention.inspector import (  # noqa: E402
    AttentionInspector,
    attentions,
    mask_kind,
    pooled,
    rollout,
)
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris, the tram to harbour gate was late"
DEFAULTS = {option.name: option.default for option in INFO.options}


def document(text, second=None):
    return Document("", (("text", text), *((("text_b", second),) if second else ())))


def run(subject, text=TEXT, inspector=None, **options):
    texts = text if isinstance(text, Document) else document(text)
    return (inspector or AttentionInspector()).run(subject, [texts], {**DEFAULTS, **options})


def reference(folder, ids):
    """(L, H, T, T) as the library gives them."""
    model = transformers.AutoModel.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    with torch.no_grad():
        result = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.stack([item[0] for item in result]).numpy()


@pytest.mark.parametrize(
    "family",
    ["bert", "distilbert", "roberta", "electra", "albert", "gpt2", "openai-gpt", "llama", "olmo"],
)
def test_every_head_is_equal_to_the_library_s(family, tmp_path):
    folder = tiny_models.make(tmp_path / family, family)
    subject, inspector = Subject(folder, device="cpu"), AttentionInspector()
    ids = [token.id for token in run(subject, inspector=inspector).tokens]
    wanted = reference(folder, ids)

    for layer in (1, 2):
        for head in (1, 2):
            result = run(subject, inspector=inspector, layer=layer, head=head)
            assert result.weights == pytest.approx(wanted[layer - 1, head - 1], abs=1e-5)
    assert result.weights.sum(1) == pytest.approx(np.ones(len(ids)), abs=1e-5)
    assert np.all(result.hidden == 0) and (result.layers, result.heads) == (2, 2)


@pytest.mark.parametrize(
    ("family", "mask"), [("bert", "none"), ("gpt2", "causal"), ("llama", "causal")]
)
def test_the_mask_is_seen(family, mask, tmp_path):
    result = run(Subject(tiny_models.make(tmp_path / "m", family), device="cpu"))

    later = np.triu(np.ones(result.weights.shape, bool), 1)
    assert result.mask == mask
    assert np.array_equal(result.masked, later if mask == "causal" else np.zeros_like(later))


def test_the_stacks_of_bart_have_masks_and_rollouts_of_their_own(tmp_path):
    """Its encoder reads in both directions; its decoder begins again with the embeddings."""
    subject = Subject(tiny_models.make(tmp_path / "m", "bart"), device="cpu")
    inspector = AttentionInspector()
    options = {"inspector": inspector, "combine": "mean"}
    layers = [run(subject, layer=layer, **options) for layer in range(1, 5)]

    assert [result.mask for result in layers] == ["none", "none", "causal", "causal"]
    for layer, first in ((2, 0), (3, 2), (4, 2)):
        means = np.stack([result.weights for result in layers[first:layer]])
        result = run(subject, inspector=inspector, layer=layer, combine="rollout")
        wanted = rollout(means[:, None])
        assert result.weights == pytest.approx(wanted, abs=1e-6)
        assert result.mask == ("none" if layer == 2 else "causal")


def test_a_window_of_attention_is_local():
    near = np.abs(np.subtract.outer(np.arange(6), np.arange(6))) > 2

    assert mask_kind(np.stack([np.zeros_like(near), near])) == "local"


@pytest.mark.parametrize("task", ["tag", "classify"])
def test_a_run_is_loaded_again_with_eager_attention_once(task, tiny_run, monkeypatch):
    folder = tiny_run(task)
    subject = Subject(folder, device="cpu")
    assert not subject.encoder.gives_attention
    before = subject.encoder

    ids = [token.id for token in run(subject).tokens]
    eager = subject.eager_encoder

    assert run(subject, layer=2).weights == pytest.approx(reference(folder, ids)[1, 0], abs=1e-5)
    assert subject.encoder is before and subject.eager_encoder is eager is not before


def test_an_encoder_that_is_eager_already_serves_twice(tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "m", "openai-gpt"), device="cpu")

    assert subject.eager_encoder is subject.encoder


def test_another_head_of_the_same_text_takes_no_pass(tmp_path, monkeypatch):
    subject = Subject(tiny_models.make(tmp_path / "m"), device="cpu")
    inspector, passes = AttentionInspector(), []

    def counted(*of):
        passes.append(1)
        return attentions(*of)

    monkeypatch.setattr("workbench.inspection.attention.inspector.attentions", counted)
    run(subject, inspector=inspector)
    run(subject, inspector=inspector, layer=2, head=2)
    assert len(passes) == 1

    run(subject, "another text", inspector=inspector)
    assert len(passes) == 2


def test_special_tokens_can_be_hidden_and_what_they_get_is_reported(tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "m"), device="cpu")
    whole, part = run(subject), run(subject, special=False)

    assert [token.special for token in whole.tokens] == [True, *[False] * len(part.tokens), True]
    assert np.array_equal(part.weights, whole.weights[1:-1, 1:-1])
    assert part.weights.sum(1) + part.hidden == pytest.approx(np.ones(len(part.tokens)), abs=1e-5)
    assert part.positions == whole.positions[1:-1]
    assert part.overview.shape[-1] == len(part.tokens)


def test_a_long_text_is_shown_by_window(tiny_run):
    subject = Subject(tiny_run("tag"), device="cpu")  # 32 tokens a window
    text = " ".join(f"word{number} of" for number in range(40))
    first, second = run(subject, text), run(subject, text, window=2)

    assert first.windows == second.windows > 2 and second.window == 2
    assert len(first.tokens) == len(second.tokens) == 32
    assert second.tokens[1].start < first.tokens[-2].end  # windows overlap
    assert first.positions[:3] == (0, 1, 2)
    assert not {*first.positions} & {*second.positions} - {-1}


def test_a_pair_is_one_input(tiny_run):
    result = run(Subject(tiny_run("pairs"), device="cpu"), document("late again", "on time"))

    assert [token.field for token in result.tokens if not token.special] == ["text"] * 2 + [
        "text_b"
    ] * 2


def test_the_overview_of_many_tokens_keeps_the_largest_weight_of_each_block():
    values = np.zeros((1, 2, 100, 100), np.float32)
    values[0, 1, 99, 0] = 0.75

    result = pooled(values, 32)

    assert result.shape == (1, 2, 32, 32) and result[0, 1, 31, 0] == 0.75 and result.sum() == 0.75
    assert pooled(values, 100).shape == values.shape


def test_entropy_is_that_of_the_rows(tmp_path):
    result = run(Subject(tiny_models.make(tmp_path / "m"), device="cpu"), layer=2, head=1)

    rows = -(result.weights * np.log2(result.weights)).sum(1)
    assert result.entropies[1, 0] == pytest.approx(rows.mean(), abs=1e-4)


@pytest.mark.parametrize("what", ["layer", "head", "window"])
def test_what_is_not_there_is_reported(what, tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "m"), device="cpu")

    with pytest.raises(WorkbenchError, match=f"There is no {what} 9"):
        run(subject, **{what: 9})


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_words_has_the_special_tokens_alone(text, tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "m"), device="cpu")

    assert [token.shown for token in run(subject, text).tokens] == ["[CLS]", "[SEP]"]
    assert run(subject, text, special=False).weights.shape == (0, 0)


def test_the_starters_give_their_attention():
    for name in ("starter-bert", "starter-gpt"):
        result = run(Subject(resource("models") / name, device="cpu"))
        assert result.weights.sum(1) == pytest.approx(np.ones(len(result.tokens)), abs=1e-5)


def test_rollout_multiplies_layers_with_half_of_each_kept():
    """Two layers of two tokens by hand: (A + I) / 2 of each, multiplied from the top."""
    first = np.array([[[0.0, 1.0], [1.0, 0.0]]], np.float32)
    second = np.array([[[1.0, 0.0], [0.5, 0.5]]], np.float32)

    result = rollout(np.stack([first, second]))

    assert result == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5]]))
    assert rollout(first[None]) == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5]]))


def test_the_mean_of_a_layer_and_rollout_are_shown_in_place_of_a_head(tmp_path):
    subject = Subject(tiny_models.make(tmp_path / "bert", "bert"), device="cpu")
    heads = [run(subject, layer=2, head=head).weights for head in (1, 2)]

    mean, rolled = (run(subject, layer=2, combine=how) for how in ("mean", "rollout"))

    assert mean.weights == pytest.approx(sum(heads) / 2, abs=1e-6) and mean.combine == "mean"
    assert rolled.weights.sum(1) == pytest.approx(np.ones(len(rolled.tokens)), abs=1e-5)
