"""Small .xlsx files. Source of the form: ECMA-376, part 1, section 18 (SpreadsheetML)."""

import zipfile
from html import escape

_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
DATE = 1  # the style of cells with dates


def write(path, sheets, *, merged=()):
    """sheets: name → rows of cells: None, a text, a number, a bool, or (number of days, DATE).

    merged: ranges of the last sheet, such as A1:C1.
    """
    names = list(enumerate(sheets, 1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            'relationships+xml"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
            f'Type="{_REL}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_REL}"><sheets>'
            + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>' for n, name in names)
            + "</sheets></workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}">'
            + "".join(
                f'<Relationship Id="rId{n}" Type="{_REL}/worksheet" Target="worksheets/s{n}.xml"/>'
                for n, _name in names
            )
            + f'<Relationship Id="rId99" Type="{_REL}/styles" Target="styles.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{_MAIN}"><cellXfs count="2"><xf numFmtId="0"/>'
            '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>',
        )
        for n, name in names:
            ranges = "".join(f'<mergeCell ref="{item}"/>' for item in merged)
            ranges = f"<mergeCells>{ranges}</mergeCells>" if ranges and n == len(names) else ""
            archive.writestr(
                f"xl/worksheets/s{n}.xml",
                f'<worksheet xmlns="{_MAIN}"><sheetData>{_rows(sheets[name])}</sheetData>{ranges}'
                "</worksheet>",
            )
    return path


def _rows(rows):
    return "".join(
        f'<row r="{number}">'
        + "".join(_cell(f"{chr(65 + n)}{number}", value) for n, value in enumerate(row))
        + "</row>"
        for number, row in enumerate(rows, 1)
    )


def _cell(place, value):
    if value is None:
        return ""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, tuple):
        return f'<c r="{place}" s="{value[1]}"><v>{value[0]}</v></c>'
    return f'<c r="{place}"><v>{value}</v></c>'
