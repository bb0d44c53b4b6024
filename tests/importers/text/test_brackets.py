import pytest

from workbench.base import paths
from workbench.base.errors import ImportFailed
from workbench.importers.text.brackets import marked, parse
from workbench.text.spans import Span, crossing, nested


def test_nested_spans_escapes_and_crossing_lines():
    block = (
        "# m-1 train delay\n[The [42]LINE tram]VEHICLE \\[sic\\] from Elm to Elm\n+ ROUTE: "
        "from Elm to Elm\n+ STOP#2: Elm\n"
    )

    (item,) = parse(block)

    assert (item.key, item.split, item.label, item.text) == (
        "m-1",
        "train",
        "delay",
        "The 42 tram [sic] from Elm to Elm",
    )
    assert set(item.spans) == {
        Span(0, 11, "VEHICLE"),
        Span(4, 6, "LINE"),
        Span(18, 33, "ROUTE"),
        Span(30, 33, "STOP"),
    }


@pytest.mark.parametrize("line", ["[open", "closed]A", "[a]", "[a]b"])
def test_brackets_that_do_not_match_are_named(line):
    with pytest.raises(ImportFailed, match="m-9"):
        marked(line, "m-9")


def test_the_sample_has_the_counts_that_its_readme_gives():
    """851 spans, 149 nested pairs, 6 crossing pairs: resources/samples/README.md."""
    messages = list(parse((paths.resource("samples") / "metro.txt").read_text(encoding="utf-8")))
    pairs = [
        (a, b)
        for message in messages
        for n, a in enumerate(message.spans)
        for b in message.spans[n + 1 :]
    ]

    assert len(messages) == 420 and sum(len(message.spans) for message in messages) == 851
    assert (
        sum(nested(a, b) or nested(b, a) for a, b in pairs) == 149
        and sum(crossing(a, b) for a, b in pairs) == 6
    )
