"""What must hold for every format that the model of a run can be exported as, by the registry."""

import errno
import os
import shutil
from collections.abc import Generator
from itertools import islice

import pytest

torch = pytest.importorskip("torch")

from tests.tiny_runs import write_texts  # noqa: E402
from workbench.base.errors import ExportFailed, WorkbenchError  # noqa: E402
from workbench.base.registry import registry  # noqa: E402
from workbench.exporters.model import run  # noqa: E402
from workbench.exporters.model.onnx import exporter as onnx  # noqa: E402
from workbench.exporters.model.results import ExportResult  # noqa: E402
from workbench.exporters.model.spec import KIND, trained_formats  # noqa: E402

FORMATS = [info.id for info in trained_formats()]
every_format = pytest.mark.parametrize("format", FORMATS)


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    """A folder for the graph, converted once: every run here has the same weights."""
    return tmp_path_factory.mktemp("graphs") / "graph"


@pytest.fixture
def model(format, tiny_run, lora_run, bottleneck_run, graphs, monkeypatch):
    """The model folder of a run that has this format."""
    write = onnx.write

    def copied(predictor, tokenizer_folder, folder):
        if not graphs.exists():
            write(predictor, tokenizer_folder, graphs)
        shutil.copytree(graphs, folder)

    monkeypatch.setattr(onnx, "write", copied)
    special = {"adapter": lora_run, "bottleneck_adapters": bottleneck_run}
    return special.get(format, tiny_run)("classify")


def started(model, out, format):
    out.parent.mkdir(parents=True, exist_ok=True)
    texts = write_texts(out.parent.parent / "texts.jsonl")
    params = {"model": str(model), "texts": str(texts), "out": str(out), "formats": [format]}
    return run.export(params, out.parent)


def finished(work):
    while True:
        try:
            next(work)
        except StopIteration as end:
            return ExportResult.from_json(end.value)


def exporter(format):
    return registry().get(KIND, format)


def after(monkeypatch, format, method, act):
    """Call `act(exporter's arguments)` after a method of the exporter."""
    original = getattr(exporter(format), method)

    def changed(self, *args):
        result = original(self, *args)
        if isinstance(result, Generator):
            return followed(result, args)
        act(*args)
        return result

    def followed(work, args):
        result = yield from work
        act(*args)
        return result

    monkeypatch.setattr(exporter(format), method, changed)


def full_disk(*_args):
    raise OSError(errno.ENOSPC, "No space left on device")


@every_format
def test_a_name_with_spaces_and_emoji_is_written_and_checked(format, model, tmp_path):
    out = tmp_path / "mine" / "My model 🚋 'é' (1)"

    result = finished(started(model, out, format))

    check = result.checks[format]
    assert not check.failed and check.extremes == 7 and check.bytes > 0, check.sentence()
    assert (out / format / "README.md").is_file()
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@every_format
@pytest.mark.parametrize("method", ["write", "check", "finish", "readme"])
def test_a_disk_that_is_full_leaves_nothing_at_any_stage(
    format, method, model, tmp_path, monkeypatch
):
    out = tmp_path / "here" / "out"
    after(monkeypatch, format, method, full_disk)

    with pytest.raises(ExportFailed, match="is full. No files were kept"):
        finished(started(model, out, format))

    assert list(out.parent.iterdir()) == []


@every_format
def test_damaged_weights_of_the_run_are_named_and_nothing_is_written(format, model, tmp_path):
    for path in model.rglob("*.safetensors"):
        os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(WorkbenchError, match=r"\.safetensors|weights|damaged|checksum"):
        finished(started(model, tmp_path / "here" / "out", format))

    assert list((tmp_path / "here").iterdir()) == []


@every_format
def test_damaged_files_of_the_export_are_marked_and_kept(format, model, tmp_path, monkeypatch):
    def damage(_export, folder):
        for path in (*folder.rglob("*.safetensors"), *folder.rglob("*.onnx")):
            os.truncate(path, path.stat().st_size // 2)

    after(monkeypatch, format, "write", damage)
    result = finished(started(model, tmp_path / "here" / "out", format))

    assert result.failed == (format,) and result.checks[format].problem
    assert (tmp_path / "here" / "out" / format / "README.md").is_file()


@pytest.mark.parametrize("format", ["onnx_int8"])
def test_a_damaged_description_of_the_export_is_marked_too(format, model, tmp_path, monkeypatch):
    def damage(_export, folder):
        (folder / "labels.json").write_text("{")

    after(monkeypatch, format, "write", damage)
    result = finished(started(model, tmp_path / "here" / "out", format))

    assert result.failed == (format,)


@every_format
def test_files_that_were_there_stay_alone(format, model, tmp_path):
    out = tmp_path / "here" / "out"
    out.mkdir(parents=True)
    (out / "mine.txt").write_text("keep")

    with pytest.raises(ExportFailed, match="not empty"):
        finished(started(model, out, format))

    assert [path.name for path in out.iterdir()] == ["mine.txt"]


@every_format
def test_a_cancel_at_any_stage_leaves_nothing(format, model, tmp_path):
    out, stages, at = tmp_path / "here" / "out", [], 0
    while True:
        work = started(model, out, format)
        events = (event for event in work if event["kind"] == "stage")
        reached = [event["stage"] for event in islice(events, at + 1)]
        if len(reached) <= at:
            break
        work.close()
        stages.append(reached[-1])
        assert list(out.parent.iterdir()) == []
        at += 1

    assert stages == ["load", format, "original", f"check_{format}"]


@every_format
def test_a_folder_that_cannot_be_written_is_named(format, model, tmp_path):
    params = {"model": str(model), "texts": "", "out": "/proc/out", "formats": [format]}

    with pytest.raises(ExportFailed, match="/proc.* cannot be written"):
        finished(run.export(params, tmp_path))
