import pytest

from workbench.base import i18n
from workbench.runtime.chat_template import TemplateError


class Upper:
    """A language in which every word is shouted."""

    def gettext(self, text):
        return text.upper().replace("{ERROR}", "{error}").replace("{LINE}", "{line}")


@pytest.fixture
def upper():
    i18n.install(Upper())
    yield
    i18n.install(None)


def test_an_error_of_a_worker_is_shown_in_the_language_of_the_window(request):
    raised = TemplateError(
        "Line {line}: {error}.", hint="See {{ text }}.", line=3, error="'}' is odd {x}"
    )
    assert str(raised) == "Line 3: '}' is odd {x}. See {{ text }}."

    request.getfixturevalue("upper")
    shown = TemplateError.from_json(raised.to_json())

    assert str(shown) == "LINE 3: '}' is odd {x}. SEE {{ TEXT }}." and shown.line == 3
