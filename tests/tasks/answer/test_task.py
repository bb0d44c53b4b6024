"""Answers to questions: scores as in transformers, windows, learning, published heads."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests import tiny_models, vector_files  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.base.registry import registry  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.spec import ExportSpec, loading_code  # noqa: E402
from workbench.inspection import spec as inspectors  # noqa: E402
from workbench.inspection.serve import Inspecting  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models.base import LoadOptions  # noqa: E402
from workbench.models.spec import card as card_of  # noqa: E402
from workbench.models.spec import read_folder  # noqa: E402
from workbench.tasks import model as networks  # noqa: E402
from workbench.tasks.answer.info import INFO, AnswerGold, GoldAnswer  # noqa: E402
from workbench.tasks.answer.task import ExtractAnswers  # noqa: E402
from workbench.tasks.base import Batch, Features, collate  # noqa: E402
from workbench.tasks.predictor import Predictor, infer  # noqa: E402
from workbench.text import dataset  # noqa: E402
from workbench.text.dataset import Dataset, Record  # noqa: E402
from workbench.text.document import with_questions  # noqa: E402
from workbench.text.fields import Answers  # noqa: E402
from workbench.text.labels import Layer  # noqa: E402
from workbench.text.questions import Question  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec  # noqa: E402

CPU = torch.device("cpu")
ABOUT_ANSWERS = {
    "attributions",
    "smallest_change",
    "words_left_out",
}  # there is none without a question
TEXT = "ada met bob in paris"
DOCUMENT = with_questions("a", TEXT, ["the driver ?", "from the gate ?"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("answer") / "bert", "bert", layers=1)


def built(folder, **options):
    setting = networks.Setting(ExtractAnswers(), (), options, seed=1)
    return networks.build(read_folder(folder), setting, LoadOptions(seed=1)).eval()


def gold(text, *answers):
    found = []
    for question, answer in answers:
        at = text.find(answer) if answer else 0
        ranges = ((at, at + len(answer)),) if answer else ()
        found.append(GoldAnswer(question, ranges, (answer,) if answer else ()))
    return AnswerGold(tuple(found))


def features(model, documents, golds=(), length=32):
    prepared = INFO.prepare(model.encoder.preparer, documents, length)
    targets = ExtractAnswers().targets(prepared, golds, (), {}) if golds else {}
    return Features(prepared, targets)


def predicted(model, documents, decoder=None, length=32):
    found = features(model, documents, length=length)
    work = infer(ExtractAnswers(), model, found)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return INFO.decode(end.value, found.prepared, (), decoder or {})


def test_scores_and_loss_are_those_of_transformers(folder, tmp_path):
    model = built(folder)
    torch.nn.init.normal_(model.encoder.model.qa_outputs.weight, std=0.5)
    networks.save(model, tmp_path)
    theirs = transformers.BertForQuestionAnswering.from_pretrained(tmp_path).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(
        list(DOCUMENT.questions), [TEXT, TEXT], padding=True, return_token_type_ids=True,
        return_tensors="pt",
    )  # fmt: skip
    right = gold(TEXT, (DOCUMENT.questions[0], "met bob"), (DOCUMENT.questions[1], ""))

    batch = collate(features(model, [DOCUMENT], [right]), range(2), encoder=model.encoder,
                    device=CPU)  # fmt: skip
    ours = ExtractAnswers().forward(model, batch)
    places = batch.targets["positions"]
    with torch.no_grad():
        wanted = theirs(**inputs, start_positions=places[:, 0], end_positions=places[:, 1])

    assert places.tolist() == [[6, 7], [0, 0]]
    assert torch.allclose(ours.logits["logits"][..., 0], wanted.start_logits, atol=1e-6)
    assert torch.allclose(ours.logits["logits"][..., 1], wanted.end_logits, atol=1e-6)
    loss = ours.losses["task"]
    assert float((loss.total / loss.count).detach()) == pytest.approx(float(wanted.loss), abs=1e-6)


def test_a_long_text_is_read_in_windows_that_share_units(folder):
    model = built(folder)
    text = "the tram from the north " * 6 + "met bob " + "late bus " * 10
    document = with_questions("a", text, ["ada ?"])
    prepared = features(model, [document], length=24).prepared

    starts = [int(item.offsets[item.text == 1][0, 0]) for item in prepared.inputs]
    ends = [int(item.offsets[item.text == 1][-1, 1]) for item in prepared.inputs]
    assert len(prepared.inputs) > 3 and starts == sorted(starts) and ends[-1] == len(text.strip())
    assert all(after < before for after, before in zip(starts[1:], ends, strict=False))
    assert all(len(item) <= 24 for item in prepared.inputs)
    for item in prepared.inputs:
        assert item.text.tolist()[:4] == [-1, 0, 0, -1]
    targets = features(model, [document], [gold(text, ("ada ?", "met bob"))], length=24).targets
    answered = [tuple(row) for row in targets["positions"] if row[0]]
    rows = zip(prepared.inputs, targets["positions"], strict=True)
    windows = [item for item, row in rows if row[0]]
    assert answered and {
        text[item.offsets[first, 0] : item.offsets[last, 1]]
        for item, (first, last) in zip(windows, answered, strict=True)
    } == {"met bob"}


@pytest.mark.parametrize("family", ["gpt2", "t5", "roberta"])
def test_other_models_answer_with_their_own_head_or_ours(family, tmp_path):
    model = built(tiny_models.make(tmp_path / family, family))
    right = gold(TEXT, (DOCUMENT.questions[0], "met bob"), (DOCUMENT.questions[1], ""))

    batch = collate(
        features(model, [DOCUMENT], [right], 60), range(2), encoder=model.encoder, device=CPU
    )
    outputs = ExtractAnswers().forward(model, batch)
    outputs.losses["task"].total.backward()

    assert outputs.logits["logits"].shape[::2] == (2, 2)
    assert all(p.grad is not None for p in model.head_parameters())
    (found,) = predicted(model.eval(), [DOCUMENT], {"null_threshold": None}, 60)
    assert all(item.answer in TEXT and item.answer for item in found.required(Answers).answers)


def test_it_learns_eight_documents(folder):
    model = built(folder).train()
    words = "tram bus late full ticket lift harbour gate".split()
    documents = [
        with_questions(w, f"ada met the {w} in paris", ["the driver ?", "thank you"]) for w in words
    ]
    golds = [gold(item.text, ("the driver ?", item.key), ("thank you", "")) for item in documents]
    batch = collate(features(model, documents, golds), range(16), encoder=model.encoder, device=CPU)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    for _step in range(60):
        optimizer.zero_grad()
        ExtractAnswers().forward(model, Batch(*batch)).losses["task"].total.backward()
        optimizer.step()

    found = predicted(model.eval(), documents)
    assert INFO.score(golds, found) == {"answer_exact_match": 1.0, "answer_f1": 1.0}


def test_a_published_head_answers_as_it_is(folder, tmp_path):
    networks.save(built(folder), tmp_path)
    card = card_of(tmp_path)

    published = Predictor.load(tmp_path, "cpu").predict([DOCUMENT])
    typed = Predictor.load(tmp_path, "cpu").predict_texts([(TEXT, *DOCUMENT.questions)])

    assert card.task == "answer" and card.usable
    ours = predicted(built(folder), [DOCUMENT])[0].required(Answers)
    for found in (published[0], typed[0]):
        for mine, theirs in zip(ours.answers, found.required(Answers).answers, strict=True):
            assert (mine.text, mine.question) == (theirs.text, theirs.question)
            assert mine.score == pytest.approx(theirs.score, abs=1e-6)
    assert card_of(folder).task == ""


def test_an_export_is_verified_question_by_question(folder, tmp_path):
    (tmp_path / "run").mkdir()
    networks.save(built(folder), tmp_path / "run")
    texts = tmp_path / "texts.jsonl"
    dataset.write(texts, (), [Record(DOCUMENT)], ids=True)
    spec = ExportSpec(str(tmp_path / "run"), str(texts), str(tmp_path / "out"), ("hf",))

    job = run.export(spec.to_json(), tmp_path)
    while True:
        try:
            next(job)
        except StopIteration as end:
            check = end.value["check"]
            break

    assert (check["texts"], check["extremes"], check["equal_labels"]) == (8, 7, 1.0)
    card = (tmp_path / "out" / "hf" / "README.md").read_text(encoding="utf-8")
    assert "pipeline_tag: question-answering" in card and "Labels:" not in card
    assert "question 2" in loading_code("hf", tmp_path / "out" / "hf", "answer")


@pytest.mark.parametrize("family", ["bert", "vectors"])
def test_a_run_is_trained_scored_and_loaded_again(family, folder, tmp_path):
    """Word vectors have no special units: a question and its text are read as words."""
    model = folder if family == "bert" else vector_files.make(tmp_path / "vectors")
    questions = (Question("the driver ?", ((4, 11),)), Question("thank you", (), True))
    records = [
        Record(
            replace(
                with_questions(f"k{n}", TEXT, [question.text for question in questions]),
                split=split,
            ),
            {"q": "submitted"},
            questions={"q": questions},
        )
        for n, split in enumerate(("train", "train", "dev"))
    ]
    data = Dataset((Layer("q", "answer"),), tuple(records))
    options = {"epochs": 1, "batch_size": 4, "device": "cpu"}
    spec = TrainSpec("answer", "q", str(model), options=options, allow_pickle=True)

    work = loop.train(spec, data, tmp_path / "run")
    while True:
        try:
            next(work)
        except StopIteration as end:
            result = end.value
            break

    assert set(result.evaluations["dev"].scores) == {"answer_exact_match", "answer_f1"}
    loaded = Predictor.load(tmp_path / "run" / "model", "cpu")
    (found,) = loaded.predict([records[0].document])
    assert [item.question for item in found.required(Answers).answers] == [
        q.text for q in questions
    ]
    assert loaded.decoder["max_answer_length"] == 30 and "null_threshold" in loaded.decoder


def test_every_inspector_that_is_offered_works_with_and_without_questions(folder, tmp_path):
    networks.save(built(folder), tmp_path)
    subject = Subject(tmp_path, device="cpu")
    offered = [
        entry.id
        for entry in registry().all("inspector")
        if not inspectors.missing(entry, subject.gives)
        and not inspectors.light(entry.id).examines  # the documents of a project
    ]
    texts = {"texts": {"text": TEXT}}

    for document in ({**texts, "questions": list(DOCUMENT.questions)}, texts):
        found = {
            id: Inspecting(subject).answer({"inspector": id, "documents": [document]}).result
            for id in offered
            if id not in ABOUT_ANSWERS or "questions" in document
        }
        assert {"subwords", "attention", "answer_scores"} <= found.keys()
        asked = [item.question for item in found["answer_scores"].answers]
        assert list(dict.fromkeys(asked)) == document.get("questions", [])


def test_an_answer_is_explained_and_a_text_without_questions_has_none(folder, tmp_path):
    networks.save(built(folder), tmp_path)
    inspecting = Inspecting(Subject(tmp_path, device="cpu"))

    def explain(document, **options):
        asked = {"inspector": "attributions", "documents": [document], "options": options}
        return inspecting.answer(asked).result

    document = {"texts": {"text": TEXT}, "questions": list(DOCUMENT.questions)}
    first = explain(document)
    second = explain(document, target="end:1")
    assert [target.id for target in first.targets] == ["start:0", "end:0", "start:1", "end:1"]
    assert [target.question for target in first.targets[::2]] == list(DOCUMENT.questions)
    assert [word.text for word in second.words][:4] == ["from", "the", "gate", "?"]
    assert second.score == pytest.approx(second.targets[3].share, abs=1e-5)
    with pytest.raises(WorkbenchError, match="no question"):
        explain({"texts": {"text": TEXT}})


@pytest.mark.parametrize("score", ["probability", "logit"])
def test_integrated_gradients_of_starts_and_ends_are_complete(folder, tmp_path, score):
    """Sundararajan et al. 2017, proposition 1: they add up to F(x) - F(baseline)."""
    networks.save(built(folder), tmp_path)
    document = {"texts": {"text": TEXT}, "questions": list(DOCUMENT.questions)}
    options = {"target": "end:0", "score": score, "steps": 300}

    asked = {"inspector": "attributions", "documents": [document], "options": options}
    result = Inspecting(Subject(tmp_path, device="cpu")).answer(asked).result
    assert result.total == pytest.approx(result.score - result.baseline, abs=0.02)


def test_starts_and_ends_of_all_windows_add_up_to_one(folder, tmp_path):
    networks.save(built(folder), tmp_path)
    subject = Subject(tmp_path, device="cpu")
    texts = {"texts": {"text": " ".join([TEXT] * 12)}, "questions": ["the driver ?"]}

    (found,) = (
        Inspecting(subject)
        .answer({"inspector": "answer_scores", "documents": [texts]})
        .result.boundaries
    )
    assert len(found.tokens) == 60  # each word of the text once, in its order
    assert [token.start for token in found.tokens] == sorted(token.start for token in found.tokens)
    assert sum(token.first for token in found.tokens) + found.null_first == pytest.approx(1)
    assert sum(token.last for token in found.tokens) + found.null_last == pytest.approx(1)


def test_only_windows_of_answered_questions_are_learned(folder):
    model = built(folder)
    found = features(model, [DOCUMENT], [gold(TEXT, (DOCUMENT.questions[1], "paris"))])

    assert np.array(found.targets["positions"]).tolist() == [[-100, -100], [10, 10]]


def test_smoothing_spreads_over_the_tokens_of_a_window_and_not_its_padding(folder):
    model, task, options = built(folder), ExtractAnswers(), {"label_smoothing": 0.1}
    documents = [with_questions("a", TEXT, ["where ?"]), with_questions("b", "ada", ["who ?"])]
    golds = [gold(TEXT, ("where ?", "paris")), gold("ada", ("who ?", ""))]
    prepared = INFO.prepare(model.encoder.preparer, documents, 32)
    found = Features(prepared, task.targets(prepared, golds, (), options))
    balance = task.balance(found.targets, (), {**options, "sampling": "balanced"})
    batch = collate(found, [0, 1], encoder=model.encoder, device=CPU)

    outputs = task.forward(model, batch)

    expected = 0.0
    for row, window in enumerate(prepared.inputs):
        for scores, position in zip(
            outputs.logits["logits"][row].T, batch.targets["positions"][row], strict=True
        ):
            logs = scores.log_softmax(-1)  # padding included, as in transformers
            expected -= 0.9 * logs[position] + 0.1 * logs[: len(window)].mean()
    assert outputs.losses["task"].total.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    assert [row["count"] for row in balance.rows()] == [1, 1]
