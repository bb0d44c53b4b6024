"""Lists of words by group, and their exchange in texts."""

import pytest

from workbench.base.errors import SpecError
from workbench.inspection.group_swap import info, inspector


def test_pronouns_are_exchanged_as_whole_words_in_their_case():
    pronouns = inspector.read("english-pronouns")

    text = "He said the theme was HIS, and She met him. Her bag was hers; I saw her."
    assert pronouns.swapped(text, "she") == (
        "She said the theme was HERS, and She met her. Her bag was hers; I saw her."
    )
    assert pronouns.swapped(text, "he") == (
        "He said the theme was HIS, and He met him. His bag was his; I saw him."
    )
    assert not pronouns.occurs("The theme of the others")


def test_names_are_exchanged_with_those_at_the_same_place():
    names = inspector.read("english-first-names")

    assert names.swapped("JOHN met Mary and bob.", "women") == "ANNA met Mary and Ada."
    assert set(map(len, names.groups.values())) == {15}


def test_users_add_lists_as_files_and_are_told_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(info.paths, "config_folder", lambda: tmp_path)
    (tmp_path / "groups").mkdir()
    own = tmp_path / "groups" / "artikel.toml"
    own.write_text('[[group]]\nname = "m"\nwords = ["der"]\n[[group]]\nname = "f"\nwords = ["die"]')

    assert {"artikel", "english-pronouns"} <= info.lists().keys()
    assert inspector.read("artikel").swapped("Der Bus und die Bahn", "f") == "Die Bus und die Bahn"
    own.write_text(
        '[[group]]\nname = "m"\nwords = ["der", "dem"]\n[[group]]\nname = "f"\nwords = []'
    )
    with pytest.raises(SpecError, match="equally many words; found: m 2, f 0"):
        inspector.read("artikel")
    own.write_text("[[group]")
    with pytest.raises(SpecError, match="cannot be read"):
        inspector.read("artikel")
    with pytest.raises(SpecError, match="There is no word list .*none.toml") as caught:
        inspector.read(str(tmp_path / "none.toml"))
    assert "artikel" in str(caught.value.hint)
