"""The folder in Chromium: as a page from the disk, and with transformers.js from a server."""

import json
import lzma
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

torch = pytest.importorskip("torch")

from tests.exporters.model.browser.conftest import TEXTS  # noqa: E402
from tests.exporters.model.test_run import export  # noqa: E402
from tests.tiny_runs import write_texts  # noqa: E402
from workbench.base.paths import resource  # noqa: E402
from workbench.exporters.model.browser import page as pages  # noqa: E402
from workbench.exporters.model.browser.info import INFO  # noqa: E402
from workbench.models import folder as folders  # noqa: E402
from workbench.runtime.inputs import stack  # noqa: E402
from workbench.tasks import spec as tasks  # noqa: E402
from workbench.tasks.answers import read_documents  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.text.document import Document  # noqa: E402
from workbench.text.fields import LabelScores  # noqa: E402

LABELS = ("delay", "praise", "ticket")
READY = "document.documentElement?.dataset.ready"


@pytest.fixture(scope="module")
def exported(tiny_run, tmp_path_factory):
    """exported(task) → (predictor, folder of the format, result of the export), made once."""
    exports = {}

    def run(task):
        if task not in exports:
            exports[task] = browser_export(tiny_run(task, LABELS), tmp_path_factory.mktemp("web"))
        return exports[task]

    return run


def browser_export(model, folder, texts=""):
    """Without texts to compare labels on, the page has the weights with 32 bits."""
    result, _events = export(model, folder / "out 😀 x", texts, ("browser",))
    return Predictor.load(model, "cpu"), Path(result["folders"]["browser"]), result


def asked(page, *texts):
    return page.evaluate(f"predict({', '.join(map(json.dumps, texts))})")


close = partial(pytest.approx, abs=1e-4)


def as_plain(prediction):
    if prediction.number is not None:
        return {"number": close(prediction.number), "cut": prediction.cut}
    if several := prediction.get(LabelScores):
        parts = {"scores": several.scores, "thresholds": several.thresholds}
        named = {
            name: dict(zip(LABELS, map(close, row), strict=True)) for name, row in parts.items()
        }
        return {"labels": list(several.chosen), **named, "cut": prediction.cut}
    if prediction.classes is not None:
        scores = {label: close(score) for label, score in prediction.classes.as_dict().items()}
        return {"label": prediction.label, "scores": scores, "cut": prediction.cut}
    spans = [(span.start, span.end, span.label, span.score) for span in prediction.spans]
    return {
        "spans": [
            {"start": start, "end": end, "label": label, "score": close(score)}
            for start, end, label, score in spans
        ]
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "tag", "multilabel"])
def test_the_page_gives_the_answers_of_the_model_from_a_folder(exported, chrome, task):
    predictor, folder, result = exported(task)
    chrome.open((folder / "index.html").as_uri(), READY)

    answers = [asked(chrome, text) for text in TEXTS]

    assert answers == [as_plain(prediction) for prediction in predictor.predict_texts(TEXTS)]
    assert result["check"]["equal_labels"] == 1.0
    assert [url[:5] for url in chrome.requests if not url.startswith("blob:")] == ["file:"]


@pytest.mark.slow
def test_the_page_has_weights_with_8_bits_where_these_give_the_same_labels(
    tiny_run, tmp_path, chrome
):
    texts = write_texts(tmp_path / "texts.jsonl")
    model = tiny_run("tag", LABELS)
    predictor, folder, result = browser_export(model, tmp_path, texts)
    small = folder / "onnx" / "model_quantized.onnx"
    chrome.open((folder / "index.html").as_uri(), READY)
    documents = list(read_documents(texts))

    answers = [asked(chrome, document.text)["spans"] for document in documents]

    expected = [as_plain(prediction)["spans"] for prediction in predictor.predict(documents)]
    assert [[place(span) for span in spans] for spans in answers] == [
        [place(span) for span in spans] for spans in expected
    ]
    assert "8 bits" in result["checks"]["browser"]["note"]
    assert small.name in chrome.evaluate("document.body.innerText")
    assert small.stat().st_size < (folder / "onnx" / "model.onnx").stat().st_size / 3


def place(span):
    return span["start"], span["end"], span["label"]


@pytest.mark.slow
def test_the_page_decodes_a_crf(crf_run, tmp_path, chrome):
    predictor, folder, _result = browser_export(crf_run, tmp_path)
    chrome.open((folder / "index.html").as_uri(), READY)

    answers = [asked(chrome, text) for text in TEXTS]

    assert answers == [as_plain(prediction) for prediction in predictor.predict_texts(TEXTS)]
    assert any(answer["spans"] for answer in answers)


@pytest.mark.slow
def test_the_page_reads_pairs(exported, chrome):
    predictor, folder, _result = exported("pairs")
    pairs = list(zip(TEXTS, reversed(TEXTS), strict=True))
    chrome.open((folder / "index.html").as_uri(), READY)

    answers = [asked(chrome, *pair) for pair in pairs]

    assert answers == [as_plain(prediction) for prediction in predictor.predict_texts(pairs)]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "tag"])
def test_transformers_js_gives_the_labels_of_the_model(exported, chrome, task):
    predictor, folder, _result = exported(task)
    # transformers.js drops the last token of longer texts, and has other tokens for 𠀀 and Σ.
    short = [text for text in TEXTS if len(text) < 25 and not {"𠀀", "Σ"} & set(text)]
    with served(folder, task) as address:
        chrome.open(address, "window.ask")
        answers = chrome.evaluate(f"ask({json.dumps(short)})")
        assert chrome.evaluate("printed.length") == 1

    if task == "classify":
        expected = [prediction.label for prediction in predictor.predict_texts(short)]
        assert [answer[0]["label"] for answer in answers] == expected
    else:
        assert [[token["entity"] for token in answer] for answer in answers] == [
            tags(predictor, text) for text in short
        ]
        assert sum(map(len, answers)) > 40


def tags(predictor, text):
    """The highest output at each subword that transformers.js gives: not special, not O."""
    prepared = predictor.prepare([Document("1", (("text", text),))])
    special = predictor.encoder.preparer.tokenizer.special
    inputs = stack(prepared.inputs, predictor.encoder.input_names, {})
    with torch.inference_mode():
        tensors = {name: torch.from_numpy(array) for name, array in inputs.items()}
        best = predictor.model(tensors)["logits"][0].argmax(-1).tolist()
    outputs = predictor.task.info.output_names(predictor.labels)
    ids = prepared.inputs[0].ids.tolist()
    named = [outputs[number] for number, id in zip(best, ids, strict=True) if id not in special]
    return [name for name in named if name != "O"]


@pytest.mark.slow
def test_a_page_without_its_end_says_so(exported, tmp_path, chrome):
    _predictor, folder, _result = exported("classify")
    content = (folder / "index.html").read_bytes()
    (tmp_path / "index.html").write_bytes(content[: len(content) // 2])

    chrome.open(
        (tmp_path / "index.html").as_uri(), "document.getElementById('error')?.hidden === false"
    )

    assert "end of this file is missing" in chrome.evaluate("document.body.innerText")


def test_the_page_has_texts_as_they_are(tmp_path):
    files = {name: tmp_path / name for name in ("graph", "tokenizer", "settings")}
    for file in files.values():
        file.write_text("{}")

    pages.write(tmp_path / "index.html", "<b>{data} & {page}", {"labels": []}, files)

    content = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert content.count("<title>&lt;b&gt;{data} &amp; {page}</title>") == 1
    assert content.count("</script>") == content.count("<script")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"task": "spans"}, "this task"),
        ({"options": {"segmenter": "icu"}}, "word segmenter"),
        ({"decoder": {"tags": ["B-a"]}}, "BIO tags"),
    ],
)
def test_runs_that_the_page_cannot_read_are_not_offered(tiny_run, change, reason):
    folder = tiny_run("tag", LABELS)
    assert not INFO.unfit(folder)

    folders.describe(folder, {**folders.description(folder), **change})

    assert reason in INFO.unfit(folder)


def test_a_type_without_a_class_in_transformers_js_is_not_offered(tiny_run):
    folder = tiny_run("classify", LABELS)
    config = folder / "config.json"

    config.write_text(config.read_text().replace('"model_type": "bert"', '"model_type": "gpt2"'))

    assert "gpt2" in INFO.unfit(folder)


# ---------------------------------------------------------------- transformers.js from a server

BUNDLE = Path(__file__).parent / "data" / "transformers.web.min.js.xz"  # 4.3.2, Apache-2.0
PAGE = """<script type="importmap">
{"imports": {
  "@huggingface/transformers": "./transformers.js",
  "onnxruntime-web/webgpu": "./ort.mjs",
  "onnxruntime-common": "./ort.mjs"
}}
</script>
<script type="module">
import { env } from "@huggingface/transformers";
env.useBrowserCache = env.useWasmCache = false;
env.backends.onnx.wasm.numThreads = 1;
env.backends.onnx.wasm.wasmPaths = { wasm: "./ort.wasm" };
window.printed = [];
console.log = (value) => window.printed.push(value);
</script>
<script type="module">
CODE
window.ask = async (texts) => {
  const answers = [];
  for (const text of texts) answers.push(await ask(text));
  return answers;
};
</script>
"""


class served:
    """A server on the loopback interface with the folder, transformers.js, and a page that runs
    the code of the card.
    """

    def __init__(self, folder, task):
        self.root = folder.parent
        code = INFO.loading_code(str(folder), tasks.info(task), own_head=False)
        (self.root / "ort.mjs").write_bytes((resource("web") / pages.LIBRARIES["ort"]).read_bytes())
        (self.root / "ort.wasm").write_bytes(
            lzma.decompress((resource("web") / pages.LIBRARIES["wasm"]).read_bytes())
        )
        (self.root / "transformers.js").write_bytes(lzma.decompress(BUNDLE.read_bytes()))
        (self.root / "page.html").write_text(PAGE.replace("CODE", code), encoding="utf-8")

    def __enter__(self):
        handler = partial(Quiet, directory=str(self.root))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}/page.html"

    def __exit__(self, *_error):
        self.server.shutdown()
        self.server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    extensions_map = {
        **SimpleHTTPRequestHandler.extensions_map,
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, *_arguments):
        pass


def test_the_licences_name_the_parts_of_onnxruntime(tmp_path):
    from workbench.exporters.model.browser import page

    page.write_licences(tmp_path / "LICENCES.txt")

    text = (tmp_path / "LICENCES.txt").read_text(encoding="utf-8")
    assert "Permission is hereby granted" in text and "protobuf" in text
