"""The short library face, as its docstring shows it."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import workbench
from tests.inline import InlineHost
from workbench.base.errors import ProjectError
from workbench.operations.models import serving
from workbench.text.dataset import read
from workbench.training.spec import TrainSpec

ROOT = Path(__file__).parents[1]
LINES = (
    '{"glossbench": 1, "layers": [{"name": "topic", "kind": "class", '
    '"labels": [{"name": "late"}, {"name": "good"}]}]}',
    *(
        f'{{"key": "{n}", "texts": {{"text": "the tram {n} is {("late", "full")[n % 2]}"}}, '
        f'"split": "{split}", '
        f'"states": {{"topic": "submitted"}}, "marks": {{"topic": ["{("late", "good")[n % 2]}"]}}}}'
        for n, split in enumerate(["train"] * 8 + ["dev"] * 4)
    ),
)


def test_a_file_of_labels_becomes_a_model_that_answers(tmp_path, tiny_model):
    (tmp_path / "labelled.jsonl").write_text("\n".join(LINES) + "\n")
    spec = TrainSpec("classify", "topic", str(tiny_model), options={"epochs": 1, "device": "cpu"})

    events = list(workbench.train(spec, read(tmp_path / "labelled.jsonl"), tmp_path / "out"))
    model = workbench.load_model(tmp_path / "out" / "model", device="cpu")

    assert [type(event).__name__ for event in events].count("Saved") == 1
    assert model.predict_texts(["the tram is late"])[0].label in ("late", "good")


def test_a_project_opens_beside_a_writer_for_reading_only(project):
    other = workbench.open_project(project.path, read_only=True)

    assert other.read_only and other.uid == project.uid
    other.close()


def test_a_file_that_is_no_project_is_refused(tmp_path):
    (tmp_path / "x.glossbench").write_bytes(b"")

    with pytest.raises(ProjectError, match=r"x\.glossbench"):
        workbench.open_project(tmp_path / "x.glossbench")


def blocks():
    text = (ROOT / "resources" / "help" / "library.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def test_the_guide_runs_from_top_to_bottom(
    tmp_path, monkeypatch, capsys, tiny_model, jobs_in_process
):
    monkeypatch.setattr("workbench.jobs.host.Host", InlineHost)
    server = SimpleNamespace(address="http://127.0.0.1:8765")  # one in this process would not end
    monkeypatch.setattr(serving, "begin", lambda _queue, _spec, **_options: server)
    monkeypatch.chdir(tmp_path)
    names = {"starter-bert": tiny_model.as_posix(), "epochs=3": "epochs=1, device='cpu'"}
    code = "\n".join(blocks())
    for name, other in names.items():
        assert name in code
        code = code.replace(name, other)
    exec(compile(code, "library.md", "exec"), {})
    printed = capsys.readouterr().out

    assert "m-0001" in printed and "('[CLS]'," in printed
    assert (tmp_path / "exported" / "hf" / "model.safetensors").is_file()
    assert (tmp_path / "labels.csv").read_text().startswith("key,text,text_b,label,")
    data = read(tmp_path / "labelled.jsonl")
    assert {layer.name for layer in data.layers} == {"class", "spans", "pairs"}
    assert data.by_split("train")
