"""Lines of the system check: states, events, and folders without the user's name."""

from pathlib import Path

from workbench.base.system_check import OK, PROBLEM, WARNING, Check, shown, worst


def test_the_worst_state_counts():
    fine, bad = Check("a.x", "X", "1"), Check("a.y", "Y", "2", PROBLEM, "Mend it.")
    odd = Check("a.z", "Z", "3", WARNING, "Look at it.")

    assert (worst(()), worst((fine, odd)), worst((bad, fine, odd))) == (OK, WARNING, PROBLEM)


def test_a_check_goes_through_an_event_unchanged():
    check = Check("storage.cache", "Cache", "writable", WARNING, "Make room.")

    assert check.to_event()["kind"] == "check"
    assert Check.from_event(check.to_event()) == check and check.group == "storage"


def test_a_folder_is_shown_without_the_name_of_the_user(user_dir, tmp_path):
    assert shown(user_dir / ".cache" / "glossbench") == str(Path("~/.cache/glossbench"))
    assert shown(tmp_path / "elsewhere") == str(tmp_path / "elsewhere")


def test_sizes_are_written_by_the_reader_and_pass_through_an_event():
    check = Check("computing.memory", "Memory", "{free} free", sizes={"free": 2_100_000_000})

    assert Check.from_event(check.to_event()) == check
    assert check.describe() == "2.1 GB free"
    assert check.describe(lambda count: f"{count} B") == "2100000000 B free"
