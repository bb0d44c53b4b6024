"""Replies of local models: equal to those of transformers, restricted, stopped and streamed."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from jsonschema import validate  # noqa: E402

from tests import tiny_models  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.prompting.backends.local.backend import LocalBackend  # noqa: E402
from workbench.prompting.generation import (  # noqa: E402
    CANCELLED,
    FAILED,
    LENGTH,
    STOP,
    GenerationRequest,
    Message,
)
from workbench.prompting.spec import Decoding  # noqa: E402

TEXTS = (
    "The tram was late again, and the bus was full.",
    "Paris",
    "The tram was late again, and the driver said that",
    "The tram was late again, and the driver",
)


def load(folder):
    return LocalBackend(str(folder), {"device": "cpu", "allow_pickle": False})


@pytest.fixture(scope="module")
def gpt():
    return load(resource("models") / "starter-gpt")


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """A model of bytes that knows nothing, with room for 512 of them."""
    folder = tiny_models.make(tmp_path_factory.mktemp("models") / "llama", "llama")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 512}))
    return load(folder)


def requests(texts=TEXTS, **settings):
    return [GenerationRequest(text, decoding=Decoding(**settings)) for text in texts]


def by_transformers(folder, text, count, auto="AutoModelForCausalLM"):
    """The greedy continuation, and the log-probabilities (S, V) of its tokens."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, auto).from_pretrained(folder, dtype=torch.float32).eval()
    ids = tokenizer(text, return_tensors="pt").input_ids
    settings = {"max_new_tokens": count, "do_sample": False, "num_beams": 1}
    output = model.generate(ids, **settings, return_dict_in_generate=True, output_logits=True)
    logs = torch.cat(output.logits).log_softmax(-1)
    return tokenizer.decode(output.sequences[0, -len(logs) :], skip_special_tokens=True), logs


def test_greedy_replies_and_their_probabilities_equal_those_of_transformers(gpt):
    replies = gpt.generate(requests(max_tokens=24))

    for text, reply in zip(TEXTS, replies, strict=True):
        expected, logs = by_transformers(resource("models") / "starter-gpt", text, 24)
        best = logs.topk(5).values
        assert (reply.text, reply.finish, reply.reply_tokens) == (expected, LENGTH, 24)
        assert "".join(token.text for token in reply.tokens) == reply.text
        for token, values in zip(reply.tokens, best, strict=True):
            assert token.logprob == pytest.approx(float(values[0]), abs=1e-4)
            assert [log for _text, log in token.others] == pytest.approx(values.tolist(), abs=1e-4)


@pytest.mark.parametrize("family", ["gpt2", "llama", "openai-gpt", "t5"])
def test_replies_of_every_architecture_equal_those_of_transformers(family, tmp_path):
    folder = tiny_models.make(tmp_path / "model", family)
    auto = "AutoModelForSeq2SeqLM" if family == "t5" else "AutoModelForCausalLM"
    short = ["tram bad bus so good. the tram is", "tram bad bus so good. ada", "so"]

    replies = load(folder).generate(requests(short, max_tokens=12))

    for text, reply in zip(short, replies, strict=True):
        assert reply.text == by_transformers(folder, text, 12, auto)[0]


def test_a_sampled_reply_depends_on_its_seed_not_on_its_batch(gpt):
    sampled = {"temperature": 1.0, "top_k": 40, "top_p": 0.9, "max_tokens": 12}

    together = gpt.generate([*requests(**sampled, seed=1), *requests(**sampled, seed=2)])

    alone = [gpt.generate([request])[0].text for request in requests(**sampled, seed=1)]
    assert [reply.text for reply in together[:4]] == alone
    assert [reply.text for reply in together[4:]] != alone


def test_a_stop_word_ends_a_reply_and_is_not_part_of_it(gpt):
    (whole,) = gpt.generate(requests(TEXTS[:1], max_tokens=24))
    word = whole.text[20:26]

    (reply,) = gpt.generate(requests(TEXTS[:1], max_tokens=24, stop=("none", word)))

    assert (reply.text, reply.finish) == (whole.text.split(word)[0], STOP)
    assert "".join(token.text for token in reply.tokens) == reply.text


def test_a_stream_sends_nothing_that_a_stop_word_may_still_cut_off(gpt):
    (whole,) = gpt.generate(requests(TEXTS[:1], max_tokens=24))
    word = whole.text[20:40]
    (request,) = requests(TEXTS[:1], max_tokens=24, stop=(word,))
    stream, tokens = gpt.stream(request), []

    with pytest.raises(StopIteration) as end:
        while True:
            tokens.append(next(stream).text)

    assert "".join(tokens) == end.value.value.text == whole.text.split(word)[0]


def test_streams_of_several_requests_arrive_together(gpt):
    streams, numbers = gpt.streams(requests(TEXTS[:2], max_tokens=4)), []

    with pytest.raises(StopIteration) as end:
        while True:
            numbers.append(next(streams)[0])

    assert sorted(numbers[:2]) == [0, 1] and len(numbers) == 8
    assert end.value.value[1].text == gpt.generate(requests(TEXTS[1:2], max_tokens=4))[0].text


def test_a_reply_goes_on_behind_its_beginning(gpt):
    (whole,) = gpt.generate(requests(TEXTS[:1], max_tokens=8))
    begin = "".join(token.text for token in whole.tokens[:5])

    (rest,) = gpt.generate(
        [GenerationRequest(TEXTS[0], begin=begin, decoding=Decoding(max_tokens=3))]
    )

    assert begin + rest.text == whole.text


def test_requests_that_cannot_be_answered_fail_alone(gpt):
    long, good = GenerationRequest("word " * 600), requests(TEXTS[:1], max_tokens=2)[0]
    chat = GenerationRequest(messages=(Message("user", "Hello"),))

    replies = gpt.generate([long, good, chat])

    assert [reply.finish for reply in replies] == [FAILED, LENGTH, FAILED]
    assert "of at most 512" in replies[0].error and "no chat template" in replies[2].error


def test_what_is_not_answered_when_the_caller_stops_is_cancelled(gpt):
    many = [request for n in (1, 9) for request in requests(TEXTS[:1], max_tokens=n)]

    replies = gpt.generate(many, lambda number, reply: False)

    assert [reply.finish for reply in replies] == [LENGTH, CANCELLED]


# ------------------------------------------------------------ restricted replies


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_reply_is_one_of_the_choices(gpt, untrained, temperature):
    choices = ("good", "good enough", "bad", "schlecht — ärgerlich")
    for backend in (gpt, untrained):
        replies = backend.generate(
            [
                GenerationRequest(
                    "It was", choices=choices, decoding=Decoding(temperature=temperature, seed=seed)
                )
                for seed in range(20)
            ]
        )

        assert {reply.text for reply in replies} <= set(choices)
        assert {reply.finish for reply in replies} == {STOP}


def test_choices_may_be_spelled_by_any_pieces(untrained):
    seen = {
        untrained.generate(
            [GenerationRequest("It", choices=("a", "b"), decoding=Decoding(temperature=1, seed=n))]
        )[0].text
        for n in range(20)
    }

    assert seen == {"a", "b"}


SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "label": {"enum": ["positive", "negative"]},
        "score": {"type": "number"},
        "spans": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "label": {"enum": ["PER", "LOC"]}},
                "required": ["text", "label"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["reason", "label", "score", "spans"],
    "additionalProperties": False,
}


def test_json_of_an_untrained_model_always_fits_its_schema(untrained):
    replies = untrained.generate(
        [
            GenerationRequest(
                "It", schema=SCHEMA, decoding=Decoding(max_tokens=90, temperature=1, seed=seed)
            )
            for seed in range(30)
        ]
    )

    assert {reply.finish for reply in replies} == {STOP}
    assert max(reply.reply_tokens for reply in replies) == 90
    for reply in replies:
        validate(json.loads(reply.text), SCHEMA)


def test_a_schema_that_cannot_be_used_fails_with_its_reason(untrained):
    (reply,) = untrained.generate([GenerationRequest("It", schema={"type": "objekt"})])

    assert reply.finish == FAILED and "cannot be restricted" in reply.error


# ------------------------------------------------------------ conversations

TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] | trim }}"
    "{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


@pytest.fixture
def chatting(tmp_path):
    folder = tiny_models.make(tmp_path / "model", "llama")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def test_a_conversation_is_read_as_by_transformers(chatting):
    tokenizer = transformers.AutoTokenizer.from_pretrained(chatting)
    turns = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": " Hi! "}]
    backend = load(chatting)

    (reply,) = backend.chat([GenerationRequest(messages=tuple(Message(**turn) for turn in turns))])

    ids = tokenizer.apply_chat_template(turns, add_generation_prompt=True)["input_ids"]
    assert "chat" in backend.can and reply.prompt_tokens == len(ids) and not reply.error


def test_special_tokens_in_a_message_are_ordinary_text(chatting):
    backend = load(chatting)

    replies = backend.chat(
        [GenerationRequest(messages=(Message("user", text),)) for text in ("a<|end|>b", "aab")]
    )

    assert replies[0].prompt_tokens - replies[1].prompt_tokens == len("<|end|>") - 1


def test_a_template_that_refuses_a_conversation_says_why(chatting):
    (chatting / "chat_template.jinja").write_text("{{ raise_exception('No system role') }}")

    (reply,) = load(chatting).chat([GenerationRequest(messages=(Message("user", "a"),))])

    assert reply.finish == FAILED and "No system role" in reply.error
