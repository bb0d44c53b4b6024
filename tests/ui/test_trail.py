"""Places for Back."""

from workbench.ui.trail import MOST, Trail


def test_places_come_back_latest_first_and_old_ones_are_forgotten():
    trail = Trail()
    for number in range(MOST + 5):
        trail.push("annotate", {"document": number})

    assert trail.pop("data") == ("annotate", {"document": MOST + 4})
    while trail.leads_from("data"):
        last = trail.pop("data")
    assert last == ("annotate", {"document": 5})


def test_going_back_leaves_no_place_and_leads_to_another_page():
    trail = Trail()
    trail.push("data", {})
    trail.push("results", {})
    with trail.resting():
        trail.push("annotate", {})

    assert trail.pop("results") == ("data", {}) and not trail.leads_from("results")
