"""Places for Back."""

from workbench.ui.shell.navigation_history import MAX_ENTRIES, HistoryEntry, NavigationHistory


def place(page, **args):
    return HistoryEntry(page, args)


def test_places_come_back_latest_first_and_old_ones_are_forgotten():
    trail = NavigationHistory()
    for number in range(MAX_ENTRIES + 5):
        trail.push(place("annotate", document=number))

    assert trail.pop(place("data")) == place("annotate", document=MAX_ENTRIES + 4)
    while not trail.empty:
        last = trail.pop(place("data"))
    assert last == place("annotate", document=5)


def test_going_back_leaves_no_place():
    trail = NavigationHistory()
    trail.push(place("data"))
    with trail.resting():
        trail.push(place("annotate"))

    assert trail.pop(place("results")) == place("data") and trail.empty


def test_places_on_one_page_come_back_but_not_the_one_that_is_shown():
    trail = NavigationHistory()
    for part in ("quality", "errors", "errors"):
        trail.push(place("results", part=part))

    assert trail.pop(place("results", part="errors")) == place("results", part="quality")
    assert trail.pop(place("results", part="quality")) is None
