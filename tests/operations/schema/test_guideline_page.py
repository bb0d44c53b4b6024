import re

from workbench.operations.schema import guideline_page
from workbench.text.labels import Label, Layer

TEXT = """# Names <b>

## PER

- ✓ We met [**Dr <i>Ada**] in London. `d1`
  - With title.
- ✗ no range

![a picture](http://x/y.png) [bad](javascript:alert(1)) <script>alert(1)</script>
"""


def page(text, **values):
    labels = (Label("PER", key="1", description="a <person>"), Label("LOC", colour="#aa3377"))
    return guideline_page.page("A & B", [Layer("names", "span", labels, guideline=text, **values)])


def test_labels_examples_and_colours_are_in_the_page():
    html = page(TEXT)

    assert "<title>Guideline of A &amp; B</title>" in html
    assert '<a class="chip l1-0" href="#l1-0">PER</a>' in html and "<kbd>1</kbd>" in html
    assert '<a class="chip l1-1">LOC</a>' in html  # without a heading to go to
    assert '<h4 dir="auto" id="l1-0">PER</h4>' in html
    example = re.search(r'<li dir="auto" class="example good">(.*?)</li>', html, re.DOTALL)[1]
    assert '<mark class="l1-0">Dr &lt;i&gt;Ada</mark> in London.' in example
    assert '<code class="source">d1</code>' in example and "[" not in example
    assert ".l1-1 { background: light-dark(#" in html
    assert 'class="example bad"' in html


def test_nothing_is_loaded_and_nothing_is_run():
    html = page(TEXT)

    assert "[Image: a picture]" in html and "<img" not in html
    assert "<script" not in html and "javascript:alert" not in re.findall(r'href="(.*?)"', html)
    assert not re.search(r'(src|href)="(?!#|https?://x)', html)
    assert "url(" not in html and "@import" not in html


def test_a_layer_without_a_text_and_a_project_without_layers_say_so():
    assert "No guideline yet." in page("")
    assert "The project has no layers." in guideline_page.page("x", [])


def test_two_layers_have_names_of_their_own():
    layers = [Layer(n, "span", (Label("PER"),), guideline="## PER\n") for n in ("a", "b")]
    names = re.findall(r' id="(.*?)"', guideline_page.page("x", layers))
    assert names == ["l1", "l1-0", "l2", "l2-0"]
