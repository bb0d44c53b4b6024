import pytest

from workbench.base.errors import WorkbenchError
from workbench.operations.runs import results, run_list
from workbench.operations.runs.run_list import RunFilter
from workbench.storage.runs import runs


@pytest.fixture
def three(project):
    with project.write():
        return [runs.add(project.db, name).id for name in ("a", "b", "c")]


def named(project, shown):
    return [run.name for run in shown.of(results.all_runs(project))]


def test_runs_are_filtered_by_group_tag_and_archive(project, three):
    run_list.set_group(project, three[:2], " paper ")
    run_list.set_tags(project, three[1:], add=("best", "long"))
    run_list.archive(project, three[2:])

    found = results.all_runs(project)
    assert (run_list.groups(found), run_list.tags(found)) == (("paper",), ("best", "long"))
    assert named(project, RunFilter()) == ["b", "a"]
    assert named(project, RunFilter(archived=True)) == ["c", "b", "a"]
    assert named(project, RunFilter(group="paper", tag="best")) == ["b"]
    assert named(project, RunFilter(tag="long", archived=True)) == ["c", "b"]


def test_every_change_can_be_taken_back(project, three):
    before = results.all_runs(project)
    changes = [
        run_list.rename(project, three[0], "renamed"),
        run_list.set_group(project, three, "g"),
        run_list.set_tags(project, three, add=("x",)),
        run_list.set_note(project, three[:1], "a note"),
        run_list.archive(project, three),
    ]
    first = results.run(project, three[0])
    assert (first.name, first.listing) == ("renamed", runs.Listing("g", ("x",), "a note", True))

    for change in reversed(changes):
        run_list.restore(project, change)

    assert results.all_runs(project) == before


def test_a_run_deleted_meanwhile_is_left_out_of_what_is_restored(project, three):
    change = run_list.archive(project, three)
    project.delete_run(three[0])

    run_list.restore(project, change)

    assert named(project, RunFilter()) == ["c", "b"]


def test_tags_are_removed_and_a_comma_is_refused(project, three):
    run_list.set_tags(project, three[:1], add=("a", "b", "a"))
    run_list.set_tags(project, three[:1], add=("c",), remove=("a", "z"))

    assert results.run(project, three[0]).listing.tags == ("b", "c")
    for tag in ("a,b", " "):
        with pytest.raises(WorkbenchError, match="cannot be a tag"):
            run_list.set_tags(project, three[:1], add=(tag,))
    assert run_list.tags_in(" a, b,,a ") == ("a", "b")


def test_a_taken_name_is_refused(project, three):
    with pytest.raises(WorkbenchError, match="already exists"):
        run_list.rename(project, three[0], "b")
