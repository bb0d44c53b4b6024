"""Requests in our own form: the objects of `glossbench predict --json`, and what is refused."""

import json

import pytest

from workbench.serving.forms import json_bytes


def ask(client, body):
    answer = client.post("/predict", json=body)
    return answer.status_code, answer.json()


def test_one_text_is_answered_with_the_object_of_the_command_line(client):
    status, answer = ask(client(), {"text": "banana"})

    assert status == 200
    assert answer == {
        "text": "banana",
        "label": "A",
        "scores": {"A": 0.5, "other": 0.5},
        "tokens": [],
        "spans": [],
        "cut": False,
        "fields": ["classes"],
    }


@pytest.mark.parametrize("body", [["a", {"text": "b"}], {"texts": ["a", {"text": "b"}]}])
def test_several_texts_are_answered_with_a_list_in_order(client, body):
    status, answer = ask(client(), body)

    assert status == 200
    assert [(row["text"], row["label"]) for row in answer] == [("a", "A"), ("b", "other")]


def test_no_text_is_answered_with_an_empty_list(client):
    assert ask(client(), []) == (200, [])


def test_keys_come_back(client):
    assert ask(client(), [{"key": "k7", "text": "a"}])[1][0]["key"] == "k7"


def test_pairs_choices_and_questions_have_fields_of_their_own(client):
    pair = {"text": "ab", "text_b": "c"}
    assert ask(client("similarity"), pair)[1]["number"] == 3.0
    chosen = ask(client("choice"), {"text": "a", "question": "Why?", "choices": ["x", "y"]})[1]
    assert (chosen["question"], chosen["choice_2"]) == ("Why?", "y")
    answered = ask(client("answer"), {"text": "It was red.", "questions": ["Was it red?"]})[1]
    assert (answered["answers"][0]["answer"], answered["answers"][0]["start"]) == ("red", 7)


def test_spans_of_a_text_are_connected(client):
    spans = [{"start": 0, "end": 3, "label": "PER"}, {"start": 8, "end": 11, "label": "PER"}]

    status, answer = ask(client("relations"), {"text": "Ada met Bob.", "spans": spans})

    assert status == 200
    (relation,) = answer["relations"]
    assert (relation["from"], relation["to"], relation["label"]) == (*spans, "next")


def test_spans_beyond_the_limit_are_refused(client):
    spans = [{"start": 0, "end": 1, "label": "x"}] * 3

    status, answer = ask(client("relations", spans=2), {"text": "a", "spans": spans})

    assert (status, answer["error"]["code"]) == (413, "too_many_spans")


@pytest.mark.parametrize(
    ("task", "body", "message"),
    [
        ("relations", "a", "request: expected an object with text, spans."),
        ("relations", {"text": "a"}, "request: spans is missing."),
        (
            "roles",
            {"text": "a", "spans": [{"start": 0, "end": 2, "label": "x"}]},
            "request.spans.0: expected an object with start, end and label, a range of the text "
            "(0 to 1)",
        ),
        (
            "relations",
            {"text": "a", "spans": [{"start": 0, "end": 1, "label": "\ud800"}]},
            "request.spans.0.label: not valid Unicode (a lone surrogate).",
        ),
        ("classify", {"txt": "a"}, "request: text is missing."),
        ("classify", {"text": 7}, "request.text: expected a text."),
        ("classify", ["a", None], "texts.1: expected a text."),
        ("classify", {"text": "a", "text_b": "b"}, "request: 'text_b' is not a field of a text."),
        ("classify", {"texts": "a"}, "texts: expected a list."),
        ("classify", {"texts": [], "more": 1}, "'more' is not a field of the request."),
        ("classify", {"text": "\ud800"}, "request.text: not valid Unicode (a lone surrogate)."),
        ("pairs", ["a"], "texts.0: expected an object with text, text_b."),
        ("pairs", {"text": "a"}, "request: text_b is missing."),
        ("answer", {"text": "a", "questions": []}, "request.questions: expected a list of texts."),
        ("choice", {"text": "a", "choices": ["x", 1]}, "request.choices.1: expected a text."),
    ],
)
def test_what_the_model_does_not_read_is_refused_with_its_place(client, task, body, message):
    headers = {"Content-Type": "application/json"}

    answer = client(task).post("/predict", content=json.dumps(body), headers=headers)

    assert answer.status_code == 422
    assert answer.json()["error"]["message"] == message


def test_infinity_and_lone_surrogates_are_valid_json():
    assert json_bytes([float("inf"), 0.5]) == b"[null, 0.5]"
    assert json_bytes(["\ud800"]) == b'["\\ud800"]'
