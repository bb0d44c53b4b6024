"""settings.json: kept whole, read whatever stands in it."""

from pathlib import Path

import pytest

from workbench.base.errors import WorkbenchError
from workbench.base.settings import Settings, load


def test_what_is_saved_is_loaded():
    Settings(theme="dark", text_size=125, annotator="Ada", window={"x": 3}).save()

    assert load() == Settings(theme="dark", text_size=125, annotator="Ada", window={"x": 3})


def test_unknown_fields_and_values_of_another_kind_fall_back_to_the_defaults():
    Settings().save()
    Settings().path.write_text(
        '{"theme": "dark", "text_size": "large", "recent": null, "from_the_future": 1}'
    )

    assert load() == Settings(theme="dark")


def test_a_damaged_file_gives_the_defaults_and_is_set_aside():
    path = Settings().path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x00\xff not json")

    assert load() == Settings()
    assert path.with_suffix(".bad.json").read_bytes() == b"\x00\xff not json" and not path.exists()


def test_recent_projects_are_kept_once_newest_first_and_twelve_at_most():
    settings = Settings()

    for number in [*range(14), 5]:
        settings.remember_project(Path(f"/tmp/{number}.glossbench"))

    assert len(settings.recent) == 12 and settings.recent[:2] == [
        "/tmp/5.glossbench",
        "/tmp/13.glossbench",
    ]
    settings.forget_project("/tmp/5.glossbench")
    assert "/tmp/5.glossbench" not in load().recent


def test_what_somebody_wrote_into_the_file_does_no_harm():
    Settings().save()
    Settings().path.write_text(
        '{"recent": [5, null, "/a.glossbench"], "text_size": true,'
        ' "devices": {"all": 5, "best": "cpu"}, "theme": "dark",'
        ' "window": {"geometry": 5, "keys": {"a": "F2", "b": ["F3"]}, "annotate.off": [1],'
        ' "annotate.zoom": "big", "dock.jobs": true},'
        ' "precision_trials": {"a": 2.5, "b": "fast", "c": null}}'
    )

    assert load() == Settings(
        recent=["/a.glossbench"],
        theme="dark",
        window={"keys": {"b": ["F3"]}, "dock.jobs": True},
        precision_trials={"a": 2.5},
    )


def test_settings_that_cannot_be_saved_are_reported(monkeypatch):
    def full(*_paths):
        raise OSError(28, "No space left on device")

    settings = Settings(theme="dark")
    settings.save()
    monkeypatch.setattr("os.replace", full)
    settings.theme = "light"

    with pytest.raises(WorkbenchError, match="settings.json: No space left on device"):
        settings.save()
    received = []
    settings.tell_faults(received.append)
    settings.save()

    assert (
        len(received) == 1
        and load().theme == "dark"
        and list(settings.path.parent.iterdir()) == [settings.path]
    )


def test_names_of_files_that_are_no_unicode_are_kept():
    settings = Settings()
    settings.remember_project(Path("/tmp/caf\udce9.glossbench"))

    assert load().recent == ["/tmp/caf\udce9.glossbench"]
