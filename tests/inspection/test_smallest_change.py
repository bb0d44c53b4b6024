"""Deletions and replacements that turn a class, by exhaustive comparison on a tiny run."""

import json

import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import WorkbenchError  # noqa: E402
from workbench.inspection.asking import Asking  # noqa: E402
from workbench.inspection.base import words_of  # noqa: E402
from workbench.inspection.smallest_change.inspector import (  # noqa: E402
    SmallestChangeInspector,
)
from workbench.inspection.smallest_change.search import flips  # noqa: E402
from workbench.inspection.spec import WordRow  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "the tram to harbour gate was late, thank you"


@pytest.fixture(scope="module")
def subject(tiny_run):
    return Subject(tiny_run("classify"), device="cpu")


def run(subject, text=TEXT, questions=(), inspector=None, **options):
    found = inspector or SmallestChangeInspector()
    defaults = {option.name: option.default for option in found.info.options}
    document = Document("", (("text", text),), questions=questions)
    return found.run(subject, [document], {**defaults, "proposer": "none", **options})


def predicted(subject, text):
    (prediction,) = subject.predictor.predict_texts([text])
    return prediction.label


def test_a_search_in_parts_ends_with_the_result_of_a_search_at_once(subject):
    whole = run(subject, most=3, top=2)
    inspector = SmallestChangeInspector()

    part = run(subject, most=3, top=2, part=4, inspector=inspector)
    kinds, tried = [part.searching], [part.tried]
    while part.further(False) is not None:
        part = run(subject, most=3, top=2, part=4, inspector=inspector)
        kinds.append(part.searching)
        tried.append(part.tried)

    assert list(dict.fromkeys(kinds)) == ["delete", "replace", "flip", ""]
    assert all(a <= b <= a + 32 for a, b in zip(tried, tried[1:], strict=False))
    assert part == whole


def test_another_text_begins_another_search(subject):
    inspector = SmallestChangeInspector()
    run(subject, part=4, inspector=inspector)

    other = run(subject, TEXT.upper(), part=4, inspector=inspector)

    assert other.searching == "delete" and other.words[0].text == "THE"


def test_the_first_deletion_is_the_one_that_lowers_the_class_most(subject):
    result = run(subject, most=1)

    falls = {}
    for word in result.words:
        without = (TEXT[: word.start] + TEXT[word.end :]).replace("  ", " ").strip()
        (prediction,) = subject.predictor.predict_texts([without])
        scores = prediction.fields[0]
        falls[word.text] = (
            result.share - dict(zip(scores.labels, scores.scores, strict=True))[result.label]
        )
    assert result.trials[0].fall == pytest.approx(max(falls.values()), abs=1e-4)
    assert result.trials[0].word == result.changes[0].words[0][0] or result.changes[0].turned


def test_a_change_that_turns_the_class_does_so_and_needs_all_its_words(subject):
    change = run(subject, most=9).changes[0]

    assert change.turned == (predicted(subject, change.text) != predicted(subject, TEXT))
    assert predicted(subject, change.text) == change.label


def test_without_the_model_of_the_run_only_deletions_are_tried(subject):
    result = run(subject)

    assert [change.kind for change in result.changes] == ["delete", "flip"]
    assert result.proposed_by == ""


def test_words_are_replaced_by_what_the_model_of_the_run_expects(tiny_run, tmp_path):
    folder = tiny_run("classify")
    base = tiny_models.make(tmp_path / "base", "bert")
    described = json.loads((folder / "glossbench.json").read_text())
    (folder / "glossbench.json").write_text(json.dumps({**described, "model": str(base)}))

    result = run(Subject(folder, device="cpu"), top=3, most=2, proposer="")

    replaced = result.changes[1]
    assert replaced.kind == "replace" and 1 <= len(replaced.words) <= 2
    assert all(new.isalpha() for _word, new in replaced.words)
    assert predicted(Subject(folder, device="cpu"), replaced.text) == replaced.label


def test_the_gradient_proposes_words_of_the_whole_vocabulary_by_a_first_order_estimate(subject):
    words, label = words_of(Document("", (("text", TEXT),)), 1), run(subject).label
    model = subject.predictor.model.encoder.model
    piece = subject.prepared(Document("", (("text", TEXT),))).inputs[0]
    table = model.get_input_embeddings()
    embeddings = table(torch.from_numpy(piece.ids)[None]).detach().requires_grad_()
    logits = model(inputs_embeds=embeddings).logits[0]
    logits.softmax(-1)[subject.labels.index(label)].backward()

    found = flips(subject, Document("", (("text", TEXT),)), words, f"class:{label}", 5)

    assert set(found) == {0, 1, 2, 3, 4, 5, 6, 8, 9}  # not the comma
    vocabulary = subject.preparer.tokenizer.backend.get_vocab()
    place = 2  # [CLS] the tram
    for flip in found[1]:
        change = table.weight[vocabulary[flip.new]] - embeddings[0, place]
        estimate = -float((change.detach() * embeddings.grad[0, place]).sum())
        assert flip.fall == pytest.approx(estimate, abs=1e-5)
    assert [flip.fall for flip in found[1]] == sorted((f.fall for f in found[1]), reverse=True)


def test_proposals_of_the_gradient_are_verified_by_a_prediction(subject):
    result = run(subject, top=3, most=1)

    flip = result.changes[1]
    assert flip.kind == "flip" and predicted(subject, flip.text) == flip.label
    estimated = [trial for trial in result.trials if trial.estimate is not None]
    assert estimated and all(trial.new for trial in estimated)


def test_a_deleted_word_takes_its_space_along_and_a_replaced_one_does_not():
    places = ((0, 4, "late"), (5, 10, "again"), (10, 11, "!"))
    words = tuple(WordRow(start, end, "text", text) for start, end, text in places)
    asking = Asking(None, None, "late again!", words, None, None, 1.0)

    assert asking.changed({0: ""}) == ("again!", {1: (0, 5), 2: (5, 6)})
    assert asking.changed({1: "now"})[0] == "late now!"
    assert asking.changed({}) == ("late again!", {0: (0, 4), 1: (5, 10), 2: (10, 11)})


def test_another_installed_model_can_propose_words(subject, tmp_path):
    other = tiny_models.make(tmp_path / "other", "roberta")

    result = run(subject, top=2, most=1, proposer=str(other))

    assert [change.kind for change in result.changes] == ["delete", "replace", "flip"]
    assert result.proposed_by == other.name
    with pytest.raises(WorkbenchError, match="nowhere is not an installed masked language model"):
        run(subject, proposer="nowhere")


def test_a_chosen_label_of_several_is_turned_on_or_off(tiny_run):
    subject = Subject(tiny_run("multilabel"), device="cpu")
    (before,) = subject.predictor.predict_texts([TEXT])

    for name in before.labels[:1] + tuple(set(subject.labels) - set(before.labels))[:1]:
        result = run(subject, most=2, top=2, target=f"class:{name}")
        target = next(target for target in result.targets if target.id == result.target)
        first = result.changes[0]
        (after,) = subject.predictor.predict_texts([first.text])
        assert target.label == name
        assert first.turned == ((target.label in after.labels) != (target.label in before.labels))
        estimated = [trial for trial in result.trials if trial.estimate is not None]
        assert estimated and max(trial.estimate for trial in estimated) > 0


def test_the_tag_of_a_word_is_followed_to_its_place_in_the_changed_text(tiny_run):
    subject = Subject(tiny_run("tag"), device="cpu")
    (before,) = subject.predictor.predict_texts([TEXT])
    at, tag = 4, before.words[4]

    result = run(subject, most=1, target=f"word:{at}:{tag.label or ''}")

    assert all(trial.word != at for trial in result.trials)
    assert len([trial for trial in result.trials if not trial.new]) == len(before.words) - 1
    for trial in result.trials[:3]:
        word = result.words[trial.word]
        text = TEXT[: word.start] + trial.new + TEXT[word.end :]
        if not trial.new:
            text = TEXT[: word.start] + TEXT[word.end :].removeprefix(" ")
        (after,) = subject.predictor.predict_texts([text])
        number = at - (trial.word < at and not trial.new)
        assert (after.words[number].label or "") == trial.label
        assert after.words[number].score == pytest.approx(trial.share, abs=1e-4)


def test_a_number_turns_when_it_changes_by_the_step(tiny_run):
    subject = Subject(tiny_run("regress"), device="cpu")
    (before,) = subject.predictor.predict_texts([TEXT])

    small = run(subject, most=1, top=1, step=9)
    reached = [abs(change.value - before.number) for change in small.changes]
    turned = run(subject, most=1, top=1, step=max(reached) * 0.99).changes

    assert not any(change.turned for change in small.changes)
    assert max(reached) == pytest.approx(small.trials[0].fall, abs=1e-5)
    assert [change.turned for change in turned] == [item >= max(reached) * 0.99 for item in reached]
    (after,) = subject.predictor.predict_texts([turned[0].text])
    assert turned[0].value == pytest.approx(after.number, abs=1e-4)


def test_an_answer_turns_into_another_while_its_own_words_stay(tiny_run):
    subject = Subject(tiny_run("answer", ("start", "end")), device="cpu")
    question = ("what was late?",)

    result = run(subject, questions=question, most=2)

    (target,) = result.targets
    assert target.id == result.target == "answer:0" and target.question == question[0]
    fixed = set(range(target.first, target.last + 1)) if target.first >= 0 else set()
    assert not fixed & {trial.word for trial in result.trials}
    change = result.changes[0]
    document = Document("", (("text", change.text),), questions=question)
    (after,) = subject.predictor.predict([document])
    assert after.fields[0].answers[0].answer == change.label
    assert change.turned == (change.label.casefold() != target.label.casefold())


def test_a_text_without_words_is_refused(subject):
    with pytest.raises(WorkbenchError, match="no words to change"):
        run(subject, " ")
