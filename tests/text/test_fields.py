"""Predictions as typed fields and as the JSON that is stored."""

from dataclasses import dataclass

from workbench.text import fields
from workbench.text.fields import ClassScores, Field, Prediction, SpanScores, WordTag, WordTags
from workbench.text.spans import Span

TAGS = Prediction(
    (
        WordTags((WordTag(0, 3, "PER", 0.5, (("LOC", 0.25),)), WordTag(4, 7, None, 0.75))),
        SpanScores((Span(0, 3, "PER", score=0.5),)),
    )
)


def test_a_prediction_gives_its_fields_by_type():
    assert TAGS.get(WordTags).words[1].label is None
    assert TAGS.get(ClassScores) is None and TAGS.label is None
    assert TAGS.spans == (Span(0, 3, "PER", score=0.5),)


def test_the_keys_of_the_command_line_are_always_there():
    assert Prediction().to_json() == {
        "label": None,
        "scores": None,
        "tokens": [],
        "spans": [],
        "cut": False,
        "fields": [],
    }


def test_json_and_back_gives_the_same_prediction():
    classes = Prediction((ClassScores(("a", "b"), (0.25, 0.75)),), cut=True)
    no_words = Prediction((WordTags(()), SpanScores(())))

    assert [Prediction.from_json(p.to_json()) for p in (TAGS, classes, no_words)] == [
        TAGS,
        classes,
        no_words,
    ]


def test_predictions_stored_before_fields_were_listed_are_read():
    tags = {"label": None, "scores": None, "tokens": [], "spans": [], "cut": False}
    classes = {**tags, "label": "b", "scores": {"a": 0.25, "b": 0.75}, "cut": True}

    assert Prediction.from_json(tags) == Prediction((WordTags(()), SpanScores(())))
    assert Prediction.from_json(classes).label == "b"
    assert Prediction.from_json(classes).fields == (ClassScores(("a", "b"), (0.25, 0.75)),)


def test_a_new_kind_of_field_is_stored_and_one_of_a_missing_plugin_is_left_out():
    @dataclass(frozen=True)
    class Length(Field, key="length"):
        value: int

        def to_json(self):
            return {"length": self.value}

        @classmethod
        def from_json(cls, raw):
            return cls(raw["length"])

    raw = Prediction((Length(3),)).to_json()

    assert Prediction.from_json(raw).get(Length) == Length(3)
    assert Prediction.from_json({**raw, "fields": ["unheard of"]}) == Prediction()


def test_a_kind_of_a_plugin_is_found_by_its_name_with_what_it_says_of_itself():
    class Ranking(fields.Field):
        title = "a ranking"
        of_document = True

    assert fields.named("Ranking") is Ranking
    assert fields.named("Nothing") is None
    assert [fields.named(name).of_document for name in ("ClassScores", "WordTags")] == [True, False]
