"""Trained heads are recognized by config.json or by the weights, with their task and labels."""

import pytest

from tests.models import folders
from workbench.models import spec
from workbench.models.families.transformer.info import trained
from workbench.runtime import tag_decoders

MARKED = {"id2label": {"0": "O", "1": "B-PER", "2": "I-PER"}}
RELATED = {"id2label": {"0": "entailment", "1": "neutral", "2": "contradiction"}}
POOLED = {"classifier.weight": (3, 4), "bert.pooler.dense.weight": (4, 4)}


def named(*labels):
    return {"id2label": {str(number): label for number, label in enumerate(labels)}}


def task(architecture, config, **shapes):
    found = trained.head(architecture, config, {k.replace("__", "."): v for k, v in shapes.items()})
    return found.task if found is not None else ""


# ---------------------------------------------------------------- against the library

FEW = ("bert", "roberta", "distilbert", "electra", "mpnet", "xlm", "deberta-v2", "albert", "gpt2")


@pytest.fixture(scope="module")
def shapes_of():
    """shapes_of(architecture, kind, outputs) → the shapes of such a model of transformers."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def make(architecture, kind, outputs):
        small = {"num_hidden_layers": 1, "n_layers": 1, "vocab_size": 30, "num_labels": outputs}
        config = transformers.AutoConfig.for_model(architecture, **small)
        with torch.device("meta"):
            model = getattr(transformers, f"AutoModelFor{kind}").from_config(config)
        return {name: tuple(value.shape) for name, value in model.state_dict().items()}

    return make


@pytest.mark.parametrize("architecture", FEW)
@pytest.mark.parametrize(
    ("kind", "outputs", "config", "expected"),
    [
        ("SequenceClassification", 3, RELATED, "pairs"),
        ("TokenClassification", 3, MARKED, "tag"),
        ("MultipleChoice", 1, {}, "choice"),
        ("QuestionAnswering", 2, {}, "answer"),
    ],
)
def test_heads_are_found_from_the_weights_alone(
    architecture, kind, outputs, config, expected, shapes_of
):
    if architecture == "gpt2" and expected in ("choice", "answer"):
        pytest.skip("not a head of ours")

    shapes = shapes_of(architecture, kind, outputs)

    found = trained.head(architecture, config, shapes)
    assert found is not None and found.task == expected
    same = trained.head(architecture, {**config, "architectures": [f"XFor{kind}"]}, shapes)
    assert same == found


def test_a_tagger_made_of_xlnet_predicts_as_it_is(shapes_of):
    shapes = shapes_of("xlnet", "TokenClassification", 3)

    for config in (MARKED, {**MARKED, "architectures": ["XLNetForTokenClassification"]}):
        assert trained.head("xlnet", config, shapes).task == "tag"


def test_a_head_that_is_not_used_is_named(tmp_path):
    """The library's classifier made of XLNet reads the last position, which is padding here."""
    name = "XLNetForSequenceClassification"
    card = spec.card(folders.make(tmp_path / "m", model_type="xlnet", architectures=[name]))

    assert not card.task and f"({name})" in card.notes[0]
    assert trained.unread("bert", {"architectures": ["BertForSequenceClassification"]}) == ""
    assert trained.unread("xlnet", {"architectures": ["XLNetLMHeadModel"]}) == ""


# ---------------------------------------------------------------- what decides


def test_a_head_that_config_json_names_is_not_guessed():
    assert task("bert", {"architectures": ["BertForMaskedLM"]}, classifier__weight=(3, 4)) == ""
    assert task("bert", {"architectures": ["BertForSequenceClassification"]}) == ""
    assert trained.head("bert", {"architectures": ["BertModel"]}, POOLED).task == "classify"


def test_weights_that_several_heads_have_are_no_head():
    modern = {"head__dense__weight": (4, 4), "classifier__weight": (3, 4)}

    assert task("modernbert", named("a", "b", "c"), **modern) == ""
    assert task("modernbert", MARKED, **modern) == "tag"
    assert task("llama", named("a", "b", "c"), score__weight=(3, 4)) == ""
    assert task("gpt2", named("a", "b", "c"), score__weight=(3, 4)) == "classify"
    assert task("olmo2", {}, score__weight=(3, 4)) == "classify"


def test_tags_with_a_pooler_of_older_files_are_those_of_words():
    assert trained.head("bert", MARKED, POOLED).task == "tag"


def test_one_output_is_a_number_if_it_has_a_name_else_a_choice():
    shapes = {**POOLED, "classifier.weight": (1, 4)}

    assert trained.head("bert", named("LABEL_0"), shapes).task == "regress"
    assert trained.head("bert", {}, shapes).task == "choice"


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, "classify"),
        ({"problem_type": "single_label_classification"}, "classify"),
        ({"problem_type": "multi_label_classification"}, "multilabel"),
        ({"problem_type": "regression"}, ""),
        ({"finetuning_task": "mrpc"}, "pairs"),
        ({"finetuning_task": "glue/MNLI"}, "pairs"),
        ({"finetuning_task": "sst-2"}, "classify"),
        ({"sentence_transformers": {"version": "5"}}, "pairs"),
        (RELATED, "pairs"),
        (named("a", "a", "b"), ""),
        (named("a", "b"), ""),
    ],
)
def test_problem_type_and_labels_decide_what_a_classifier_is(config, expected):
    found = trained.head("bert", config, POOLED)

    assert (found.task if found else "") == expected
    assert found is None or len(found.labels) == 3


def test_outputs_without_names_have_those_of_transformers():
    assert trained.head("bert", {}, POOLED).labels == ("LABEL_0", "LABEL_1", "LABEL_2")


def test_labels_are_in_the_order_of_their_numbers_not_of_the_file():
    table = {str(number): f"L{number}" for number in sorted(range(12), key=str)}
    shapes = {**POOLED, "classifier.weight": (12, 4)}

    found = trained.head("bert", {"id2label": table}, shapes)

    assert found.labels == tuple(f"L{number}" for number in range(12))


@pytest.mark.parametrize(
    ("tags", "row", "spans"),
    [
        ("O B-A I-A", "B-A I-A B-A O I-A", [(0, 2), (2, 3), (4, 5)]),
        ("I-A O B-A", "I-A B-A I-A O O", [(0, 1), (1, 3)]),
        ("O B-A I-A E-A S-A", "S-A B-A I-A E-A S-A", [(0, 1), (1, 4), (4, 5)]),
        ("O B-A I-A L-A U-A", "U-A U-A B-A L-A O", [(0, 1), (1, 2), (2, 4)]),
        ("O A", "A A O A O", [(0, 2), (3, 4)]),
    ],
)
def test_tags_of_every_scheme_become_spans(tags, row, spans):
    """BIO, IOB1, IOBES, BILOU and labels without prefixes."""
    import numpy as np

    tags, row = tags.split(), row.split()
    found = trained.head("bert", named(*tags), {"classifier.weight": (len(tags), 4)})
    logits = np.array([[5.0 * (tag == item) for tag in tags] for item in row])

    decide = tag_decoders.decoder(found.decoder, tags, found.labels)
    chosen, _scores = decide(logits, np.ones(len(row), bool))

    starts = [start for start, _end in spans]
    inside = {at for start, end in spans for at in range(start + 1, end)}
    wanted = [1 if at in starts else 2 if at in inside else 0 for at in range(len(row))]
    assert (found.task, found.labels) == ("tag", ("A",))
    assert chosen.tolist() == wanted


def test_tags_without_one_for_none_are_tags_of_words():
    found = trained.head("bert", named("NOUN", "VERB", "X"), {"classifier.weight": (3, 4)})

    assert (found.task, found.labels, found.decoder) == ("token", ("NOUN", "VERB", "X"), {})


def test_a_model_of_ours_has_the_task_of_its_description(tmp_path):
    folder = folders.make(tmp_path / "run", architectures=["BertForSequenceClassification"])
    (folder / spec.DESCRIPTION).write_text('{"task": "pairs"}')
    assert spec.card(folder).task == "pairs"

    (folder / spec.DESCRIPTION).write_text('{"task": "no such task"}')
    assert spec.card(folder).task == ""
