def test_each_line_that_is_not_empty_is_a_document_as_it_stands(read):
    found = read("one \n\n  two\t\r\nthree\u2028four\n", "text")

    assert found.texts == ["one ", "  two\t", "three\u2028four"] and [one.line for one in found.rows] == [1, 3, 4]


def test_a_line_with_damaged_bytes_is_skipped(read):
    found = read("größer\n".encode() * 9 + b"bad\xff\nfine\n", "text")

    assert found.texts[-1] == "fine" and found.skipped[0][0] == 10 and "0xFF" in found.skipped[0][1]
