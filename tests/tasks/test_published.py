"""Published classifiers and taggers predict as the pipelines of transformers do."""

import json

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models  # noqa: E402
from workbench.base import settings  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import ExportSpec  # noqa: E402
from workbench.inspection.serve import Inspecting  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models.spec import card as card_of  # noqa: E402
from workbench.operations.runs.published import folder as folder_with_view  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Record  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXTS = ("the tram was late", "thank you , driver !", "ada met bob in paris")
PAIR = (TEXTS[0], TEXTS[1])


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """published(kind, labels, family, …) → a model with weights far from 0; each is made once."""
    base, made = tmp_path_factory.mktemp("published"), {}

    def make(kind, labels, family="bert", **config):
        key = json.dumps([kind, labels, family, config])
        if key not in made:
            made[key] = build(base / str(len(made)), kind, labels, family, config)
        return made[key]

    return make


def build(path, kind, labels, family, config):
    tiny_models.make(path, family, layers=1)
    torch.manual_seed(3)
    library = getattr(transformers, f"AutoModelFor{kind}")
    names = dict(enumerate(labels))
    model = library.from_pretrained(path, id2label=names, num_labels=len(names), **config)
    for name, weight in model.named_parameters():
        if name.startswith(("classif", "score")) and weight.ndim == 2:
            torch.nn.init.normal_(weight, std=3.0)
    model.save_pretrained(path)
    return path


def theirs(folder, kind, given, **options):
    """What the pipeline of transformers predicts."""
    return transformers.pipeline(kind, model=str(folder), device="cpu")(given, **options)


def scores(rows):
    return {row["label"]: row["score"] for row in rows}


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2", "bart"])
def test_classes_have_the_probabilities_of_the_pipeline(family, published):
    extra = {"pad_token_id": 0} if family == "gpt2" else {}
    folder = published("SequenceClassification", ["NEGATIVE", "POSITIVE", "MIXED"], family, **extra)

    found = Predictor.load(folder, "cpu").predict_texts(TEXTS)

    assert card_of(folder).task == "classify"
    for ours, expected in zip(
        found, theirs(folder, "text-classification", list(TEXTS), top_k=None), strict=True
    ):
        assert ours.classes.as_dict() == pytest.approx(scores(expected), abs=1e-5)


@pytest.mark.parametrize("family", ["roberta", "bart"])
def test_a_model_of_entailment_predicts_pairs_as_the_pipeline(family, published):
    labels = ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]
    folder = published("SequenceClassification", labels, family)

    (ours,) = Predictor.load(folder, "cpu").predict_texts([PAIR])

    given = {"text": PAIR[0], "text_pair": PAIR[1]}
    expected = scores(theirs(folder, "text-classification", given, top_k=None))
    assert card_of(folder).task == "pairs" and card_of(folder).labels == tuple(labels)
    assert ours.classes.as_dict() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("by_run", [False, True])
def test_a_classifier_that_the_user_chose_for_pairs_predicts_as_the_pipeline(published, by_run):
    folder = published("SequenceClassification", ["same", "other"], "roberta")
    if by_run:
        folder = folder_with_view(folder, "pairs")
    else:  # as earlier versions kept it
        chosen = settings.load()
        chosen.model_tasks = {str(folder): "pairs"}
        chosen.save()

    (ours,) = Predictor.load(folder, "cpu").predict_texts([PAIR])

    given = {"text": PAIR[0], "text_pair": PAIR[1]}
    expected = scores(theirs(folder, "text-classification", given, top_k=None))
    assert ours.classes.as_dict() == pytest.approx(expected, abs=1e-5)


def test_the_head_of_bart_scores_a_batch_as_the_library(published):
    """As bart-large-mnli: texts of several lengths in one batch, with padding."""
    folder = published("SequenceClassification", ["contradiction", "neutral", "entailment"], "bart")
    predictor = Predictor.load(folder, "cpu")
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    pairs = [PAIR, (TEXTS[2], TEXTS[2] + " " + TEXTS[0])]
    documents = [Document("", (("text", a), ("text_b", b))) for a, b in pairs]
    inputs = predictor.prepare(documents).inputs
    batch = stack(inputs, predictor.encoder.input_names, predictor.encoder.preparer.fill)
    given = {name: torch.from_numpy(array) for name, array in batch.items()}

    with torch.no_grad():
        ours, expected = predictor.encoder.logits(given), model(**given).logits

    assert card_of(folder).gives == ("states", "attention", "token_embeddings", "attention_steps")
    assert predictor.task.info.id == "pairs" and not predictor.encoder.label_texts
    torch.testing.assert_close(ours, expected, atol=1e-6, rtol=0)


def test_independent_labels_have_the_sigmoids_of_the_pipeline(published):
    problem = "multi_label_classification"
    folder = published("SequenceClassification", ["toxic", "threat"], problem_type=problem)

    found = Predictor.load(folder, "cpu").predict_texts(TEXTS)

    assert card_of(folder).task == "multilabel"
    for ours, expected in zip(
        found, theirs(folder, "text-classification", list(TEXTS), top_k=None), strict=True
    ):
        (given,) = ours.fields
        assert given.as_dict() == pytest.approx(scores(expected), abs=1e-5)
        assert given.chosen == tuple(k for k, v in given.as_dict().items() if v >= 0.5)


@pytest.mark.parametrize(
    "tags", ["O B-PER I-PER B-LOC I-LOC", "I-LOC B-LOC O I-PER", "O PER LOC MISC"]
)
def test_spans_are_the_groups_of_the_pipeline_by_first_subwords(tags, published):
    """BIO, IOB1 and labels without prefixes, of which adjacent equal ones are one span."""
    folder = published("TokenClassification", tags.split())

    found = Predictor.load(folder, "cpu").predict_texts(TEXTS)

    assert card_of(folder).task == "tag" and card_of(folder).labels[0] in ("PER", "LOC")
    groups = theirs(folder, "token-classification", list(TEXTS), aggregation_strategy="first")
    for ours, expected in zip(found, groups, strict=True):
        wanted = [(item["start"], item["end"], item["entity_group"]) for item in expected]
        assert [(span.start, span.end, span.label) for span in ours.spans] == wanted
        sure = [span.score for span in ours.spans]
        assert sure == pytest.approx([item["score"] for item in expected], abs=1e-5)
    assert sum(len(item.spans) for item in found) > 1


def test_tags_of_words_are_those_of_first_subwords(published):
    folder = published("TokenClassification", ["NOUN", "VERB", "DET", "X"])

    found = Predictor.load(folder, "cpu").predict_texts(TEXTS)

    assert card_of(folder).task == "token"
    for text, ours in zip(TEXTS, found, strict=True):
        subwords = theirs(folder, "token-classification", text, ignore_labels=[])
        expected = [subword for subword in subwords if not subword["word"].startswith("##")]
        assert [word.label for word in ours.words] == [item["entity"] for item in expected]


def test_it_is_inspected_like_a_run(published):
    folder = published("SequenceClassification", ["NEGATIVE", "POSITIVE", "MIXED"])
    subject = Subject(folder, device="cpu")

    found = Inspecting(subject).answer(
        {"inspector": "class_scores", "documents": [{"texts": {"text": TEXTS[0]}}], "options": {}}
    )

    assert subject.is_run and subject.labels == ("NEGATIVE", "POSITIVE", "MIXED")
    assert found is not None


def test_an_export_predicts_the_same_and_keeps_its_own_tags(published, tmp_path):
    folder = published("TokenClassification", "O B-PER I-PER B-LOC I-LOC".split())
    texts = tmp_path / "texts.jsonl"
    dataset.write(texts, (), [Record(Document("", (("text", item),))) for item in TEXTS], ids=True)
    spec = ExportSpec(str(folder), str(texts), str(tmp_path / "out"), ("hf",))

    job = run.export(spec.to_json(), tmp_path)
    while True:
        try:
            next(job)
        except StopIteration as end:
            check = end.value["check"]
            break

    config = json.loads((tmp_path / "out" / "hf" / "config.json").read_text())
    assert check["equal_labels"] == 1.0 and card_of(tmp_path / "out" / "hf").task == "tag"
    assert [*config["id2label"].values()] == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
