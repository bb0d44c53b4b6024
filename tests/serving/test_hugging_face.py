"""The request form of the inference API, by its documentation and with its client."""

import httpx
import pytest
from huggingface_hub import InferenceClient


def ask(client, inputs, **parameters):
    answer = client.post("/predict", json={"inputs": inputs, "parameters": parameters})
    return answer.json() if answer.status_code == 200 else answer.json()["error"]["message"]


def test_classes_are_sorted_by_score_and_wrapped_also_for_one_text(client):
    expected = [{"label": "other", "score": 0.75}, {"label": "A", "score": 0.25}]

    assert ask(client(), "abcd") == [expected]
    assert ask(client(), ["abcd", "abcd"], top_k=1) == [expected[:1], expected[:1]]


def test_entities_have_offsets_in_code_points(client):
    text = "😀 Ada met Bob"
    row = {"score": 0.9, "word": "Ada", "start": 2, "end": 5}

    groups = ask(client("tag"), text)
    words = ask(client("tag"), text, aggregation_strategy="none")

    assert groups[0] == {"entity_group": "PER", **row} and len(groups) == 2
    assert words[0] == {"entity": "PER", "index": 2, **row}
    assert ask(client("tag"), [text], ignore_labels=["PER"]) == [[]]


def test_an_answer_is_an_object_and_the_best_ones_are_a_list(client):
    inputs = {"question": "What is red?", "context": "It is red."}
    best = {"score": 0.75, "start": 6, "end": 9, "answer": "red"}

    assert ask(client("answer"), inputs) == best
    assert ask(client("answer"), inputs, top_k=2) == [best]
    unanswered = ask(client("answer"), {"question": "Blue?", "context": "It is red."})
    assert unanswered == {"score": 0.25, "start": 0, "end": 0, "answer": ""}


def test_numbers_of_pairs_and_of_texts(client):
    sentences = {"source_sentence": "ab", "sentences": ["c", "def"]}

    assert ask(client("similarity"), sentences) == [3.0, 5.0]
    assert ask(client("regress"), "abc") == [[{"label": "LABEL_0", "score": 3.0}]]
    assert ask(client("pairs"), {"text": "a", "text_pair": "b"})[0][0]["score"] == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"stride": 3}, "The parameter 'stride' has no effect on this model."),
        ({"function_to_apply": "none"}, "parameters.function_to_apply: expected softmax."),
        ({"top_k": 0}, "parameters.top_k: expected a positive integer."),
    ],
)
def test_a_parameter_without_effect_is_refused(client, parameters, message):
    assert ask(client(), "a", **parameters) == message


@pytest.mark.parametrize(
    ("task", "inputs", "message"),
    [
        (
            "pairs",
            {"source_sentence": "a", "sentences": ["b"]},
            "This model predicts no similarity: inputs is not read.",
        ),
        ("relations", {"text": "a"}, "The inference API of Hugging Face has no relations."),
    ],
)
def test_inputs_that_the_model_has_no_answer_for_are_refused(client, task, inputs, message):
    assert ask(client(task), inputs) == message


@pytest.fixture
def inference(client, monkeypatch):
    """inference(task) → the client of huggingface_hub, whose requests end in this process."""
    from huggingface_hub.utils import _http

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)

    def make(task):
        opened = client(task)

        def answered(request):
            body, kind = request.content, request.headers["content-type"]
            reply = opened.post(request.url.path, content=body, headers={"content-type": kind})
            return httpx.Response(reply.status_code, content=reply.content)

        transport = httpx.MockTransport(answered)
        monkeypatch.setattr(_http, "_GLOBAL_CLIENT", httpx.Client(transport=transport))
        return InferenceClient(model="http://127.0.0.1:8765", token="none")

    return make


def test_the_client_of_hugging_face_reads_the_answers(inference):
    best, *_others = inference("classify").text_classification("abcd", top_k=1)
    entity, *_others = inference("tag").token_classification("Ada met Bob")
    answer = inference("answer").question_answering(question="red?", context="It is red.")

    assert (best.label, best.score) == ("other", 0.75)
    assert (entity.entity_group, entity.word, entity.start) == ("PER", "Ada", 0)
    assert (answer.answer, answer.start) == ("red", 6)
    assert inference("similarity").sentence_similarity("ab", ["c"]) == [3.0]
