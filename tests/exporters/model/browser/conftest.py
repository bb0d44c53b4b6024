import pytest

from tests import chromium

TEXTS = (
    "",
    " ",
    "a",
    "The 42 tram was late again.",
    "Thank you!",
    "word " * 90,
    "  leading and  double   spaces ",
    "tab\tnew\nline\r\n end",
    "¿Qué? 😀",
    "👨‍👩‍👧‍👦 family 👍🏽 ok 🇩🇪 🥰 🫠",
    "😀😀😀no space😀 1️⃣ #️⃣ ☕️",
    "שלום עולם, מה שלומך?",
    "مرحبا بالعالم، كيف الحال؟ ١٢٣",
    "mixed עברית and English 123 טקסט 😀 end",
    "\u202eevil\u202c \u2066x\u2069",
    "北京是中国的首都。𠀀𠀁",
    "東京タワーへ行きました！",
    "สวัสดีชาวโลก មិត្ត",
    "हिन्दी में लिखा हुआ पाठ",
    "Ελληνικός ΟΔΟΣ Σίσυφος",
    "İstanbul ﬁne ﬂow e\u0301te\u0301 ½ ① ＦＵＬＬ",
    "zero\u0000byte \ufeffx a\u200bb\u200dc\u00a0d\u0085e",
    "[SEP] and <s> and [MASK] x </s> [CLS]",
    "</script><b>bold</b> & “quotes”",
    "snake_case CamelCase 1,234.56 €6 http://example.com/a_b?c=d",
    "No seat between Mill Lane and the airport, as ever. " * 5,
)


@pytest.fixture
def chrome(tmp_path):
    with chromium.opened(tmp_path / "profile") as page:
        yield page
