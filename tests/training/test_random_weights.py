"""`init=random`: what a run learns without pretraining."""

import torch
from safetensors.torch import load_file

from workbench.training import loop
from workbench.training.spec import TrainSpec


def first_weights(data, model, folder, **options):
    """The embeddings after one step with a learning rate that changes nothing."""
    folder.mkdir()
    given = {"epochs": 1, "batch_size": 64, "learning_rate": 1e-8, "device": "cpu"}
    spec = TrainSpec("classify", "c", str(model), "tiny", 1, {**given, **options})
    for _event in loop.train(spec, data, folder):
        pass
    weights = load_file(folder / "model" / "model.safetensors")
    return next(value for name, value in weights.items() if "word_embeddings" in name)


def test_a_run_can_start_from_random_weights(classes, tiny_model, tmp_path):
    source = load_file(tiny_model / "model.safetensors")
    pretrained = next(value for name, value in source.items() if "word_embeddings" in name).float()

    kept = first_weights(classes, tiny_model, tmp_path / "pretrained")
    random = first_weights(classes, tiny_model, tmp_path / "random", init="random")

    assert torch.allclose(kept, pretrained, atol=1e-4)
    assert random.shape == pretrained.shape
    assert not torch.allclose(random, pretrained, atol=1e-3)
