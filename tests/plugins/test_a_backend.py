"""A prompt backend from a plugin, in the window and on the command line."""

import json
import logging
import sys
from types import SimpleNamespace

import pytest

from tests import a_plugin, panel_tasks
from workbench.base import registry
from workbench.base.errors import SpecError
from workbench.base.settings import Settings
from workbench.cli.main import main
from workbench.operations.annotation import suggest
from workbench.operations.application import plugin_checks, plugins
from workbench.operations.prompts import prompt, prompt_fill, prompt_models
from workbench.operations.runs import results
from workbench.operations.runs.run_recorder import wire
from workbench.project.project import Project
from workbench.prompting.backends import spec as backends
from workbench.prompting.base import Prompt
from workbench.prompting.spec import PromptSpec
from workbench.ui.panels.prompts.state import PromptsState

pytestmark = pytest.mark.process  # the worker that renders templates

CODE = '''
"""Labels are as probable as their words are frequent in the prompt."""

import math

from workbench.base.options import Option
from workbench.prompting.backends.base import Backend
from workbench.prompting.backends.spec import BackendInfo, PromptModel


class OverlapInfo(BackendInfo):
    id = "overlap.words"
    title = "Word overlap"
    options = (Option("weight", "float", 1.0, "Weight of each repetition.", low=0.0),)
    limit = 300

    def models(self, at_hand):
        return [PromptModel("exact", "exact"), PromptModel("folded", "folded")]


INFO = OverlapInfo()


class Overlap(Backend):
    info = INFO
    kind = "overlap"
    versions = {"overlap": "0.1.0"}

    def __init__(self, model, options):
        self.fold = model == "folded"
        self.weight = options["weight"]

    def score(self, prompts):
        return [self.words(one.before, one.answer) for one in prompts]

    def words(self, before, answer):
        if self.fold:
            before, answer = before.casefold(), answer.casefold()
        known = before.split()
        seen = [self.weight * known.count(word) for word in answer.split()]
        return [min(0.0, math.log((1 + n) / (2 + len(known)))) for n in seen]
'''
ENTRY = {
    "id": "overlap.words",
    "title": "Word overlap",
    "object": "overlap.code:Overlap",
    "info": "overlap.code:INFO",
}
TEMPLATE = (
    "{% for one in examples %}{{ one.text }} is about {{ one.label }}\n{% endfor %}"
    "{{ text }} is about {{ label }}"
)


@pytest.fixture
def make(tmp_path):
    """`make(code)` → the plugin, enabled in a registry of its own."""
    registry.registry.cache_clear()

    def enable(code=CODE, id="overlap"):
        entries = {"backend": [ENTRY]}
        folder = a_plugin.make(tmp_path, id=id, package="overlap", entries=entries, code=code)
        plugin = plugins.find(str(folder))
        plugins.enable(plugin)
        return plugin

    yield enable
    for name in [module for module in sys.modules if module.partition(".")[0] == "overlap"]:
        del sys.modules[name]
    registry.registry.cache_clear()


@pytest.fixture
def sample(copy_sample, tmp_path):
    project = Project.open(copy_sample(tmp_path))
    yield project
    project.close()


def spec(**more):
    given = {
        "template": TEMPLATE,
        "model": "folded",
        "model_name": "folded",
        "layer": "class",
        "shots": 6,
        "backend": "overlap.words",
    }
    return PromptSpec(**{**given, **more})


def test_the_check_finds_it_whole(make):
    (found,) = plugin_checks.check(make())

    assert (found.kind, found.error) == ("backend", "")


def test_the_check_names_what_a_backend_lacks(make):
    (found,) = plugin_checks.check(make(CODE.replace("def score", "def scores")))

    assert found.error == "It does not implement score."


def test_a_run_over_a_split_is_scored_reported_and_suggests(make, sample, inline_jobs):
    make()
    wiring = wire(sample, inline_jobs)

    run = prompt.run(sample, inline_jobs, spec(options={"weight": 2}))
    inline_jobs.wait(inline_jobs.jobs[-1], 100)

    done = results.run(sample, run.id)
    assert done.status == "done" and done.versions == {"overlap": "0.1.0"}
    assert done.result["n"] == 60 and done.result["language_model"] == "overlap"
    assert 0 < results.evaluate_stored(sample, done, done.spec["split"]).scores["accuracy"] < 1
    assert prompt.spec_of(done).options == {"weight": 2}

    outcome = suggest.suggest(sample, inline_jobs, done)
    wiring.close()

    assert outcome.suggestions > 0


def test_options_reach_the_answers(make, sample):
    make()
    tables = [{"a": Prompt("late late", "late", "late late")}]
    result = {}
    from workbench.prompting.backends import serve

    for weight in (1.0, 2.0):
        params = prompt.host(sample, spec(options={"weight": weight})).params
        with_parts = serve.scored(serve.load(params), tables)
        result[weight] = with_parts[0]["a"]

    assert result[1.0] == pytest.approx([-0.2876820724517809])  # log (1 + 2) / (2 + 2)
    assert result[2.0] == [0.0]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"options": {"wait": 1}}, "overlap.words has no option 'wait'"),
        ({"options": {"weight": -1}}, "weight is '-1'"),
        ({"backend": "overlap.none"}, "no prompt backend 'overlap.none'"),
    ],
)
def test_wrong_options_and_backends_are_reported_before_the_start(make, sample, more, says):
    make()

    with pytest.raises(SpecError, match=says):
        prompt.prepare(sample, spec(**more))


def test_words_are_counted_up_to_its_limit(make, sample):
    make()
    with prompt_fill.Fillers(sample) as fillers:
        filler = fillers.filler(spec(shots=64))
        preview = prompt_fill.preview(filler, prompt_fill.first_document(sample, filler.layer))

    assert preview.limit == 300 and preview.dropped > 0
    assert preview.tokens == max(map(len, map(text_words, preview.prompts.values()))) <= 300


def text_words(parts):
    from workbench.text.segment import words

    return words("".join(parts))


@pytest.fixture
def state(make, sample):
    """The state of the Prompts page, made when the test has enabled the plugin."""
    made = []

    def build():
        context = panel_tasks.context(
            project=sample,
            queue=SimpleNamespace(changed=sample.changed, jobs=(), spare=None),
            settings=Settings(),
            commands_changed=lambda: None,
            dispatch=lambda act: act(),
        )
        made.append(PromptsState(context))
        return made[-1]

    yield build
    for queue in made:
        queue.close()


def test_its_models_are_on_the_page_after_those_of_this_computer(make, state):
    make()

    page = state()

    assert [model.key for model in page.models.models][-2:] == ["exact", "folded"]
    assert (
        page.models.models[-1].title == "folded (Word overlap)"
        and page.models.key == "starter-bert"
    )
    page.models.choose("folded")
    assert (page.draft.spec.backend, page.draft.spec.model) == ("overlap.words", "folded")
    assert page.preview.prompt.limit == 300 and page.run.ready and page.preview.problem == ""


def test_options_on_the_page_are_those_of_the_backend(make, state):
    make()
    page = state()
    assert page.models.choice.options == () and page.draft.spec.options == {}

    page.models.choose("exact")
    page.draft.change(options={"weight": "2"})
    page.models.choose("folded")
    assert page.draft.spec.options == {"weight": "2"} and page.preview.problem == ""
    page.draft.change(options={"weight": "much"})
    assert "weight is 'much'" in page.preview.problem

    page.models.choose("starter-bert")
    assert page.draft.spec.options == {} and page.preview.problem == ""


def test_a_plugin_enabled_while_the_page_is_shown_appears_and_goes(make, state):
    page = state()
    plugin = make()
    assert "folded" in [model.key for model in page.models.models]
    page.models.choose("folded")

    plugins.disable(plugin)

    assert page.models.key == "starter-bert" and "folded" not in [
        model.key for model in page.models.models
    ]


def test_models_of_the_same_name_are_told_apart(make):
    make(CODE.replace('"exact", "exact"', '"starter-bert", "x"'))

    result = {choice.key: choice.backend for choice in prompt_models.offer().choices}

    assert result["starter-bert"] == backends.DEFAULT
    assert result["starter-bert · overlap.words"] == "overlap.words"


@pytest.mark.parametrize(
    "code", ["1 / 0", CODE.replace("return [PromptModel", "return 1 / 0, [PromptModel")]
)
def test_a_broken_backend_leaves_the_page_with_the_other_models(make, state, code, caplog):
    make(code)

    with caplog.at_level(logging.CRITICAL):
        page = state()

    assert page.run.ready and {model.backend for model in page.models.models} == {backends.DEFAULT}
    [failed] = page.models.unavailable
    assert (failed.backend, failed.title) == ("overlap.words", "Word overlap")
    assert "division by zero" in failed.reason and "overlap" in failed.reason.splitlines()[0]


def test_the_command_line_asks_it_in_a_worker(make, sample, tmp_path, capfd):
    make()
    template = tmp_path / "t.jinja"
    template.write_text(TEMPLATE)
    given = ["prompt", sample.path, "--template", template, "--backend", "overlap.words"]

    def call(*more):
        capfd.readouterr()
        code = main([str(item) for item in (*given, *more)])
        return code, *capfd.readouterr()

    sample.close()
    code, out, err = call("--model", "folded", "--layer", "class", "--set", "weight=2", "--json")
    assert code == 0, err
    loaded = json.loads(out)
    assert (loaded["backend"], loaded["model"], loaded["n"]) == ("overlap.words", "folded", 60)

    code, _out, err = call("--model", "other")
    assert code == 1 and "has no model 'other'" in err and "Known: exact, folded." in err
