import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from huggingface_hub import ModelCard  # noqa: E402

import workbench  # noqa: E402
from tests import flair_models  # noqa: E402
from tests.tiny_runs import write_texts  # noqa: E402
from workbench.base import checksums  # noqa: E402
from workbench.base.errors import ExportFailed, ModelError  # noqa: E402
from workbench.exporters.model import base, run, verify  # noqa: E402
from workbench.exporters.model.results import ExportResult  # noqa: E402
from workbench.exporters.model.spec import draft_of, infos, loading_code  # noqa: E402
from workbench.runtime.onnx_predictor import OnnxPredictor  # noqa: E402
from workbench.tasks.answers import read_documents, write_answers  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402

FACTS = {
    "run": "first",
    "layer": "class",
    "base_model": "starter-bert",
    "base_licence": "apache-2.0",
    "seed": 1,
    "counts": {"train": 180, "dev": 60},
    "left_out": [{"reason": "not submitted", "count": 120}],
    "cut": 3,
    "scores": {"dev": {"accuracy": 0.65, "macro_f1": 0.641}},
    "versions": {"torch": "2.13.0"},
}


def export(folder, out, texts="", formats=("hf", "onnx"), **options):
    params = {
        "model": str(folder),
        "texts": str(texts),
        "out": str(out),
        "formats": list(formats),
        "facts": FACTS,
        **options,
    }
    job, events = run.export(params, out.parent), []
    try:
        while True:
            events.append(next(job))
    except StopIteration as end:
        return end.value, events


def offered(folder):
    """The formats of the method of the run, and the two of every run."""
    kinds = ("hf", "onnx", "adapter", "bottleneck_adapters")
    return [info.id for info in infos() if info.id in kinds and not info.unfit(folder)]


def same(ours, theirs, **tolerance):
    assert len(ours) == len(theirs)
    for item, other in zip(ours, theirs, strict=True):
        assert (item.label, item.cut) == (other.label, other.cut)
        assert [(s.start, s.end, s.label) for s in item.spans] == [
            (s.start, s.end, s.label) for s in other.spans
        ]
        if item.classes:
            assert item.classes.scores == pytest.approx(other.classes.scores, **tolerance)


@pytest.fixture(scope="module")
def exported_crf(crf_run, tmp_path_factory):
    """(result of the export, its folder, the documents of the check)."""
    folder = tmp_path_factory.mktemp("crf")
    texts = write_texts(folder / "texts.jsonl")
    result, _events = export(crf_run, folder / "out", texts)
    return result, folder / "out", list(read_documents(texts))


def test_an_adapter_on_a_base_with_another_one_is_not_exported_alone(lora_run, tmp_path):
    folder = lora_run("classify")
    config = folder / "adapter" / "adapter_config.json"
    raw = json.loads(config.read_text())
    (tmp_path / "adapter_config.json").write_text("{}")
    config.write_text(json.dumps({**raw, "base_model_name_or_path": str(tmp_path)}))

    assert "adapter" not in offered(folder) and "hf" in offered(folder)


@pytest.mark.slow
def test_an_exported_crf_finds_the_same_spans_without_torch(crf_run, exported_crf):
    result, out, documents = exported_crf

    predictor, exported = Predictor.load(crf_run, "cpu"), OnnxPredictor.load(out / "onnx")
    ours = predictor.predict(documents)
    same(ours, exported.predict(documents), abs=1e-5)
    same(ours, Predictor.load(out / "hf", "cpu").predict(documents), abs=1e-5)
    assert result["check"]["equal_labels"] == result["checks"]["hf"]["equal_labels"] == 1.0
    assert result["own_head"] and any(our.spans for our in ours)
    assert exported.description["decoder"] == predictor.decoder


@pytest.mark.slow
def test_the_check_notices_transitions_that_are_not_those_of_the_model(
    crf_run, exported_crf, tmp_path
):
    _result, out, documents = exported_crf
    changed = Path(shutil.copytree(out / "onnx", tmp_path / "onnx"))
    raw = json.loads((changed / "labels.json").read_text())
    start = raw["decoder"]["transitions"]["start"]
    raw["decoder"]["transitions"]["start"] = [0.0, *(100.0 for _ in start[1:])]
    (changed / "labels.json").write_text(json.dumps(raw))

    exported = OnnxPredictor.load(changed)
    check = last(verify.check(Predictor.load(crf_run, "cpu"), exported, documents, format="onnx"))

    assert check.equal_labels < 1.0 and check.largest_difference < 1e-4


def last(work):
    """What a generator returns."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("task", ["classify", "tag"])
def test_an_adapter_alone_answers_as_the_run_and_names_its_base_model(
    task, lora_run, texts_file, tmp_path
):
    out = tmp_path / "out"

    result, events = export(lora_run(task), out, texts_file, formats=("adapter",))

    check = result["checks"]["adapter"]
    assert check["texts"] == 27 and check["extremes"] == 7 and check["equal_labels"] == 1.0
    assert 0 < check["largest_difference"] < 1e-4
    assert {event["format"] for event in events if event["kind"] == "checked"} == {"adapter"}
    assert sorted(path.name for path in out.iterdir()) == ["adapter"]
    raw = json.loads((out / "adapter" / "adapter_config.json").read_text())
    assert raw["base_model_name_or_path"] == "base/name"
    card = ModelCard.load(out / "adapter" / "README.md")
    assert (card.data.library_name, card.data.base_model) == ("peft", "starter-bert")
    assert "A LoRA adapter that predicts" in card.text and "PeftModel" in card.text
    weights = out / "adapter" / "adapter_model.safetensors"
    assert weights.stat().st_size < 20_000 and "PeftModel" in loading_code("adapter", out, task)


def test_a_run_without_an_adapter_or_with_a_head_of_ours_has_none_to_export(
    lora_run, tiny_run, texts_file, tmp_path
):
    with_head = lora_run("tag", decoder="crf")

    assert {"hf", "onnx", "adapter"} <= set(offered(lora_run()))
    assert {"hf", "onnx"} <= set(offered(with_head)) and "adapter" not in offered(with_head)
    for folder in (tiny_run("classify"), with_head):
        with pytest.raises(ExportFailed, match="no LoRA adapter"):
            export(folder, tmp_path / "out", texts_file, formats=("adapter",))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("task", "options"), [("classify", {}), ("tag", {"decoder": "crf"})])
def test_bottleneck_adapters_alone_answer_as_the_run_in_its_base_model(
    task, options, bottleneck_run, tiny_run, texts_file, tmp_path
):
    folder, out = bottleneck_run(task, **options), tmp_path / "out"

    result, _events = export(folder, out, texts_file, formats=("bottleneck_adapters",))

    check = result["checks"]["bottleneck_adapters"]
    assert check["texts"] == 27 and check["extremes"] == 7 and check["equal_labels"] == 1.0
    assert check["largest_difference"] < 1e-5
    files = sorted((out / "bottleneck_adapters").iterdir())
    assert sum(file.stat().st_size for file in files if file.suffix == ".safetensors") < 20_000
    assert not any(b"/" in file.read_bytes()[:300] for file in files if file.suffix != ".md")
    assert 'base="path' in loading_code("bottleneck_adapters", out, task)
    assert "bottleneck_adapters" not in offered(tiny_run(task))
    assert {"hf", "onnx", "bottleneck_adapters"} <= set(offered(folder))


@pytest.mark.slow
def test_a_run_with_bottleneck_adapters_is_exported_with_them(bottleneck_run, texts_file, tmp_path):
    folder, out = bottleneck_run(), tmp_path / "out"

    result, _events = export(folder, out, texts_file)

    for format in ("hf", "onnx"):
        assert result["checks"][format]["equal_labels"] == 1.0
        assert result["checks"][format]["largest_difference"] < 1e-4
    assert result["own_head"] and "load_model" in (out / "hf" / "README.md").read_text()
    documents = list(read_documents(texts_file))
    ours = Predictor.load(folder, "cpu").predict(documents)
    same(ours, OnnxPredictor.load(out / "onnx").predict(documents), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["classify", "pairs", "tag"])
def test_an_export_answers_as_the_run_and_says_so(task, tiny_run, texts_file, tmp_path):
    folder, out = tiny_run(task, layers=1), tmp_path / "out"

    result, events = export(folder, out, texts_file)

    documents = list(read_documents(texts_file))
    ours = Predictor.load(folder, "cpu").predict(documents)
    same(ours, OnnxPredictor.load(out / "onnx").predict(documents), abs=1e-5)
    same(ours, Predictor.load(out / "hf", "cpu").predict(documents), abs=1e-5)
    assert result["check"]["texts"] == 27 and result["check"]["equal_labels"] == 1.0
    assert (
        result["check"]["largest_difference"] < 1e-4
        and result["checks"]["hf"]["largest_difference"] < 1e-4
    )
    assert [path.name for path in (out / "onnx").iterdir() if path.suffix == ".onnx"] == [
        "model.onnx"
    ]
    graph = (out / "onnx" / "model.onnx").read_bytes()  # without lines of source code
    assert not [code for code in (torch, workbench) if os.fsencode(code.__path__[0]) in graph]
    assert {Path(file["path"]).name for file in result["files"]} >= {
        "model.onnx",
        "labels.json",
        "tokenizer.json",
        "model.safetensors",
        "README.md",
    }
    message = [
        row
        for event in events
        if event["kind"] == "checked" and event["format"] == "onnx"
        for row in event["rows"]
    ]
    assert len(message) == 27 and all(row["equal"] for row in message)
    described = json.loads((out / "onnx" / "labels.json").read_text(encoding="utf-8"))
    decoder = {"decoder": "bio"} if task == "tag" else {}
    assert (described["outputs"], described["decoder"]) == (["logits"], decoder)
    _copied_code_runs(task, out / "onnx")
    _pipeline_agrees(task, out / "hf", documents[0], ours[0])


def _copied_code_runs(task, folder):
    code = loading_code("onnx", folder, task)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("[["), done.stderr


def _pipeline_agrees(task, folder, document, ours):
    from transformers import pipeline

    if task == "tag":
        result = pipeline("token-classification", model=str(folder))(document.text)
        assert {item["entity"][2:] for item in result if item["entity"] != "O"} <= {
            "delay",
            "praise",
            "ticket",
        }
        return
    given = (
        document.text
        if task == "classify"
        else {"text": document.text, "text_pair": document.content("text_b")}
    )
    result = pipeline("text-classification", model=str(folder), top_k=None)(given)
    result = result[0] if isinstance(result[0], list) else result
    assert {item["label"]: item["score"] for item in result} == pytest.approx(
        ours.classes.as_dict(), abs=1e-5
    )


@pytest.mark.slow
def test_a_graph_of_a_head_of_our_own_answers_as_the_run(
    flat_model, texts_file, tmp_path, monkeypatch
):
    from tests.tiny_heads import mean_head
    from workbench.models.base import LoadOptions
    from workbench.models.folder import describe
    from workbench.models.spec import read_folder
    from workbench.tasks import model as networks
    from workbench.tasks.classify.task import Classify

    monkeypatch.setattr(Classify, "native", "")
    monkeypatch.setattr(Classify, "head", mean_head)
    folder, out, labels = tmp_path / "run", tmp_path / "out", ["x", "y", "z"]
    folder.mkdir()
    setting = networks.Setting(Classify(), labels, {}, seed=1)
    networks.save(networks.build(read_folder(flat_model), setting, LoadOptions()), folder)
    describe(folder, {"task": "classify", "labels": labels, "max_length": 32, "layer": "class"})

    result, _events = export(folder, out, texts_file, ("onnx",))

    documents = list(read_documents(texts_file))
    ours = Predictor.load(folder, "cpu").predict(documents)
    same(ours, OnnxPredictor.load(out / "onnx").predict(documents), abs=1e-5)
    assert result["check"]["equal_labels"] == 1.0
    assert result["check"]["largest_difference"] < 1e-4


def test_the_hugging_face_folder_alone_is_checked_too(tiny_run, texts_file, tmp_path):
    result, events = export(tiny_run("classify"), tmp_path / "out", texts_file, ("hf",))

    assert set(result["folders"]) == {"hf"} and not (tmp_path / "out" / "onnx").exists()
    assert result["check"]["texts"] == 27 and result["check"]["equal_labels"] == 1.0
    assert (
        json.loads((tmp_path / "out/hf/tokenizer_config.json").read_text())["model_max_length"]
        == 32
    )
    assert [event["stage"] for event in events if event["kind"] == "stage"] == [
        "load",
        "hf",
        "original",
        "check_hf",
    ]


def test_the_card_of_the_folder_says_how_it_was_checked(tiny_run, texts_file, tmp_path):
    export(tiny_run("classify"), tmp_path / "out", texts_file, ("hf",))

    card = (tmp_path / "out/hf/README.md").read_text(encoding="utf-8")
    (row,) = [line for line in card.splitlines() if line.startswith("| Hugging Face folder")]
    assert "27 of 27" in row and "2.7 MB" in row
    assert "Compared with the original on up to 27 texts, 7 of them unusual ones" in card


def zeroed(monkeypatch):
    """The weights are written as zeros."""
    from safetensors.torch import load_file, save_file

    write = base.save_model

    def damaged(predictor, source, folder):
        write(predictor, source, folder)
        file = folder / "model.safetensors"
        zeros = {name: 0 * value for name, value in load_file(file).items()}
        save_file(zeros, file, metadata={"format": "pt"})
        checksums.write(folder)

    monkeypatch.setattr(base, "save_model", damaged)


def test_a_format_that_predicts_otherwise_is_marked_with_its_texts_and_stays(
    tiny_run, texts_file, tmp_path, monkeypatch
):
    zeroed(monkeypatch)

    result = ExportResult.from_json(
        export(tiny_run("classify"), tmp_path / "out", texts_file, ("hf",))[0]
    )

    assert result.failed == ("hf",) and (tmp_path / "out/hf/model.safetensors").is_file()
    texts = result.checks["hf"].differing
    assert {text.is_extreme for text in texts} == {False, True}
    assert all(text.expected and text.expected != text.answer for text in texts)
    card = (tmp_path / "out/hf/README.md").read_text(encoding="utf-8")
    assert "**Hugging Face folder does not give the predictions of the original**" in card


def test_a_format_that_cannot_be_read_again_is_marked_with_the_reason(
    tiny_run, texts_file, tmp_path, monkeypatch
):
    write = base.save_model

    def damaged(predictor, source, folder):
        write(predictor, source, folder)
        (folder / "model.safetensors").write_bytes(b"x")

    monkeypatch.setattr(base, "save_model", damaged)

    result, _events = export(tiny_run("classify"), tmp_path / "out", texts_file, ("hf",))

    check = ExportResult.from_json(result).checks["hf"]
    assert check.failed and "model.safetensors" in check.sentence()


def test_score_change_speed_and_size_of_a_format_are_measured(tiny_run, tmp_path, monkeypatch):
    """The gold is what the model predicts; its exported weights are zeros."""
    zeroed(monkeypatch)
    model = tiny_run("classify")
    rows = [{"glossbench": 1, "layers": []}]
    rows += [
        {
            "key": str(n),
            "texts": {"text": text},
            "split": "dev",
            "id": n + 1,
            "states": {"class": "submitted"},
            "marks": {"class": [label]},
        }
        for n, (text, label) in enumerate(predicted(model))
    ]
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    result, _events = export(model, tmp_path / "out", texts, ("hf",), layer="class")

    result = ExportResult.from_json(result)
    check, original = result.checks["hf"], result.original
    assert original.score.value == 1.0 and original.score_name == check.score_name
    assert check.scored == len(rows) - 1 and check.change.value == check.score.value - 1 < 0
    assert check.change.low <= check.change.value <= check.change.high
    assert min(check.ms_1, check.ms_32, original.ms_1, original.ms_32) > 0
    assert check.bytes == sum(f.stat().st_size for f in (tmp_path / "out/hf").iterdir()) - (
        (tmp_path / "out/hf/README.md").stat().st_size
    )


def predicted(model):
    """Texts, and the label that the model predicts for each."""
    texts = [f"The {n} tram was {word}." for n in range(8) for word in ("late", "fine", "full")]
    predictions = Predictor.load(model, "cpu").predict_texts(texts)
    return [(text, prediction.label) for text, prediction in zip(texts, predictions, strict=True)]


def stored_answers(model, texts, path):
    """A file with the predictions of a run for the texts; returns its path."""
    documents = list(read_documents(texts))
    with open(path, "w") as file:
        write_answers(file, documents, Predictor.load(model, "cpu").predict(documents))
    return str(path)


def test_the_model_is_compared_with_the_predictions_stored_with_its_run(
    tiny_run, texts_file, tmp_path
):
    model = tiny_run("classify")
    predictions = stored_answers(model, texts_file, tmp_path / "predictions.jsonl")

    result, _events = export(model, tmp_path / "out", texts_file, ("hf",), predictions=predictions)

    assert (result["stored"]["texts"], result["stored"]["equal_labels"]) == (20, 1.0)
    card = (tmp_path / "out/hf/README.md").read_text(encoding="utf-8")
    assert "predictions stored with its run, on 20 texts: 20 of 20 labels equal" in card


def test_weights_that_changed_after_the_run_are_not_exported(tiny_run, texts_file, tmp_path):
    """The model of an earlier version, without checksums, and with other weights since then."""
    from safetensors.torch import load_file, save_file

    model = tiny_run("classify")
    predictions = stored_answers(model, texts_file, tmp_path / "predictions.jsonl")
    file = model / "model.safetensors"
    weights = load_file(file)
    changed = {k: -weights[k] if "classifier" in k else weights[k] for k in weights}
    save_file(changed, file, metadata={"format": "pt"})

    with pytest.raises(ExportFailed, match="no longer gives the predictions that are stored"):
        export(model, tmp_path / "out", texts_file, ("hf",), predictions=predictions)
    assert not list(tmp_path.glob("*out*"))


def test_the_card_names_scores_data_and_what_was_cut(tiny_run, tmp_path):
    export(tiny_run("classify"), tmp_path / "out", "", ("hf",))

    card = (tmp_path / "out/hf/README.md").read_text(encoding="utf-8")
    for part in (
        "license: apache-2.0",
        "pipeline_tag: text-classification",
        "| accuracy | 65.0 |",
        "train: 180",
        "120 (not submitted)",
    ):
        assert part in card
    assert "32 tokens, so their end was not read: 3 documents" in card


def test_the_card_of_a_tagger_names_the_style_of_its_tokens(tiny_run, tmp_path):
    model = tiny_run("tag")
    description = json.loads((model / "glossbench.json").read_text())
    (model / "glossbench.json").write_text(
        json.dumps({**description, "tokens": {"documents": 8, "of": 9, "alike": 0.925}})
    )
    export(model, tmp_path / "out", "", ("hf",))

    card = (tmp_path / "out/hf/README.md").read_text(encoding="utf-8")
    assert "8 of 9 training documents came with tokens; 92.5% of these are also the words" in card


# ---------------------------------------------------------------- folders that will not do


def test_a_folder_that_is_not_empty_is_left_alone(tiny_run, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("keep")

    with pytest.raises(ExportFailed, match="not empty .it contains 'mine.txt'"):
        export(tiny_run("classify"), out)

    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_an_empty_folder_and_a_new_one_in_a_new_one_are_taken(tiny_run, tmp_path):
    (tmp_path / "empty").mkdir()

    export(tiny_run("classify"), tmp_path / "empty", "", ("hf",))
    export(tiny_run("classify"), tmp_path / "a" / "b", "", ("hf",))

    assert (tmp_path / "empty/hf/model.safetensors").is_file() and (
        tmp_path / "a/b/hf/config.json"
    ).is_file()


def test_an_empty_folder_is_filled_not_replaced(tiny_run, tmp_path):
    (tmp_path / "empty").mkdir(mode=0o700)
    before = (tmp_path / "empty").stat()

    export(tiny_run("classify"), tmp_path / "empty", "", ("hf",))

    after = (tmp_path / "empty").stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["hf"]


def test_a_foreign_folder_at_the_name_of_the_draft_stays(tiny_run, tmp_path):
    draft = draft_of(tmp_path / "out", tmp_path)
    draft.mkdir()
    (draft / "mine.txt").write_text("keep")

    with pytest.raises(ExportFailed, match="cannot be written"):
        export(tiny_run("classify"), tmp_path / "out", "", ("hf",))

    assert (draft / "mine.txt").read_text() == "keep" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("below", [".", "new", "new/new"])
def test_a_file_in_the_place_of_the_folder_or_above_it_is_named(tiny_run, tmp_path, below):
    (tmp_path / "out").write_text("x")

    with pytest.raises(ExportFailed, match="out is a file, not a folder"):
        export(tiny_run("classify"), tmp_path / "out" / below)


def test_a_folder_that_cannot_be_written_is_named(tiny_run):
    with pytest.raises(ExportFailed, match="/proc.* cannot be written"):
        export(tiny_run("classify"), Path("/proc/out"))


def test_too_little_room_is_reported_with_numbers(tiny_run, tmp_path, monkeypatch):
    monkeypatch.setattr(
        run.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1_000_000})()
    )

    with pytest.raises(ExportFailed, match="has 1.0 MB free; the export requires about"):
        export(tiny_run("classify"), tmp_path / "out")


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        RuntimeError("IO error: No space left on device"),
    ],
)
def test_a_disk_that_fills_up_leaves_nothing_behind(tiny_run, tmp_path, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(base, "limit_length", fail)
    with pytest.raises(ExportFailed, match="is full. No files were kept"):
        export(tiny_run("classify"), tmp_path / "here" / "out", "", ("hf",))

    assert list((tmp_path / "here").iterdir()) == []


def test_the_list_of_formats_needs_no_torch():
    code = (
        "import sys, workbench.exporters.model.spec as s; s.parse_formats('onnx,hf'); assert "
        "'torch' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_published_tagger_is_exported_once_its_pickle_is_allowed(texts_file, tmp_path):
    tagger = flair_models.tagger(tmp_path / "tagger")
    documents = list(read_documents(texts_file))[:3]
    out = tmp_path / "out"

    with pytest.raises(ModelError, match="pickle"):
        export(tagger, out, texts_file, ("hf",))
    result, _events = export(tagger, out, texts_file, ("hf",), allow_pickle=True)

    assert result["check"]["equal_labels"] == 1.0
    ours = Predictor.load(tagger, "cpu", allow_pickle=True).predict(documents)
    same(ours, Predictor.load(out / "hf", "cpu").predict(documents), abs=1e-5)


def test_a_format_that_cannot_be_written_is_marked_beside_the_others(
    tiny_run, texts_file, tmp_path, monkeypatch
):
    from workbench.exporters.model.plain.exporter import PlainExporter

    def refuse(_self, _export, folder):
        folder.mkdir()
        raise ExportFailed("It has no equal operations.")

    monkeypatch.setattr(PlainExporter, "write", refuse)

    result, _events = export(tiny_run("classify"), tmp_path / "out", texts_file, ("hf", "plain"))

    assert set(result["folders"]) == {"hf"} and not (tmp_path / "out" / "plain").exists()
    assert result["checks"]["plain"]["problem"] == "It has no equal operations."
    assert ExportResult.from_json(result).failed == ("plain",)
    with pytest.raises(ExportFailed, match="no equal operations"):
        export(tiny_run("classify"), tmp_path / "other", texts_file, ("plain",))
    assert not list(tmp_path.glob("*other*"))
