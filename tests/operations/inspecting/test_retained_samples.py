"""Samples of language models that the user keeps."""

from workbench.base import paths
from workbench.operations.inspecting import retained_samples
from workbench.operations.inspecting.retained_samples import KeptSample


def test_a_kept_sample_is_there_again_until_it_is_dropped(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "data_folder", lambda: tmp_path / "new")
    first, second = (KeptSample("Late", text, "gpt", {"seed": 1}) for text in ("é\n", "b"))

    for sample in (first, second, first):
        retained_samples.keep(sample)
    assert retained_samples.kept() == (first, second)

    retained_samples.drop(first)
    assert retained_samples.kept() == (second,)


def test_a_damaged_line_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "data_folder", lambda: tmp_path)
    retained_samples.keep(KeptSample("Late", "again", "gpt"))
    file = tmp_path / "samples.jsonl"
    file.write_text("{nothing\n" + file.read_text())

    assert [sample.text for sample in retained_samples.kept()] == ["again"]
