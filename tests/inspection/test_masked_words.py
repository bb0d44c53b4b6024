"""Masked words against transformers, pseudo-perplexity by hand, next sentences."""

import math
import shutil

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from safetensors.torch import save_file  # noqa: E402

from tests import tiny_models  # noqa: E402
from workbench.base.errors import SpecError, WorkbenchError  # noqa: E402
from workbench.inspection.masked_words import inspector as masked_words  # noqa: E402
from workbench.inspection.masked_words.info import INFO, read_words  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.boundary import SpanBoundary  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "ada met bob in paris"
DEFAULTS = {option.name: option.default for option in INFO.options}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("bert") / "model", "bert")


def run(folder, text=TEXT, **options):
    found = masked_words.MaskedWordsInspector()
    document = Document("", (("text", text),))
    return found.run(Subject(folder, device="cpu"), [document], {**DEFAULTS, **options})


def reference(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.BertForPreTraining.from_pretrained(folder).eval()


def test_masked_words_get_the_model_s_best_tokens_all_masked_at_once(folder):
    tokenizer, model = reference(folder)
    ids = tokenizer(TEXT).input_ids
    hidden = [tokenizer.mask_token_id if at in (1, 3) else id for at, id in enumerate(ids)]
    with torch.no_grad():
        scores = model(torch.tensor([hidden])).prediction_logits[0].softmax(-1)

    result = run(folder, words="2,0", top=3)

    assert [(position.word, position.piece) for position in result.positions] == [
        (0, "ada"),
        (2, "bob"),
    ]
    for at, position in zip((1, 3), result.positions, strict=True):
        values, best = scores[at].topk(3)
        assert [word for word, _ in position.best] == tokenizer.convert_ids_to_tokens(best.tolist())
        assert [share for _, share in position.best] == pytest.approx(values.tolist(), abs=1e-6)
        assert position.own == pytest.approx(float(scores[at, ids[at]]), abs=1e-6)
        assert position.rank == int((scores[at] > scores[at, ids[at]]).sum()) + 1


def test_pseudo_perplexity_is_that_of_each_token_masked_alone(folder):
    tokenizer, model = reference(folder)
    ids, bits = tokenizer(TEXT).input_ids, []
    for at in range(1, len(ids) - 1):
        hidden = [*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]]
        with torch.no_grad():
            logs = model(torch.tensor([hidden])).prediction_logits[0, at].log_softmax(-1)
        bits.append(-float(logs[ids[at]]) / math.log(2))

    result = run(folder)

    assert result.bits == pytest.approx(bits, abs=1e-4) and result.positions == ()
    assert result.per_token == pytest.approx(2 ** (sum(bits) / 5), rel=1e-4)
    assert result.per_word == result.per_token  # every word is one token here


def test_a_word_of_several_tokens_adds_their_bits(folder):
    result = run(folder, "northz met")

    assert (len(result.bits), result.tokens) == (2, 3)
    assert result.per_word > result.per_token


def test_the_first_words_of_a_long_text_are_scored(folder, monkeypatch):
    monkeypatch.setattr(masked_words, "BUDGET", 180)

    result = run(folder, "late " * 16)

    assert (len(result.words), len(result.bits), result.complete) == (16, 10, True)
    assert result.rest == 6


def test_next_sentences_are_scored_by_models_with_that_head_alone(folder, tmp_path):
    tokenizer, model = reference(folder)
    with torch.no_grad():
        logits = model(**tokenizer(TEXT, "late", return_tensors="pt")).seq_relationship_logits

    result = run(folder, second="late")

    assert result.pairs and result.follows == pytest.approx(float(logits.softmax(-1)[0, 0]))
    other = tiny_models.make(tmp_path / "roberta", "roberta")
    assert not run(other).pairs
    with pytest.raises(SpecError, match="no head that predicts whether a sentence follows"):
        run(other, second="late")


def test_words_that_do_not_exist_are_refused(folder):
    with pytest.raises(WorkbenchError, match="no word 9: the text has 5"):
        run(folder, words="9")
    with pytest.raises(SpecError, match="'first', expected indices"):
        read_words("first")


def test_a_long_text_that_is_scored_in_parts_has_the_bits_of_one_request(folder, monkeypatch):
    monkeypatch.setattr(masked_words, "BUDGET", 180)
    inspector, subject = masked_words.MaskedWordsInspector(), Subject(folder, device="cpu")
    document = Document("", (("text", "late met " * 8),))

    options, found, steps = {**DEFAULTS, "part": 60}, None, []
    while found is None or found.further(False) is not None:
        found = inspector.run(subject, [document], options)
        steps.append(len(found.bits))

    assert steps == [3, 6, 9, 10]  # 18 tokens are read for each: 3 fit into 60, 10 into 180
    whole = run(folder, "late met " * 8)
    assert whole.complete and found.bits == pytest.approx(whole.bits)
    again = inspector.run(subject, [document], {**options, "words": "1"})
    assert again.bits == found.bits and len(again.positions) == 1

    steps = []
    while (more := found.further(True)) is not None:
        found = inspector.run(subject, [document], {**options, **more})
        steps.append(len(found.bits))
        assert found.further(False) is None  # the rest is scored on request alone
    assert steps == [13, 16] and found.rest == 0
    whole = run(folder, "late met " * 8, all=True)
    assert whole.tokens == 16 and found.bits == pytest.approx(whole.bits)


def test_words_beyond_the_input_of_the_model_are_never_scored(folder):
    result = run(folder, "late " * 80, all=True)

    assert (len(result.words), result.cut, result.rest) == (80, True, 0)
    assert len(result.bits) == result.tokens < 80 and min(result.bits) > 0


def test_a_boundary_head_predicts_masked_words_from_the_tokens_beside_them(folder, tmp_path):
    """Both words of the span "met bob" from "ada" and "in", with a head of random weights."""
    path = shutil.copytree(folder, tmp_path / "spanbert")
    encoder = load(path, LoadOptions(head="mask")).eval()
    torch.manual_seed(1)
    head = SpanBoundary(encoder.width, len(encoder.word_embeddings)).eval()
    torch.nn.init.normal_(head.linear2.weight)
    (path / "objective").mkdir()
    save_file(head.state_dict(), path / "objective" / "span_masking.safetensors")
    tokenizer, _model = reference(folder)
    ids = tokenizer(TEXT).input_ids
    hidden = [tokenizer.mask_token_id if at in (2, 3, 5) else id for at, id in enumerate(ids)]
    inputs = {"input_ids": torch.tensor([hidden]), "attention_mask": torch.ones(1, len(ids)).long()}
    around = [torch.tensor([row]) for row in ([1, 1, 4], [4, 4, 6], [0, 1, 0])]
    with torch.no_grad():
        states = encoder(inputs).layers[-1]
        shares = head(states, *around, encoder.word_embeddings)[0].softmax(-1)

    positions = run(path, words="1,2,4", top=3).positions

    found = [position.boundary for position in positions]
    assert [(item.left, item.right, item.place) for item in found] == [
        ("ada", "in", 1),
        ("ada", "in", 2),
        ("in", "[SEP]", 1),
    ]
    for item, at, scores in zip(found, (2, 3, 5), shares, strict=True):
        values, best = scores.topk(3)
        assert item.own == pytest.approx(float(scores[ids[at]]), abs=1e-5)
        assert item.rank == int((scores > scores[ids[at]]).sum()) + 1
        assert [word for word, _ in item.best] == tokenizer.convert_ids_to_tokens(best.tolist())
        assert [share for _, share in item.best] == pytest.approx(values.tolist(), abs=1e-5)
    assert all(position.boundary is None for position in run(folder, words="1,2").positions)
