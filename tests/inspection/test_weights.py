"""A pretrained causal model that is read with weights in bfloat16."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests import tiny_models  # noqa: E402
from workbench.base.errors import SpecError  # noqa: E402
from workbench.base.registry import registry  # noqa: E402
from workbench.inspection import spec  # noqa: E402
from workbench.inspection.serve import Inspecting  # noqa: E402
from workbench.inspection.subject import Subject  # noqa: E402
from workbench.models import precision  # noqa: E402
from workbench.models import spec as models  # noqa: E402
from workbench.text.document import Document  # noqa: E402

TEXT = "The tram was late again."
NO_CORPUS = [
    entry.id
    for entry in registry().all("inspector")
    if (info := spec.light(entry.id)) is None or not (info.examines or info.corpus)
]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_models.make(tmp_path_factory.mktemp("llama") / "model", "llama")


@pytest.fixture(scope="module")
def halved(llama):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(precision.devices, "has_bf16", lambda device: True)
        inspecting = Inspecting(Subject(llama, device="cpu", weights="bf16"))
        inspecting.subject.warm_up(Document("", (("text", TEXT),)))
        yield inspecting


def test_every_inspector_of_a_causal_model_answers(halved):
    gives = halved.subject.gives
    fitting = [id for id in NO_CORPUS if not spec.missing(registry().entry("inspector", id), gives)]

    for id in fitting:
        answer = halved.answer({"inspector": id, "documents": [{"texts": {"text": TEXT}}]})
        assert answer.result is not None, id

    assert len(fitting) >= 8
    assert {p.dtype for p in halved.subject.encoder.parameters()} == {torch.bfloat16}


def test_the_scores_are_close_to_those_of_full_weights(llama, halved):
    ids = [halved.subject.preparer.windows([Document("", (("text", TEXT),))], 64).inputs[0].ids]
    full = Subject(llama, device="cpu").language_model

    found = halved.subject.language_model.logits([ids[0].tolist()], [[0, 3]])
    wanted = full.logits([ids[0].tolist()], [[0, 3]])

    assert found.dtype == torch.float32 == next(full.encoder.parameters()).dtype
    np.testing.assert_allclose(found.log_softmax(-1), wanted.log_softmax(-1), atol=0.05)
    assert not torch.equal(found, wanted)


def test_bf16_is_refused_where_it_would_be_emulated(monkeypatch, llama):
    monkeypatch.setattr(precision.devices, "has_bf16", lambda device: False)

    with pytest.raises(SpecError, match="has no hardware support"):
        _ = Subject(llama, device="cpu", weights="bf16").encoder


CPU, GPU = torch.device("cpu"), torch.device("cuda")


@pytest.mark.parametrize(
    ("wanted", "dtype", "device", "bf16"),
    [
        ("auto", "bfloat16", CPU, False),
        ("auto", "float16", GPU, True),
        ("auto", "float32", GPU, False),
        ("fp32", "bfloat16", GPU, False),
        ("bf16", "float32", CPU, True),
    ],
)
def test_auto_reads_half_weights_only_where_they_are_published_and_on_a_gpu(
    monkeypatch, llama, wanted, dtype, device, bf16
):
    monkeypatch.setattr(precision.devices, "has_bf16", lambda device: True)
    card = replace(models.card(llama), dtype=dtype)

    assert precision.of_weights(wanted, card, device) == bf16
    assert not precision.of_weights(wanted, replace(card, gives=("masked_lm",)), device)
