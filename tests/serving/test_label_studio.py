"""Label Studio's requests to a backend, in the form of its connector and its examples."""

import json

import pytest

TEXT = '<Text name="text" value="$text"/>'
TOPICS = (
    f'<View>{TEXT}<Choices name="topic" toName="text" choice="single">'
    '<Choice value="A"/><Choice value="Other"/></Choices></View>'
)
NAMES = (
    f'<View><Labels name="label" toName="text"><Label value="Person" alias="PER"/>'
    f'<Label value="Place"/></Labels>{TEXT}</View>'
)


def ask(client, config, *data):
    tasks = [{"id": number, "data": item} for number, item in enumerate(data)]
    body = {
        "tasks": tasks,
        "model_version": "first",
        "project": "1.1654",
        "label_config": config,
        "params": {"login": None, "password": None, "context": None},
    }
    answer = client.post("/predict", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_classes_are_choices_named_as_in_the_configuration(client):
    answer = ask(client(), TOPICS, {"text": "banana"}, {"text": "bcd"})

    assert answer["model_version"] == "first"
    assert answer["results"] == [
        {
            "result": [
                {
                    "from_name": "topic",
                    "to_name": "text",
                    "type": "choices",
                    "value": {"choices": [name]},
                    "score": score,
                }
            ],
            "score": score,
            "model_version": "first",
        }
        for name, score in (("A", 0.5), ("Other", 1.0))
    ]


def test_spans_are_regions_in_code_points(client):
    (answer,) = ask(client("tag"), NAMES, {"text": "😀 Ada"})["results"]

    assert answer["result"] == [
        {
            "id": "label-1",
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": 2, "end": 5, "text": "Ada", "labels": ["PER"]},
            "score": 0.9,
        }
    ]


def test_several_labels_and_none(client):
    config = TOPICS.replace("Other", "B").replace("single", "multiple")

    some, none = ask(client("multilabel"), config, {"text": "abcde"}, {"text": "aab bb"})["results"]

    assert some["result"][0]["value"] == {"choices": ["B"]}
    assert (none["result"][0]["value"], none["score"]) == ({"choices": ["B"]}, pytest.approx(2 / 3))


def test_numbers_pairs_and_answers(client):
    numbers = f'<View>{TEXT}<Number name="n" toName="text"/></View>'
    pair = TOPICS.replace(TEXT, TEXT + '<Text name="second" value="$other"/>')
    asked = NAMES.replace(TEXT, TEXT + '<Text name="q" value="$question"/>')

    number = ask(client("regress"), numbers, {"text": "abc"})["results"][0]
    both = ask(client("pairs"), pair, {"text": "a", "other": "b"})["results"][0]
    span = ask(client("answer"), asked, {"text": "It is red.", "question": "red?"})["results"][0]

    assert number["result"][0]["value"] == {"number": 3.0}
    assert both["result"][0]["value"] == {"choices": ["A"]}
    assert span["result"][0]["value"] == {"start": 6, "end": 9, "text": "red", "labels": ["PER"]}


def test_a_task_without_the_text_has_no_prediction_and_prevents_no_other(client):
    first, other = ask(client(), TOPICS, {"image": "x.png"}, {"text": "a"})["results"]

    assert first == {"result": [], "score": 0.0, "model_version": "first"}
    assert other["result"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (NAMES, "The labelling configuration has no control for this model."),
        ("<View>", "label_config is not valid XML"),
        ("<!DOCTYPE x><View/>", "label_config: declarations"),
        (None, "label_config is missing."),
        ("<View>\ud800</View>", "label_config: not valid Unicode"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(client, config, message):
    body = json.dumps({"tasks": [{"data": {"text": "a"}}], "label_config": config})

    answer = client().post("/predict", content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422 and answer.json()["error"]["message"].startswith(message)


@pytest.mark.parametrize("text", ["a" * 200_001, "\ud800"])
def test_a_task_that_is_refused_is_named_by_its_place(client, text):
    tasks = [{"data": {}}, {"data": {"text": text}}]
    body = json.dumps({"tasks": tasks, "label_config": TOPICS})

    answer = client().post("/predict", content=body, headers={"Content-Type": "application/json"})

    assert answer.json()["error"]["message"].startswith("tasks.1")


def test_a_project_is_connected(client):
    schema = {"project": "1.1", "schema": TOPICS, "hostname": "", "access_token": ""}

    opened = client()

    assert opened.post("/setup", json=schema).json() == {"model_version": "first"}
    assert opened.get("/health").json()["status"] == "UP"
