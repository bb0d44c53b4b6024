"""A new BiLSTM is trained from its name, with settings that only its family has."""

import pytest

torch = pytest.importorskip("torch")

from tests import stacked  # noqa: E402
from tests.models.test_every_family import data, finish  # noqa: E402, F401
from workbench.base import paths  # noqa: E402
from workbench.base.errors import SpecError  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.tasks.predictor import Predictor  # noqa: E402
from workbench.training import loop  # noqa: E402
from workbench.training.spec import TrainSpec, options, parse_settings  # noqa: E402

NEW = str(paths.resource("models") / "bilstm")
LEARNS = {"epochs": 15, "batch_size": 4, "device": "cpu", "lstm_width": 16, "decoder": "crf"}


@pytest.fixture
def train(data, tmp_path):  # noqa: F811
    def run(task="tag", layer="places", model=NEW, **settings):
        given = {**LEARNS, **settings}
        if task != "tag":
            del given["decoder"]
        spec = TrainSpec(task, layer, model, options=given, family="bilstm")
        return finish(loop.train(spec, data, tmp_path / "run")), tmp_path / "run" / "model"

    return run


def test_a_tagger_learns_from_scratch_and_is_reloaded(train, data):  # noqa: F811
    result, folder = train()

    assert result.evaluations["dev"].scores["span_f1"] == 1.0
    predicted = Predictor.load(folder, "cpu").predict(
        [record.document for record in data.records[:2]]
    )
    assert [[span.label for span in prediction.spans] for prediction in predicted] == [
        ["stop"],
        ["stop"],
    ]
    assert models.card(folder).width == 32


@pytest.mark.parametrize("pooling", ["mean", "last", "concat"])
def test_documents_are_classified_by_pooled_states(train, pooling):
    result, _folder = train("classify", "tone", pooling=pooling, learning_rate=0.01)

    assert result.evaluations["dev"].scores["accuracy"] == 1.0


def test_further_training_starts_from_the_weights_of_a_run(train, data, tmp_path):  # noqa: F811
    _result, folder = train(epochs=1)
    given = {"epochs": 1, "device": "cpu", "learning_rate": 1e-8, "locked_dropout": 0.1}
    spec = TrainSpec("tag", "places", str(folder), options=given, family="bilstm")

    finish(loop.train(spec, data, tmp_path / "again"))

    both = [Predictor.load(path, "cpu").encoder for path in (folder, tmp_path / "again" / "model")]
    for item, other in zip(*(encoder.parameters() for encoder in both), strict=True):
        torch.testing.assert_close(item, other, atol=1e-5, rtol=0)
    assert both[1].config.locked_dropout == 0.1


def test_random_initial_weights_replace_those_of_the_models_too(tmp_path):
    given = stacked.models(tmp_path / "models")
    text = f"words+{given['elmo']}"

    pretrained, random, again = (
        torch.cat([p.flatten() for p in stacked.new(text, seed=3, random=chosen).parts().frozen])
        for chosen in (False, True, True)
    )

    assert not torch.equal(pretrained, random) and torch.equal(random, again)


def test_the_settings_of_a_family_belong_to_its_models_alone():
    names = [option.name for option in options("tag", None, "bilstm")]

    assert "embeddings" in names and "embeddings" not in [option.name for option in options("tag")]
    assert parse_settings("tag", {"embeddings": "words"}, "bilstm") == {"embeddings": "words"}
    with pytest.raises(SpecError, match="a setting of BiLSTM over stacked embeddings"):
        parse_settings("tag", {"embeddings": "words"})
