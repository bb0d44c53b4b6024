"""Damaged files: whatever they hold, an importer reads them or refuses them with a message.

`python -m tests.importers.fuzz --help` runs more cases.
"""

from tests.importers import fuzz


def test_damaged_samples_are_read_or_refused_and_never_raise_a_python_error(tmp_path):
    ended, failures = fuzz.run(range(360), fuzz.OWN_SAMPLES, tmp_path)

    assert failures == []
    assert ended["read"] > 150 and ended["refused"] > 30  # the mutations spare neither path


def test_damaged_files_of_annotation_tools_never_raise_a_python_error(tmp_path, data_folder):
    samples = tuple(fuzz.real_samples(data_folder / "datasets/tool-exports"))

    ended, failures = fuzz.run(range(200), samples, tmp_path, seed=1)

    assert failures == [] and sum(ended.values()) == 200


def test_a_case_depends_on_its_number_and_seed_alone():
    cases = [fuzz.make_case(number, fuzz.OWN_SAMPLES, seed=3) for number in range(20)]

    assert cases == [fuzz.make_case(number, fuzz.OWN_SAMPLES, seed=3) for number in range(20)]
    assert len({case.content for case in cases}) > 10


def test_a_python_error_in_an_importer_is_reported_with_its_case(tmp_path, monkeypatch):
    from workbench.importers.text.plain import PlainImporter

    monkeypatch.setattr(PlainImporter, "read", lambda *_: iter([1 // 0]))

    _ended, failures = fuzz.run(range(40), (("a.txt", b"one\ntwo\n"),), tmp_path)

    assert failures and "ZeroDivisionError" in failures[0] and "case" in failures[0]
