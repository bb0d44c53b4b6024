"""Published classifiers with one output: recognized, and read as sentence-transformers does."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.inspection.attributions.inspector import AttributionsInspector  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models.spec import card as card_of  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.document import Document  # noqa: E402

PAIR = Document("", (("text", "the tram was late"), ("text_b", "the driver was kind")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT with one output, with weights far from 0."""
    path = tiny_models.make(tmp_path_factory.mktemp("published") / "bert", "bert", layers=1)
    torch.manual_seed(1)
    model = transformers.BertForSequenceClassification.from_pretrained(path, num_labels=1)
    torch.nn.init.normal_(model.classifier.weight, std=1.0)
    model.save_pretrained(path)
    return path


@pytest.fixture
def published(folder):
    """published(key=value, …) → the folder with these settings."""
    config = json.loads((folder / "config.json").read_text())

    def make(**values):
        (folder / "config.json").write_text(json.dumps({**config, **values}))
        return folder

    yield make
    (folder / "config.json").write_text(json.dumps(config))


def logit(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    texts = (text for _name, text in PAIR.texts)
    inputs = tokenizer(*texts, return_token_type_ids=True, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs).logits.squeeze()


def number(folder):
    (found,) = Predictor.load(folder, "cpu").predict([PAIR])
    return found.number


def test_a_cross_encoder_predicts_the_similarity_of_pairs_by_its_activation(published):
    """As `CrossEncoder.predict` of sentence-transformers: the function of its config."""
    name = "torch.nn.modules.activation.Sigmoid"
    path = published(sentence_transformers={"activation_fn": name, "version": "5.0.0"})
    assert card_of(path).task == "similarity"
    assert number(path) == pytest.approx(float(logit(path).sigmoid()), abs=1e-5)

    name = "torch.nn.modules.linear.Identity"
    path = published(sbert_ce_default_activation_function=name)
    assert card_of(path).task == "similarity"
    assert number(path) == pytest.approx(float(logit(path)), abs=1e-5)


def test_one_output_without_a_word_on_pairs_is_a_number_of_a_text(published):
    path = published(problem_type="regression")

    assert card_of(path).task == "regress"
    assert Predictor.load(path, "cpu").decoder.get("sigmoid") is None


def test_two_outputs_are_classes_and_no_number(tmp_path):
    path = tiny_models.make(tmp_path / "bert", "bert", layers=1)
    model = transformers.BertForSequenceClassification.from_pretrained(path, num_labels=2)
    model.save_pretrained(path)

    assert card_of(path).task == "classify"
    assert card_of(path).labels == ("LABEL_0", "LABEL_1")


def test_its_number_is_explained(published):
    path = published(sbert_ce_default_activation_function="torch.nn.Sigmoid")
    info = AttributionsInspector.info
    options = {option.name: option.default for option in info.options} | {"steps": 300}

    found = AttributionsInspector().run(Subject(path, device="cpu"), [PAIR], options)
    assert found.targets[0].value == pytest.approx(found.score, abs=1e-5)
    assert found.total == pytest.approx(found.score - found.baseline, abs=0.02)
