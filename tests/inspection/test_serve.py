import json
import sys
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from workbench.base.errors import ModelError, SpecError  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.inspection import serve, subject  # noqa: E402
from workbench.inspection.spec import Inspection  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.loading import load  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.document import Document  # noqa: E402

SENTENCE = "The 42 tram from Harbour Gate to Northfield was twenty minutes late"


def opened(folder):
    """asked(inspector, text, **options) → its result, after the way through JSON."""
    answer = serve.open({"model": str(folder), "device": "cpu"})

    def asked(inspector, text, **options):
        texts = text if isinstance(text, dict) else {"text": text}
        request = {"inspector": inspector, "documents": [{"texts": texts}], "options": options}
        return Inspection.from_plain(json.loads(json.dumps(answer(request))))

    return asked


@pytest.fixture(scope="module")
def gpt():
    return opened(resource("models") / "starter-gpt")


@pytest.fixture(scope="module")
def bert():
    return opened(resource("models") / "starter-bert")


def test_libraries_that_take_long_to_import_are_loaded_while_no_request_waits(tiny_run):
    answer = serve.open({"model": str(tiny_run("classify")), "device": "cpu"})

    assert list(answer.idle_steps) == ["matplotlib.pyplot", "captum.attr"]
    assert "captum.attr" in sys.modules


def test_subwords_stand_under_their_words_with_offsets_and_ids(bert):
    result = bert("subwords", SENTENCE).result

    north = [
        token
        for token in result.tokens
        if token.word is not None and result.words[token.word].text == "Northfield"
    ]
    assert [piece.piece for piece in north] == ["north", "##field"]
    assert [SENTENCE[piece.start : piece.end] for piece in north] == ["North", "field"]
    assert [token.piece for token in result.tokens if token.special] == ["[CLS]", "[SEP]"]
    assert len(result.words) == 12 and result.count == 13


def test_a_masked_model_gives_its_five_best_words_with_each_one_hidden(bert):
    tokenizer = transformers.AutoTokenizer.from_pretrained(resource("models") / "starter-bert")
    model = transformers.AutoModelForMaskedLM.from_pretrained(
        resource("models") / "starter-bert", dtype=torch.float32
    ).eval()
    ids = tokenizer(SENTENCE).input_ids
    ids[3] = tokenizer.mask_token_id
    with torch.no_grad():
        values, best = model(torch.tensor([ids])).logits[0, 3].softmax(-1).topk(5)

    row = bert("vocabulary", SENTENCE).result.tokens[3]

    assert [word for word, _ in row.best] == tokenizer.convert_ids_to_tokens(best.tolist())
    assert [share for _, share in row.best] == pytest.approx(values.tolist(), abs=1e-4)
    assert row.piece == "tram" and 0 < row.own < 1


def test_a_causal_model_gives_its_five_best_next_words(gpt):
    tokenizer = transformers.AutoTokenizer.from_pretrained(resource("models") / "starter-gpt")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        resource("models") / "starter-gpt", dtype=torch.float32
    ).eval()
    ids = tokenizer(SENTENCE).input_ids
    with torch.no_grad():
        scores = model(torch.tensor([ids])).logits[0].softmax(-1)

    result = gpt("vocabulary", SENTENCE).result

    assert not result.masked and [token.id for token in result.tokens] == ids
    assert [share for _, share in result.tokens[2].best] == pytest.approx(
        scores[2].topk(5).values.tolist(), abs=1e-4
    )
    assert result.tokens[2].own == pytest.approx(float(scores[2, ids[3]]), abs=1e-5)
    assert result.tokens[-1].own is None and result.tokens[1].shown.startswith("␣")


def test_a_tagger_gives_the_distribution_of_every_subword_and_its_spans(tiny_run):
    folder = tiny_run("tag", ("PER", "LOC"))

    asked = opened(folder)
    result, spans = asked("token_scores", SENTENCE).result, asked("spans", SENTENCE).result

    ours = Predictor.load(folder, "cpu").predict([Document("", (("text", SENTENCE),))])[0]
    assert [(s.start, s.end, s.label) for s in spans.spans] == [
        (s.start, s.end, s.label) for s in ours.spans
    ]
    assert result.labels == spans.labels == ("PER", "LOC")
    for row in result.tokens:
        assert row.special or [share for _, share in row.best] == sorted(
            (share for _, share in row.best), reverse=True
        )
    assert {label for label, _ in result.tokens[3].best} == {
        "O",
        "B-PER",
        "I-PER",
        "B-LOC",
        "I-LOC",
    }
    assert sum(share for _, share in result.tokens[3].best) == pytest.approx(1)


def test_a_classifier_gives_every_class_in_the_order_of_its_labels(tiny_run):
    result = opened(tiny_run("classify"))("class_scores", SENTENCE).result

    assert [label for label, _ in result.classes] == ["delay", "praise", "ticket"]
    assert sum(share for _, share in result.classes) == pytest.approx(1)


def test_a_pair_names_the_text_that_each_subword_is_from(tiny_run):
    texts = {"text": "Late again.", "text_b": "On time."}
    result = opened(tiny_run("pairs"))("subwords", texts).result

    assert [token.shown for token in result.tokens if token.field == "text_b"] == [
        "on",
        "time",
        ".",
    ]
    assert {word.field for word in result.words} == {"text", "text_b"}


def test_every_subword_of_a_long_tagged_text_stands_there_once_in_order(tiny_run):
    text = " ".join(f"word{number} of" for number in range(80))

    result = opened(tiny_run("tag"))("token_scores", text).result

    starts = [token.start for token in result.tokens if not token.special]
    tokenizer = transformers.AutoTokenizer.from_pretrained(resource("models") / "starter-bert")
    assert [token.id for token in result.tokens] == tokenizer(text).input_ids
    assert starts == sorted(starts) and not result.cut
    assert all(token.best for token in result.tokens if not token.special)


def test_of_a_long_text_a_masked_model_answers_a_part_and_goes_on_from_there(bert, monkeypatch):
    monkeypatch.setattr("workbench.inspection.vocabulary.inspector.BUDGET", 600)
    text = "late again " * 30

    first = bert("vocabulary", text).result
    second = bert("vocabulary", text, start=first.answered).result

    assert (
        first.answered == 9
        and [bool(token.best) for token in first.tokens[1:12]] == [True] * 9 + [False] * 2
    )
    assert not second.tokens[9].best and second.tokens[10].best
    both = first.joined(second)
    assert all(token.best for token in both.tokens[1:19]) and both.unanswered == 60 - 18


def test_what_the_tokenizer_does_not_know_is_counted(bert):
    assert bert("subwords", "Late again today").unknown == 0.0
    result = bert("subwords", "پنجره ᚠᚢᚦ again")
    assert result.unknown == pytest.approx(1 / 3)
    assert any(token.unknown for token in result.result.tokens)


def test_emoji_and_right_to_left_offsets_are_code_points(bert):
    text = "😀 tram שלום"

    result = bert("subwords", text).result

    assert "tram" in [text[token.start : token.end] for token in result.tokens]
    assert text[result.tokens[-2].start : result.tokens[-2].end] == "ם"


@pytest.mark.parametrize("text", ["", "   ", "\u200b"])
def test_a_text_without_words_is_answered(text, bert, tiny_run):
    asked = opened(tiny_run("tag"))

    assert bert("subwords", text).result.count == bert("vocabulary", text).result.count == 0
    assert asked("spans", text).result.spans == () and asked("token_scores", text).result.count == 0


def test_after_the_first_a_sentence_is_answered_within_150_ms(bert):
    """On a slow processor: within little more than the model itself takes for these inputs."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the clock of one thread does not see what else runs on the machine
    found = bert("vocabulary", SENTENCE).result
    forward = masked_forward(found.count, len(found.tokens))
    answers, passes = [], []
    for number in range(5):
        answers.append(seconds(lambda text=str(number): bert("vocabulary", SENTENCE + text)))
        passes.append(seconds(forward))
    torch.set_num_threads(threads)

    assert np.median(answers) < max(0.15, 1.5 * np.median(passes))


def seconds(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def masked_forward(count, length):
    """Predict one word in each of `count` rows of the starter."""
    encoder = load(resource("models") / "starter-bert", LoadOptions(head="mask"))
    shape = (count, length)
    inputs = {"input_ids": torch.full(shape, 1000), "attention_mask": torch.ones(shape).long()}

    def forward():
        with torch.inference_mode():
            encoder.logits_at(inputs, torch.zeros(count, 1).long())

    return forward


def test_a_folder_without_a_model_says_what_is_missing(tmp_path):
    with pytest.raises(ModelError, match="config.json is missing"):
        serve.open({"model": str(tmp_path)})


def test_inspectors_that_ask_about_one_document_share_a_pass(tiny_run, monkeypatch):
    asked = opened(tiny_run("tag"))
    passes, infer = [], subject.infer
    monkeypatch.setattr(subject, "infer", lambda *args: passes.append(1) or infer(*args))

    asked("token_scores", SENTENCE)
    asked("spans", SENTENCE)

    assert len(passes) == 1


def test_a_model_that_lacks_what_an_inspector_needs_says_what(bert):
    with pytest.raises(ModelError, match="does not provide.*class_scores requires: ClassScores"):
        bert("class_scores", SENTENCE)


def test_an_option_that_an_inspector_does_not_have_is_refused(bert):
    with pytest.raises(SpecError, match="vocabulary has no option 'depth'"):
        bert("vocabulary", SENTENCE, depth=3)


def test_a_model_without_a_head_is_tokenized(tmp_path):
    model = transformers.AutoModel.from_pretrained(resource("models") / "starter-bert")
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(resource("models") / "starter-bert").save_pretrained(
        tmp_path
    )

    assert opened(tmp_path)("subwords", SENTENCE).result.count == 13
