"""Links that lead out of a folder."""

from workbench.base.links import companion_leads_out, leads_out


def test_a_file_in_a_folder_that_is_a_link_leads_out(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.txt").write_text("")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "inner").symlink_to(tmp_path / "other")

    assert leads_out(folder / "inner" / "a.txt", folder)


def test_a_companion_may_lie_where_its_file_leads(tmp_path):
    (tmp_path / "corpus").mkdir()
    (tmp_path / "links").mkdir()
    for name in ("a.ann", "a.txt"):
        (tmp_path / "corpus" / name).write_text("")
        (tmp_path / "links" / name).symlink_to(tmp_path / "corpus" / name)
    own = tmp_path / "links" / "b.ann"
    own.write_text("")

    assert not companion_leads_out(tmp_path / "links" / "a.txt", tmp_path / "links" / "a.ann")
    assert companion_leads_out(tmp_path / "links" / "a.txt", own)
