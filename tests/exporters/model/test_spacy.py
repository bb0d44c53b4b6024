"""Exported pipelines in the real spaCy, against the predictions of their models."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("torch")
spacy = pytest.importorskip("spacy", reason="spaCy is in the extra dev")

from workbench.exporters.model import bundle  # noqa: E402
from workbench.exporters.model.spacy import exporter  # noqa: E402
from workbench.exporters.model.spacy.info import INFO  # noqa: E402
from workbench.tasks import spec as tasks  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXTS = (
    "Ada's 42 tram was late at the harbour gate, 10.30!",
    "",
    "a",
    "שלום עולם, שלום",
    "¿Qué? 😀👍🏽 naïve  two\n\n lines ",
    "word " * 90,
)
DOCUMENTS = [Document(str(number), (("text", text),)) for number, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def pipeline(task_graph, tmp_path_factory):
    """pipeline(task, **options) → (the predictor of a model, the pipeline of its export)."""
    read = {}

    def load(task, **options):
        key = task, tuple(options.items())
        if key not in read:
            predictor, graph = task_graph(task, **options)
            folder = tmp_path_factory.mktemp(task) / "spacy 🙂"
            exporter.write(graph, folder)
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(folder)
                import glossbench_spacy  # noqa: F401

                read[key] = predictor, folder, spacy.load(folder)
        return read[key]

    yield load
    bundle.forget()
    sys.modules.pop("glossbench_spacy", None)


def offsets(spans):
    return [(span.start_char, span.end_char, span.label_) for span in spans]


def expected_spans(prediction):
    return [(span.start, span.end, span.label) for span in prediction.spans]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "multilabel"])
def test_classes_are_the_categories_of_a_doc(pipeline, task):
    predictor, _folder, nlp = pipeline(task)

    docs = list(nlp.pipe(TEXTS, batch_size=4))

    for doc, prediction in zip(docs, predictor.predict(DOCUMENTS), strict=True):
        assert doc.cats == pytest.approx(prediction.to_json()["scores"], abs=1e-4)
        assert doc._.glossbench.get("labels") == prediction.to_json().get("labels")
        assert doc.ents == () and not doc.spans
    assert nlp.pipe_labels["glossbench"] == list(predictor.labels)


@pytest.mark.slow
@pytest.mark.parametrize("task, options", [("tag", {}), ("spans", {"overlap": "flat"})])
def test_flat_spans_are_entities(pipeline, task, options):
    predictor, _folder, nlp = pipeline(task, **options)

    docs = list(nlp.pipe(TEXTS))

    expected = [expected_spans(prediction) for prediction in predictor.predict(DOCUMENTS)]
    assert [offsets(doc.ents) for doc in docs] == expected and any(expected)
    assert nlp.get_pipe("glossbench").widened == 0


@pytest.mark.slow
def test_spans_that_may_overlap_are_a_group_with_scores(pipeline):
    predictor, _folder, nlp = pipeline("spans")

    docs = list(nlp.pipe(TEXTS))

    for doc, prediction in zip(docs, predictor.predict(DOCUMENTS), strict=True):
        assert offsets(doc.spans["sc"]) == expected_spans(prediction)
        scores = [span.score for span in prediction.spans]
        assert doc.spans["sc"].attrs["scores"] == pytest.approx(scores, abs=1e-4)
        assert doc.ents == ()


@pytest.mark.slow
def test_every_token_has_the_tag_of_its_word(pipeline):
    predictor, _folder, nlp = pipeline("token")

    for doc, prediction in zip(nlp.pipe(TEXTS), predictor.predict(DOCUMENTS), strict=True):
        tags = [(token.idx, token.tag_) for token in doc if not token.is_space]
        assert tags == [(word.start, word.label or "") for word in prediction.words]


def test_in_a_pipeline_with_other_tokens_spans_are_widened_and_counted(pipeline):
    predictor, _folder, source = pipeline("tag")
    nlp = spacy.blank("en")
    nlp.add_pipe("glossbench", source=source)
    component = nlp.get_pipe("glossbench")
    before = component.widened, component.left_out

    doc = nlp("don't cannot 10.30am")

    spans = predictor.predict([Document("1", (("text", doc.text),))])[0].spans
    inside = [doc.char_span(span.start, span.end) is None for span in spans]
    assert component.widened - before[0] == sum(inside) > 0
    assert len(doc.ents) == len(spans) - (component.left_out - before[1])
    assert doc._.glossbench["spans"][0]["start"] == spans[0].start


def test_the_folder_loads_in_a_process_of_its_own_and_is_saved_again(pipeline, tmp_path):
    _predictor, folder, nlp = pipeline("tag")
    code = INFO.loading_code(str(folder), tasks.info("tag"), own_head=True).replace("…", TEXTS[0])
    code = code.replace("print(", f"nlp.to_disk({str(tmp_path / 'again')!r}); print(")
    code += f"print(len(spacy.load({str(tmp_path / 'again')!r})({TEXTS[0]!r}).ents))\n"
    code += "print([name for name in sys.modules if name.startswith('workbench')])"

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)

    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0, done.stderr.decode()
    assert lines[1:] == [str(len(nlp(TEXTS[0]).ents)), "[]"]


def test_a_process_that_was_forked_after_the_first_use_says_so(pipeline):
    _predictor, _folder, nlp = pipeline("tag")
    nlp("late")

    with pytest.raises(ValueError, match="before this process was forked"):
        list(nlp.pipe(["late"] * 3, n_process=2))


def test_the_folder_can_be_installed(pipeline, tmp_path):
    _predictor, folder, _nlp = pipeline("tag")
    options = ("--no-deps", "--no-index", "--no-build-isolation", "--quiet", "--target", tmp_path)

    subprocess.run([sys.executable, "-m", "pip", "install", *options, folder], check=True)

    code = f"import sys; sys.path.append({str(tmp_path)!r}); import spacy; "
    code += f"print(spacy.load({str(folder)!r}).pipe_names)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert done.stdout.decode() == "['glossbench']\n", done.stderr.decode()


def test_what_spacy_has_no_place_for_is_not_offered(tmp_path):
    reasons = {}
    fitting = ("classify", "multilabel", "tag", "token", "spans")
    for task in (*fitting, "pairs", "regress", "answer"):
        (tmp_path / "glossbench.json").write_text(json.dumps({"task": task}))
        reasons[task] = INFO.unfit(tmp_path)

    assert not any(reasons[task] for task in fitting)
    assert (
        reasons["pairs"]
        == reasons["answer"]
        == ("spaCy reads single texts, not pairs, choices or questions.")
    )
    assert reasons["regress"] == "spaCy has no place for what this run predicts."
