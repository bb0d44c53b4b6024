"""The plugin of plugins/README.md, written from that page, must work as it says."""

import ast
import contextlib
import io
import json
import random
import re
import shlex

import numpy as np
import pytest

from tests import a_plugin
from tests.plugins.conftest import FOLDER
from workbench.active.base import Decisions, Pool
from workbench.base import registry
from workbench.baselines.base import prepared
from workbench.cli.main import main
from workbench.operations.application import plugin_checks, plugins
from workbench.operations.runs import run_results
from workbench.project.project import Project
from workbench.prompting.backends.spec import GENERATE, SCORE
from workbench.prompting.base import Prompt
from workbench.prompting.generation import CANCELLED, STOP, GenerationRequest
from workbench.storage.runs import runs
from workbench.tasks import spec as tasks
from workbench.tasks.classify.info import ClassGold
from workbench.text.document import Document
from workbench.text.segmenters import base as segmenters

GOOD, BAD = ("prompt", "quick", "clean"), ("late", "slow", "dirty")


@pytest.fixture
def tutorial(tmp_path):
    """The folder of the plugin, enabled."""
    registry.registry.cache_clear()
    plugin = plugins.find(str(a_plugin.write_tutorial(tmp_path / "plugins")))
    assert plugin.fault == ""
    assert [
        (problem.id, problem.error) for problem in plugin_checks.check(plugin) if problem.error
    ] == []
    plugins.enable(plugin)
    yield plugin
    a_plugin.forget("my_plugin")
    registry.registry.cache_clear()


@pytest.fixture
def ask(capfd):
    def run(*arguments):
        capfd.readouterr()
        code = main([*map(str, arguments), "--json"])
        out, err = capfd.readouterr()
        assert code == 0, err
        return json.loads(out.splitlines()[-1])

    return run


def ratings(path):
    draw, lines = random.Random(1), []
    for number in range(120):
        stars = number % 5 + 1
        words = [draw.choice(GOOD if draw.random() < (stars - 1) / 4 else BAD) for _ in range(12)]
        lines.append(f"{stars} | The tram was {' '.join(words)}.")
    path.write_text("\n".join([*lines, "no rating here"]), encoding="utf-8")
    return path


@pytest.mark.process
def test_the_tutorial_imports_trains_predicts_inspects_and_exports(
    tutorial, ask, forked_workers, tmp_path
):
    project, model = tmp_path / "p.glossbench", tmp_path / "tiny.characters"
    model.write_text('{"width": 16}', encoding="utf-8")
    assert main(["project", "new", str(project)]) == 0

    read = ask("import", project, ratings(tmp_path / "a.ratings"))
    assert (read["documents"], len(read["skipped"])) == (120, 1)

    run = ask(
        *("train", project, "--task", "my-plugin.ordered", "--model", model),
        *("--set", "epochs=8", "--set", "batch_size=16", "--set", "device=cpu"),
        *("--set", "layers=mix"),
    )
    assert run["scores"]["dev"]["kappa"] > 0.3  # chance is 0

    name = run["run"]
    answer = ask("predict", name, "--project", project, "--text", "It was clean, quick, prompt.")
    assert answer["fields"] == ["my-plugin.grade"] and answer["grade"] in set("12345")
    assert answer["above"] == sorted(answer["above"], reverse=True)

    looked = ask(
        *("inspect", name, "--project", project, "--inspector", "my-plugin.lengths"),
        *("--text", "two words"),
    )
    assert looked["result"] == {"words": 2, "mean": 4.0}

    template = tmp_path / "rate.txt"
    template.write_text("{{ text }} Stars: {{ label }}", encoding="utf-8")
    prompted = ask(
        *("prompt", project, "--backend", "my-plugin.overlap", "--model", "overlap-folded"),
        *("--template", template, "--shots", "0", "--layer", "rating"),
    )
    assert 0 <= prompted["scores"]["accuracy"] <= 1

    formats = "hf,onnx,my-plugin.arrays"
    exported = ask("export", project, tmp_path / "out", "--run", name, "--formats", formats)
    assert exported["check"]["equal_labels"] == 1.0
    assert ",".join(exported["folders"]) == formats
    alone = ask("export", project, tmp_path / "x", "--run", name, "--formats", "my-plugin.arrays")
    assert alone["check"]["equal_labels"] == 1.0 and alone["check"]["largest_difference"] < 1e-5
    files = {path.name for path in (tmp_path / "x/my-plugin.arrays").iterdir()}
    assert files == {"weights.npz", "README.md"}


def test_the_options_of_its_importer_are_set_on_the_command_line(tutorial, ask, capfd, tmp_path):
    project, file = tmp_path / "p.glossbench", tmp_path / "a.txt"
    file.write_text("4 | Good.\n1 | Late.\n5 | Clean.\n", encoding="utf-8")
    assert main(["project", "new", str(project)]) == 0

    (read,) = ask("import", project, file, "--dry-run", "--set", "lowest=4")
    reason = "the line does not begin with a rating from 4 to 5"
    assert (read["checked"], read["problems"]) == (3, [{"line": 2, "reason": reason}])
    (read,) = ask("import", project, file, "--dry-run", "--set", "separator=/")
    assert (read["checked"], read["failed"]) == (3, 3)

    for wrong, words in (("lowest=6", "expected one of 1, 2"), ("colour=red", "has no option")):
        assert main(["import", str(project), str(file), "--dry-run", "--set", wrong]) == 1
        assert words in capfd.readouterr().err


@pytest.mark.process
def test_the_method_of_the_tutorial_trains_the_biases_and_the_head(
    tutorial, ask, forked_workers, tmp_path
):
    project, model = tmp_path / "p.glossbench", tmp_path / "tiny.characters"
    model.write_text('{"width": 16}', encoding="utf-8")
    assert main(["project", "new", str(project)]) == 0
    ask("import", project, ratings(tmp_path / "a.ratings"))

    run = ask(
        *("train", project, "--task", "classify", "--model", model),
        *("--set", "method=my-plugin.biases", "--set", "epochs=1", "--set", "device=cpu"),
    )

    with contextlib.closing(Project.open(project)) as opened:
        trained = run_results.trained(runs.by_name(opened.db, run["run"]))
    assert 0 < trained.trained_parameters < trained.parameters / 10


@pytest.mark.process
def test_the_objective_of_the_tutorial_shows_a_batch_and_trains_a_model_of_the_family(
    tutorial, ask, forked_workers, tmp_path
):
    texts, model = tmp_path / "texts.txt", tmp_path / "tiny.characters"
    texts.write_text("\n\n".join(["The tram was late, and the bus was clean."] * 150), "utf-8")
    model.write_text('{"width": 16}', encoding="utf-8")
    given = ("--objective", "my-plugin.replaced", "--model", model, "--set", "device=cpu")

    shown = ask("pretrain", texts, *given, "--show-batch")
    units = shown["rows"][0]["units"]
    found = [(unit["input"], unit["target"]) for unit in units]
    changed = [a != b for (a, _), b in zip(found, shown["rows"][0]["original"], strict=True)]
    assert changed == [target == "replaced" for _, target in found] and any(changed)

    result = ask("pretrain", texts, tmp_path / "out", *given, "--set", "epochs=6")
    losses = [entry["losses"]["replaced"] for entry in result["curve"]]
    assert losses[-1] < losses[0] and "perplexity" not in result["curve"][0]
    trained = tmp_path / "out"
    assert {path.name for path in trained.iterdir()} >= {"model.characters", "weights.safetensors"}
    assert (trained / "objective/my-plugin.replaced.safetensors").is_file()


def test_its_exporter_writes_class_and_text(tutorial, ask, jobs_in_process, tmp_path):
    project, file = tmp_path / "p.glossbench", tmp_path / "a.ratings"
    file.write_text("4 | Good.\n1 | Late.\n", encoding="utf-8")
    assert main(["project", "new", str(project)]) == 0
    ask("import", project, file)

    ask("export-data", project, tmp_path / "out.lines", "--format", "my-plugin.lines")

    assert (tmp_path / "out.lines").read_text(encoding="utf-8") == "4\t'Good.'\n1\t'Late.'\n"


def test_its_baseline_learns_lengths_and_its_strategy_prefers_the_middle(tutorial, tmp_path):
    get = registry.registry().get
    documents = [Document(str(n), (("text", "x" * n),)) for n in (2, 4, 20)]
    golds = [ClassGold(label) for label in ("short", "short", "long")]
    fitted = get("baseline", "my-plugin.length").fit(
        tasks.info("classify"), documents, golds, ("short", "long", "never"), seed=1
    )

    fitted.save(tmp_path)
    loaded = get("baseline", "my-plugin.length").load(tmp_path)
    logits = loaded.logits(prepared(tasks.info("classify"), documents))
    assert [row.argmax() for row in logits] == [0, 0, 1]
    assert logits[0].tolist() == [-1.0, -18.0, 2 - 1e6]  # means 3 and 20, no document of the third

    pool = Pool(
        2, decisions=Decisions.of([np.array([[0.5, 0.0, 0.5]]), np.array([[0.0, 0.0, 1.0]])])
    )
    scores = get("strategy", "my-plugin.middle")().scores(pool)
    assert scores.tolist() == [0.0, -1.0]


SHELL = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_its_backend_scores_answers_and_writes_replies(tutorial):
    backend = registry.registry().get("backend", "my-plugin.overlap")("exact", {"weight": 1.0})
    asked = [GenerationRequest(text="late late quick", choices=("quick", "late"))] * 2

    ((score,),) = backend.score([Prompt("late late", "late", "")])
    first, second = backend.generate(asked, lambda _number, _reply: False)

    assert score == pytest.approx(np.log((1 + 2) / (2 + 2))) and backend.can == {SCORE, GENERATE}
    assert (first.text, first.finish, second.finish) == ("late", STOP, CANCELLED)


def test_the_commands_of_the_page_run_as_written(monkeypatch, capfd):
    registry.registry.cache_clear()
    monkeypatch.chdir(FOLDER.parent)
    lines = [line for block in SHELL.findall(README) for line in block.splitlines()]
    assert len(lines) >= 3

    for line in lines:
        monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
        program, *arguments = shlex.split(line, comments=True)
        assert program == "glossbench" and main(arguments) == 0, line

    assert "Enable it?" in capfd.readouterr().err
    assert [plugin.state for plugin in plugins.all_plugins() if plugin.plugin.id == "tmx"] == [
        "enabled"
    ]
    a_plugin.forget("tmx")
    registry.registry.cache_clear()


def test_the_stable_interface_lists_every_module_that_tutorial_and_examples_import():
    listed = re.findall(r"`(workbench[a-z_.]*[a-z_*])`", README)
    patterns = [re.compile(re.escape(name).replace(r"\*", r"\w+") + "$") for name in listed]
    code = [path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py")]

    used = set().union(*(imported(source) for source in (*code, *CODE.findall(README))))

    assert len(used) > 20
    assert [name for name in sorted(used) if not any(p.match(name) for p in patterns)] == []


def imported(source):
    """Modules of the workbench that a source imports, inside functions too."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {
        name
        for node in nodes
        if (node.module or "").startswith("workbench")
        for name in modules_of(node.module, [alias.name for alias in node.names])
    }


def modules_of(module, names):
    """`from workbench.metrics import classes` imports a module of a package."""
    place = FOLDER.parent / module.replace(".", "/")
    inner = [name for name in names if (place / f"{name}.py").is_file()]
    return [f"{module}.{name}" for name in inner] if inner else [module]


def test_every_module_of_the_stable_interface_exists():
    for name in re.findall(r"`(workbench\.[a-z_.]*[a-z_])`", README):
        place = FOLDER.parent / name.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__init__.py").is_file(), name


def test_nothing_outside_its_folder_names_the_plugin(tutorial):
    """Contributions of all these kinds are added by a folder alone."""
    kinds = {contribution.kind for contribution in tutorial.contributions}
    names = [tutorial.id, *(contribution.id for contribution in tutorial.contributions)]

    code = FOLDER.parent / "workbench"
    places = [*code.rglob("*.py"), *code.rglob("*.toml")]
    naming = [
        (path.name, word)
        for path in places
        for word in names
        if word in path.read_text(encoding="utf-8")
    ]

    assert kinds == {
        "task",
        "prediction",
        "family",
        "inspector",
        "backend",
        "importer",
        "exporter",
        "baseline",
        "strategy",
        "segmenter",
        "method",
        "model_exporter",
        "objective",
        "panel",
    }
    assert len(places) > 400 and naming == []


def test_the_segmenter_of_the_tutorial_finds_the_longest_words(tutorial):
    document = Document("", (("text", "地铁今天又晚点。 ok"),))

    (found,) = segmenters.segmented([document], "my-plugin.longest")

    words = [document.text[start:end] for start, end in found.tokens["text"]]
    assert words == ["地铁", "今天", "又", "晚点", "。", "o", "k"]
    assert "my-plugin.longest" in segmenters.hint([document], segmenters.DEFAULT)
