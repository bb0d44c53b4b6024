"""The Models state: cards, adding, removing, trusting; a download from its job's events.

No window, no worker.
"""

import gzip
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import tiny_models
from tests.held import Held
from tests.panel_tasks import add_tasks
from tests.starters import SHIPPED
from workbench.base.errors import JobFailed, WorkbenchError
from workbench.base.settings import Settings, load
from workbench.models import spec
from workbench.operations.models.recommend import Ranked
from workbench.operations.runs import published
from workbench.pretraining.report import FIRST_BATCH
from workbench.pretraining.results import ModelFit
from workbench.ui.panels.models.download import DownloadState, repository_words
from workbench.ui.panels.models.recommend_state import RecommendState, per_token
from workbench.ui.panels.models.state import (
    ModelsState,
    facts,
    number_words,
    problem_words,
)


class HubQueue:
    """Runs no worker: answers jobs with `answers`, in order; what is called gets the watch.

    `specs` are the jobs that have been run.
    """

    def __init__(self):
        self.specs, self.answers = [], []

    def run(self, spec, watch):
        self.specs.append(spec)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(watch) if callable(answer) else answer


class Context(SimpleNamespace):
    """The context of a panel, without threads."""

    def fail(self, error):
        self.faults.append(error)

    def attempt(self, act, *args, **named):
        try:
            return act(*args, **named)
        except WorkbenchError as error:
            self.faults.append(error)

    def note(self, text, undo=False, *, action=""):
        self.notes.append((text, undo))

    def go(self, page, **args):
        self.went.append((page, args))


@pytest.fixture
def context():
    made = Context(
        settings=Settings(), project=None, queue=HubQueue(), faults=[], notes=[], went=[]
    )
    return add_tasks(made)


@pytest.fixture
def state(context):
    made = ModelsState(context)
    made.refresh()
    yield made
    made.close()


@pytest.fixture
def mine(tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "mine")
    return tmp_path / "mine"


def names(state):
    return [card.name for card in state.cards]


def test_the_starters_stand_there_from_the_beginning(state):
    assert names(state) == [*SHIPPED] and not state.busy


def test_a_folder_is_added_and_the_note_takes_it_back(state, context, mine):
    state.add(mine)
    assert names(state)[-1] == "mine"

    text, undo = context.notes[-1]
    undo()
    assert "mine" in text and names(state) == [*SHIPPED]


def test_an_added_folder_is_selected_and_no_filter_hides_it(state, mine):
    state.choose(state.everything[0].key)
    state.filter(search="gpt")

    state.add(mine)

    assert state.selected.card.path == str(mine)
    assert state.chosen in [row.key for row in state.rows]


def test_a_folder_that_is_no_model_is_told_and_changes_nothing(state, context, tmp_path):
    state.add(tmp_path)

    assert "config.json is missing" in str(context.faults[0]) and names(state) == [*SHIPPED]


def test_folders_wait_while_another_one_is_checked(context, state, mine, tmp_path):
    shutil.copytree(mine, tmp_path / "other")
    held = Held(context)
    for folder in (mine, tmp_path / "none", tmp_path / "other"):
        state.add(folder)
    assert state.adding == "mine" and len(held) == 1

    held.rest()

    assert names(state)[-2:] == ["mine", "other"] and not state.adding
    assert len(context.faults) == 1


def test_a_folder_is_examined_before_it_is_added(state, mine, tmp_path):
    tiny_models.pickle_weights(mine)
    found = []

    state.examine(mine, found.append)
    state.examine(tmp_path, found.append)
    state.add(mine, trust=True)
    state.examine(mine, found.append)

    assert [item.only_untrusted for item in found] == [True, False, False] and found[0].layers == 2
    assert state.cards[-1].usable and state.cards[-1].pickled


def test_forgetting_a_broken_folder_can_be_undone_too(state, context, mine):
    context.settings.model_folders = [str(mine), str(mine / "gone")]
    state.refresh()

    state.forget(state.cards[-1])
    assert names(state)[-1] == "mine"
    context.notes[-1][1]()
    assert names(state)[-1] == "gone" and not state.cards[-1].usable


def test_a_download_is_deleted_and_the_note_says_what_is_free(state, context, user_dir, mine):
    from tests.operations.models.test_installed import cached

    repository = cached(user_dir, mine, ours=True)
    state.refresh()
    assert state.cards[-1].downloaded

    state.delete(state.cards[-1])
    assert names(state) == [*SHIPPED] and not repository.exists()
    assert "some/tiny was deleted" in context.notes[-1][0]


def test_unchanged_cards_are_not_shown_anew(state):
    output = []
    state.listen(state.changed, output.append)

    state.refresh()

    assert not any("cards" in fields for fields in output)


def test_forgetting_can_be_taken_back(state, context, mine):
    state.add(mine)

    state.forget(state.cards[-1])
    assert names(state) == [*SHIPPED] and (mine / "config.json").is_file()

    context.notes[-1][1]()
    assert names(state)[-1] == "mine"


def test_a_card_leads_on_to_train_and_inspect(state, context):
    assert not state.can_train
    context.project = SimpleNamespace(read_only=False)

    assert state.can_train
    state.train(state.cards[0])
    state.inspect(state.cards[1])
    assert context.went == [
        ("train", {"model": "starter-bert"}),
        ("inspect", {"model": "starter-elmo"}),
    ]


def test_a_published_model_is_added_as_a_run_on_a_layer_that_fits(state, context, monkeypatch):
    context.project, card = SimpleNamespace(read_only=False), state.cards[0]
    context.queue, context.attempt = None, lambda act, *args, **named: act(*args, **named)
    made, layer = [], SimpleNamespace(id=1, name="tone")
    monkeypatch.setattr(published, "layers", lambda project, item: (layer,) if item == card else ())

    def create(project, queue, item, on):
        made.append((item, on))
        return SimpleNamespace(name="sentiment")

    monkeypatch.setattr(published, "create", create)
    output = []
    context.note = output.append

    assert state.layers_of(card) == (layer,) and state.layers_of(state.cards[1]) == ()
    state.add_run(card, layer)

    assert made == [(card, layer)]
    assert output[-1] == "Added sentiment as a run on tone; see Results."


def test_a_change_while_the_cards_are_read_is_not_missed(context, mine):
    held = Held(context)
    state = ModelsState(context)
    state.refresh()
    held.compute(0)
    state.add(mine)

    held.rest()

    assert names(state)[-1] == "mine" and not state.busy
    assert state.selected.card.name == "mine"
    state.close()


def test_numbers_are_read_easily(state):
    assert [number_words(item) for item in (0, 950, 22_893_116, 6_700_000_000)] == [
        "–",
        "950",
        "22.9 M",
        "6.7 B",
    ]
    assert dict(facts(state.cards[0]))["Layers × hidden size"] == "6 × 384"


def test_what_is_missing_is_said_with_the_files_name_as_it_is(state, context, mine):
    (mine / "model.safetensors").unlink()
    context.settings.model_folders = [str(mine), str(mine / "gone")]
    state.refresh()

    assert [problem_words(card) for card in state.cards[-2:]] == [
        "model.safetensors is missing.",
        "There is no such file or folder.",
    ]


# ---------------------------------------------------------------- download

TOLD = {
    "id": "some/tiny",
    "revision": "c" * 40,
    "licence": "mit",
    "size_bytes": 2_000_000,
    "files": [{"name": "config.json", "bytes": 1}, {"name": "model.safetensors", "bytes": 2}],
    "pickled": False,
    "family": "bert",
}


@pytest.fixture
def download(context):
    context.settings.offline = False
    made = DownloadState(context)
    yield made
    made.close()


def test_offline_nothing_is_asked_until_the_person_allows_it(context):
    download = DownloadState(context)
    download.look_up("some/tiny")
    assert "offline" in download.error and context.queue.specs == []

    download.go_online()
    context.queue.answers = [TOLD]
    download.look_up("some/tiny")
    assert download.stage == "found" and not load().offline
    assert context.queue.specs[0].target == "workbench.models.hub:look_up"


def test_size_and_licence_are_told_then_it_is_fetched_with_progress(download, context):
    shown = []

    def fetch(watch):
        watch.event({"step": 500_000, "total": 2_000_000, "file": "model.safetensors"})
        shown.append((download.stage, download.share, download.file))
        return {"path": "/cache/some", "stopped": False}

    context.queue.answers = [TOLD, fetch]
    download.look_up("some/tiny")
    words = repository_words(download.repository)
    assert download.stage == "found"
    assert words == "Size: 2.0 MB in 2 files. Licence: MIT. Family: bert."

    download.fetch()
    params = context.queue.specs[1].params
    assert params == {"id": "some/tiny", "revision": "c" * 40, "allow_pickle": False}
    assert shown == [("fetching", 0.25, "model.safetensors")]
    assert download.stage == "done" and download.path == "/cache/some"


def test_pickled_weights_wait_for_trust(download, context):
    context.queue.answers = [{**TOLD, "pickled": True}, {"path": "/cache/some"}]
    download.look_up("some/tiny")
    download.fetch()
    assert len(context.queue.specs) == 1

    download.set_trust(True)
    download.fetch()
    assert context.queue.specs[1].params["allow_pickle"]


def test_a_fault_is_told_and_another_id_can_be_typed(download, context):
    download.look_up("no id at all")
    assert "not a model id" in download.error and download.stage == "ask"

    error = JobFailed("There is no model 'some/none'.", hint="Check the spelling.")
    context.queue.answers = [error]
    download.look_up("some/none")
    assert download.stage == "ask"
    assert download.error == "There is no model 'some/none'. Check the spelling."


def test_cancelling_goes_back_to_what_was_told(download, context):
    def fetch(watch):
        assert download.stage == "fetching"
        download.cancel()
        watch.at(0.5)

    context.queue.answers = [TOLD, fetch]
    download.look_up("some/tiny")
    download.fetch()

    assert download.stage == "found" and "Cancelled" in download.error


def test_closing_cancels_what_runs_and_typing_forgets_what_was_told(download, context):
    cancelled = []

    def close(watch):
        download.close()
        cancelled.append(watch.cancelled)
        return TOLD

    context.queue.answers = [TOLD, close]
    download.look_up("some/tiny")
    download.again()
    assert download.stage == "ask" and download.repository is None

    download.look_up("some/tiny")
    assert cancelled == [True] and download.repository is None


def test_the_hub_is_searched_and_a_revision_looked_up(download, context):
    hits = [{"id": "some/tiny", "downloads": 7, "family": "bert", "licence": "mit"}]
    context.queue.answers = [{"hits": hits}, TOLD]
    download.search("tiny bert")

    assert download.stage == "ask"
    assert [(hit.id, hit.licence) for hit in download.hits] == [("some/tiny", "MIT")]
    download.look_up("some/tiny", " v1.0 ")
    assert context.queue.specs[1].params == {"id": "some/tiny", "revision": "v1.0"}


def test_a_search_needs_words_and_the_network(context):
    download = DownloadState(context)
    download.search("tiny")
    assert "offline" in download.error
    download.go_online()
    download.search("  ")
    assert "Enter words" in download.error and context.queue.specs == []
    download.close()


class MeasuringQueue:
    """Measures two models; `specs` are the jobs that have been run."""

    def __init__(self, meanwhile=lambda: None):
        self.specs, self.meanwhile = [], meanwhile

    def run(self, spec, watch):
        self.specs.append(spec)
        self.texts = json.loads(Path(spec.params["texts"]).read_text(encoding="utf-8"))
        fits = [ModelFit(name, "bert").to_json() for name in ("first", "second")]
        for fit in fits:
            watch.event({"kind": "fit", "fit": fit})
            self.meanwhile()
        return {"fits": fits}


@pytest.fixture
def measured_file(tmp_path):
    (tmp_path / "held-out.txt").write_text("the tram was late\nagain", encoding="utf-8")
    return tmp_path / "held-out.txt"


def test_models_that_are_measured_are_listed_as_they_arrive(context, measured_file):
    listed = []
    context.queue = MeasuringQueue(lambda: listed.append([row.fit.name for row in state.rows]))
    state = RecommendState(context)
    state.read_files([measured_file])

    state.measure()

    assert listed == [["first"], ["first", "second"]]
    assert state.chosen == "first" and not state.busy
    assert not Path(context.queue.specs[0].folder).exists()


def test_models_are_measured_on_text_files_without_a_project(context, measured_file):
    """Perplexity per token: exp of the mean negative log-likelihood, here e^2."""
    context.queue = MeasuringQueue()
    state = RecommendState(context)

    state.read_files([measured_file])
    assert state.source == "Random sample of held-out.txt" and state.can_measure
    state.measure()
    assert " ".join(context.queue.texts) == "the tram was late again"
    fit = ModelFit("m", "bert", scored=10, total=20.0)
    assert per_token(Ranked(fit, True, False, "")) == pytest.approx(7.389056)
    assert per_token(Ranked(ModelFit("v", "vectors"), True, False, "")) is None


def test_the_first_batch_of_a_pretraining_is_shown_from_the_folder_of_the_model(state, mine):
    row = {"units": [{"input": "a", "target": "b", "what": ""}], "notes": {}}
    content = json.dumps({"objective": "causal_lm", "rows": [row, row]}).encode()
    assert not state.has_batch(spec.card(mine))
    (mine / FIRST_BATCH).write_bytes(gzip.compress(content))
    card = spec.card(mine)
    assert state.has_batch(card)

    shown = state.batch(card)
    assert shown.about == "mine  ·  Causal language model" and len(shown.shown) == 2
    assert shown.shown[0].units == (("a", "b", ""),)

    (mine / FIRST_BATCH).write_bytes(b"x")
    assert FIRST_BATCH in state.batch(card).error


def test_a_measurement_that_is_cancelled_while_the_sample_is_drawn_is_not_listed(
    context, measured_file
):
    context.queue = MeasuringQueue()
    state, held = RecommendState(context), Held(context)
    state.read_files([measured_file])
    state.measure()

    state.cancel()
    assert not state.busy and state.message == "Cancelled."
    held.answer(0)

    assert state.rows == () and not state.busy and state.message == "Cancelled."


def test_a_measurement_that_fails_says_why(context, measured_file):
    def run(_spec, _watch):
        raise JobFailed("The worker ended.", hint="Try again.")

    context.queue = SimpleNamespace(run=run)
    state = RecommendState(context)
    state.read_files([measured_file])
    state.measure()

    assert state.error == "The worker ended. Try again." and not state.busy


def test_the_list_that_changed_while_it_could_not_be_read_is_read_again(context):
    held = Held(context)
    state = ModelsState(context)
    state.refresh()
    state.refresh()
    held.fail(0, WorkbenchError("no disk"))

    held.answer(1)

    assert state.cards and not state.busy
    state.close()
