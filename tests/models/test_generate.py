import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import ModelError  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.models.generate import CAUSAL, MASKED, TEXT, LanguageModel, locate  # noqa: E402
from workbench.prompting.base import Prompt  # noqa: E402
from workbench.prompting.score import label_score, sequence_score  # noqa: E402

PROMPTS = [
    Prompt("The tram was late again. This is about ", answer, ".")
    for answer in ("delay", "ticket inspection", "crowdedness", "praise")
]


@pytest.fixture(scope="module")
def bert():
    return LanguageModel.load(resource("models") / "starter-bert", device="cpu")


@pytest.fixture(scope="module")
def gpt():
    return LanguageModel.load(resource("models") / "starter-gpt", device="cpu")


def theirs(name, auto):
    folder = resource("models") / name
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, getattr(transformers, auto).from_pretrained(
        folder, dtype=torch.float32
    ).eval()


def test_masked_scores_equal_a_computation_by_hand(bert):
    tokenizer, model = theirs("starter-bert", "AutoModelForMaskedLM")

    def by_hand(prompt):
        before = tokenizer(prompt.before, add_special_tokens=False).input_ids
        answer = tokenizer(prompt.answer, add_special_tokens=False).input_ids
        after = tokenizer(prompt.after, add_special_tokens=False).input_ids
        collected = []
        for turn, right in enumerate(answer):
            middle = answer[:turn] + [tokenizer.mask_token_id] * (len(answer) - turn)
            ids = [tokenizer.cls_token_id, *before, *middle, *after, tokenizer.sep_token_id]
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, 1 + len(before) + turn]
            collected.append(float(logits.log_softmax(-1)[right]))
        return collected

    ours = bert.logprobs(PROMPTS)

    assert bert.kind == MASKED
    assert [len(our) for our in ours] == [1, 2, 2, 1]
    for prompt, found in zip(PROMPTS, ours, strict=True):
        assert found == pytest.approx(by_hand(prompt), abs=1e-4)


def test_causal_scores_equal_a_computation_by_hand(gpt):
    tokenizer, model = theirs("starter-gpt", "AutoModelForCausalLM")

    def by_hand(prompt):
        ids = tokenizer(prompt.before + prompt.answer).input_ids
        first = len(tokenizer(prompt.before.rstrip()).input_ids)
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        return [float(logs[place - 1, ids[place]]) for place in range(first, len(ids))]

    ours = gpt.logprobs(PROMPTS)

    assert gpt.kind == CAUSAL and len(ours[1]) > 1
    for prompt, found in zip(PROMPTS, ours, strict=True):
        assert found == pytest.approx(by_hand(prompt), abs=1e-4)


def loglikelihood(tokenizer, model, context, continuation):
    """(sum, number of tokens), as lm-evaluation-harness scores a continuation: space at the end of
    the context is part of the continuation, and both are tokenized together.

    Source: EleutherAI, lm_eval/api/model.py, `_encode_pair`; models/huggingface.py,
    `_loglikelihood_tokens`.
    """
    spaces = len(context) - len(context.rstrip())
    if spaces:
        context, continuation = context[:-spaces], context[-spaces:] + continuation
    whole = tokenizer(context + continuation, add_special_tokens=False).input_ids
    first = len(tokenizer(context, add_special_tokens=False).input_ids)
    with torch.no_grad():
        logs = model(torch.tensor([whole[:-1]])).logits[0].log_softmax(-1)
    scores = [float(logs[place - 1, whole[place]]) for place in range(first, len(whole))]
    return sum(scores), len(scores)


def test_causal_scores_are_those_of_the_evaluation_harness(gpt):
    tokenizer, model = theirs("starter-gpt", "AutoModelForCausalLM")

    for prompt, logprobs in zip(PROMPTS, gpt.logprobs(PROMPTS), strict=True):
        total, count = loglikelihood(tokenizer, model, prompt.before, prompt.answer)
        assert sequence_score(logprobs) == pytest.approx(total, abs=1e-4)
        assert label_score(logprobs) == pytest.approx(total / count, abs=1e-4)


@pytest.mark.parametrize("name", ["bert", "gpt"])
def test_batches_and_single_prompts_give_the_same(name, request):
    model = request.getfixturevalue(name)
    prompts = [*PROMPTS, Prompt("Short: ", "delay", ""), Prompt("", "delay", " it is " * 30)]

    together = model.logprobs(prompts)

    for prompt, found in zip(prompts, together, strict=True):
        assert model.logprobs([prompt])[0] == pytest.approx(found, abs=1e-4)


def test_an_answer_without_subwords_has_no_scores(bert):
    assert bert.logprobs([Prompt("It is ", "\u200b", ".")]) == [[]]


def test_a_prompt_that_is_too_long_is_refused_with_its_length(bert):
    with pytest.raises(ModelError, match="603 of at most 512 subwords"):
        bert.logprobs([Prompt("word " * 599, "delay", ".")])


def test_equal_inputs_run_once(bert, monkeypatch):
    seen, real = [], bert.encoder.logits_at

    def counted(inputs, positions):
        seen.append(len(inputs["input_ids"]))
        return real(inputs, positions)

    monkeypatch.setattr(bert.encoder, "logits_at", counted)

    bert.logprobs([Prompt("It is ", answer, ".") for answer in ("delay", "praise", "ticket")])

    assert seen == [1]


EXAMPLES = "tram bad. bus so good. "
SHARING = [
    Prompt(f"{EXAMPLES}{text} is ", answer, "")
    for text in ("the bus full", "thank you ada", "the bus late")
    for answer in ("bad", "so good", "luck", "n")
]


@pytest.fixture(params=["gpt2", "llama", "olmo"])
def decoder(request, tmp_path):
    return LanguageModel.load(tiny_models.make(tmp_path / "model", request.param), device="cpu")


def test_what_prompts_share_is_computed_once_with_equal_scores(decoder, monkeypatch):
    units, real = [], decoder.encoder.logits_at

    def counted(inputs, positions):
        units.append(inputs["input_ids"].numel())
        return real(inputs, positions)

    monkeypatch.setattr(decoder.encoder, "logits_at", counted)
    shared = decoder.logprobs(SHARING)
    counts = [sum(units)]
    monkeypatch.setattr(decoder.encoder, "branched_logits", lambda texts: None)
    apart = decoder.logprobs(SHARING)

    counts.append(sum(units) - counts[0])
    assert 2 * counts[0] < counts[1]
    for prompt, item, other in zip(SHARING, shared, apart, strict=True):
        assert len(item) >= len(prompt.answer.split()) and item == pytest.approx(other, abs=1e-4)


def test_prompts_that_share_little_run_together(decoder, monkeypatch):
    monkeypatch.setattr(decoder.encoder, "branched_logits", None)

    found = decoder.logprobs([Prompt(before, "bad", "") for before in ("the tram is ", "ada is ")])

    assert [len(scores) > 0 for scores in found] == [True, True]


def test_models_that_forget_what_they_read_compute_each_prompt(tmp_path):
    window = transformers.MistralConfig(
        vocab_size=261, sliding_window=4, num_key_value_heads=2, **tiny_models.SIZES
    )
    gpt = LanguageModel.load(tiny_models.make(tmp_path / "gpt", "openai-gpt"), device="cpu")
    llama = LanguageModel.load(tiny_models.make(tmp_path / "llama", "llama"), device="cpu")
    text = [((1, 2), [(3,), ()])]

    assert gpt.encoder.branched_logits(text) is None
    assert [table.shape[0] for table in next(llama.encoder.branched_logits(text))] == [2, 1]
    llama.encoder.model.config = window
    assert llama.encoder.branched_logits(text) is None


@pytest.fixture(params=["t5", "bart"])
def encoder_decoder(request, tmp_path):
    return tiny_models.make(tmp_path / "model", request.param)


def test_text_to_text_scores_equal_a_computation_by_hand(encoder_decoder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder_decoder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(encoder_decoder).eval()
    short = [Prompt("late. It is ", answer, ", says ada") for answer in ("bad", "so good")]

    def by_hand(prompt):
        gap, written = "<mask>", prompt.before + prompt.answer
        source = tokenizer(prompt.before + gap + prompt.after, return_tensors="pt")
        target = tokenizer(written, return_tensors="pt").input_ids
        before = tokenizer(prompt.before, return_tensors="pt").input_ids.shape[1] - 1
        with torch.no_grad():
            logs = model(**source, labels=target).logits[0].log_softmax(-1)
        numbers = target[0].tolist()
        return [float(logs[place, numbers[place]]) for place in range(before, len(numbers) - 1)]

    ours = LanguageModel.load(encoder_decoder, device="cpu")

    assert ours.kind == TEXT
    for prompt, found in zip(short, ours.logprobs(short), strict=True):
        assert len(found) == len(prompt.answer)
        assert found == pytest.approx(by_hand(prompt), abs=1e-4)


def test_t5_fills_the_gap_that_a_sentinel_marks(tmp_path):
    folder = tiny_models.make(tmp_path / "model", "t5", sentinels=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    source = tokenizer("late. It is <extra_id_0>, says ada", return_tensors="pt")
    target = tokenizer("<extra_id_0>bad", return_tensors="pt").input_ids

    (logprob,) = LanguageModel.load(folder, device="cpu").logprobs(
        [Prompt("late. It is ", "bad", ", says ada")]
    )

    with torch.no_grad():
        logs = model(**source, labels=target).logits[0].log_softmax(-1)
    places = [place for place, number in enumerate(target[0].tolist()) if number > 5]
    expected = [float(logs[place, int(target[0, place])]) for place in places]
    assert logprob == pytest.approx(expected[-3:], abs=1e-4)


def test_a_text_that_writes_the_first_reserved_token_itself_gets_no_second_one():
    """As a chat template does for models that begin every text with one, such as Llama."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    backend = Tokenizer(models.WordLevel({"<s>": 0, "a": 1, "b": 2}, unk_token="a"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.add_special_tokens(["<s>"])
    backend.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])

    assert locate(backend, "a b", 2, 3) == ([0, 1, 2], [2])
    assert locate(backend, "<s>a b", 5, 6) == ([0, 1, 2], [2])
