"""Builds record-keeping-policy.pdf and .docx from record-keeping-policy.md, byte for byte the same each time.

The results are committed; run this only after a change of the text:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install reportlab==5.1.0 python-docx==1.2.0
    /tmp/venv/bin/python build.py
"""

import datetime
import io
import pathlib
import re
import zipfile

import docx
from docx.shared import Pt
from reportlab.lib import colors
from reportlab.lib.enums import TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate, Frame, KeepTogether, ListFlowable, ListItem, NextPageTemplate, PageBreak, PageTemplate, Paragraph,
    Spacer, Table, TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents

HERE = pathlib.Path(__file__).parent
NAME = "record-keeping-policy"
HEADER = "Halvorsen & Brandt Maschinenbau GmbH"
NUMBER = "HB-POL-014, version 3.2"
DATE = datetime.datetime(2026, 2, 4, 9, 0, 0)

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10.5, leading=14.5, spaceAfter=7, alignment=TA_JUSTIFY)
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=8.8, leading=11)
HEAD_CELL = ParagraphStyle("headcell", parent=CELL, fontName="Helvetica-Bold")
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=26, leading=32, spaceAfter=12)
H1 = ParagraphStyle("h1", fontName="Helvetica-Bold", fontSize=16, leading=20, spaceBefore=14, spaceAfter=8, keepWithNext=1)
H2 = ParagraphStyle("h2", fontName="Helvetica-Bold", fontSize=12.5, leading=16, spaceBefore=9, spaceAfter=5, keepWithNext=1)


def blocks(text):
    """The Markdown's blocks as (kind, content); only what the policy uses is understood."""
    for part in re.split(r"\n\s*\n", text.strip()):
        lines = part.splitlines()
        heading = re.match(r"(#+) (.*)", lines[0])
        if heading:
            yield "h" + str(len(heading[1])), heading[2]
        elif lines[0].startswith("|"):
            rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
            yield "table", [row for row in rows if not set("".join(row)) <= set("- ")]
        elif lines[0].startswith("- "):
            yield "bullets", [line[2:] for line in lines]
        elif re.match(r"\d+\. ", lines[0]):
            yield "numbers", [re.sub(r"^\d+\. ", "", line) for line in lines]
        else:
            yield "p", " ".join(lines)


def escaped(text):
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)


class Template(BaseDocTemplate):
    """Pages with a running header, a page number, and headings entered in the table of contents."""

    def __init__(self, target):
        super().__init__(target, pagesize=A4, invariant=1, title="Record-Keeping Policy", author=HEADER,
                         leftMargin=25 * mm, rightMargin=25 * mm, topMargin=28 * mm, bottomMargin=25 * mm)
        frame = Frame(self.leftMargin, self.bottomMargin, self.width, self.height, id="text")
        self.addPageTemplates([PageTemplate("cover", [frame]), PageTemplate("page", [frame], onPage=self.furniture)])

    def furniture(self, canvas, _):
        canvas.saveState()
        canvas.setFont("Helvetica", 8.5)
        canvas.drawString(25 * mm, A4[1] - 17 * mm, "Record-Keeping Policy")
        canvas.drawRightString(A4[0] - 25 * mm, A4[1] - 17 * mm, NUMBER)
        canvas.line(25 * mm, A4[1] - 19 * mm, A4[0] - 25 * mm, A4[1] - 19 * mm)
        canvas.drawString(25 * mm, 14 * mm, HEADER)
        canvas.drawRightString(A4[0] - 25 * mm, 14 * mm, f"Page {canvas.getPageNumber()}")
        canvas.restoreState()

    def afterFlowable(self, flowable):
        level = {"h1": 0, "h2": 1}.get(getattr(flowable, "style", BODY).name)
        if level is not None and isinstance(flowable, Paragraph):
            self.notify("TOCEntry", (level, flowable.getPlainText(), self.page))


def pdf_table(rows, width):
    columns = len(rows[0])
    weights = [max(len(row[column]) for row in rows) ** 0.6 for column in range(columns)]
    cells = [[Paragraph(escaped(cell), HEAD_CELL if index == 0 else CELL) for cell in row] for index, row in enumerate(rows)]
    table = Table(cells, [width * weight / sum(weights) for weight in weights], repeatRows=1)
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP"),
                               ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke)]))
    return KeepTogether([table, Spacer(1, 9)]) if len(rows) < 12 else table


def pdf_flow(kind, content, width):
    if kind == "table":
        return pdf_table(content, width)
    if kind in ("bullets", "numbers"):
        items = [ListItem(Paragraph(escaped(item), ParagraphStyle("item", parent=BODY, spaceAfter=3))) for item in content]
        shape = {"bulletType": "bullet", "start": "–"} if kind == "bullets" else {"bulletType": "1", "bulletFormat": "%s."}
        return ListFlowable(items, leftIndent=16, bulletFontSize=10, **shape)
    return Paragraph(escaped(content), {"h1": TITLE, "h2": H1, "h3": H2}.get(kind, BODY))


def build_pdf(content):
    template = Template(str(HERE / f"{NAME}.pdf"))
    first_section = next(index for index, (kind, _) in enumerate(content) if kind == "h2")
    contents = TableOfContents(dotsMinLevel=0)
    contents.levelStyles = [ParagraphStyle("t1", parent=BODY, spaceAfter=0, leading=13.5, fontSize=10, fontName="Helvetica-Bold"),
                            ParagraphStyle("t2", parent=BODY, spaceAfter=0, leftIndent=14, leading=10.8, fontSize=9)]
    contents.tableStyle = TableStyle([(side + "PADDING", (0, 0), (-1, -1), 0) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")])
    story = [Spacer(1, 60 * mm)]
    story += [pdf_flow(kind, text, template.width) for kind, text in content[:first_section]]
    story += [NextPageTemplate("page"), PageBreak(), Paragraph("Contents", ParagraphStyle("toc", parent=H1)), contents, PageBreak()]
    for kind, text in content[first_section:]:
        story.append(pdf_flow(kind, text, template.width))
    template.multiBuild(story)


def add_text(paragraph, text):
    for index, part in enumerate(re.split(r"\*\*(.+?)\*\*", text)):
        paragraph.add_run(part).bold = True if index % 2 else None


def build_docx(content):
    document = docx.Document()
    document.styles["Normal"].font.size = Pt(10.5)
    properties = document.core_properties
    properties.title, properties.author, properties.created, properties.modified = "Record-Keeping Policy", HEADER, DATE, DATE
    section = document.sections[0]
    section.header.paragraphs[0].text = f"Record-Keeping Policy\t\t{NUMBER}"
    section.footer.paragraphs[0].text = HEADER
    for kind, text in content:
        if kind.startswith("h"):
            document.add_heading(text, level=int(kind[1]))
        elif kind == "table":
            table = document.add_table(rows=0, cols=len(text[0]), style="Table Grid")
            for row in text:
                for cell, value in zip(table.add_row().cells, row):
                    cell.text = value
        elif kind in ("bullets", "numbers"):
            style = "List Bullet" if kind == "bullets" else "List Number"
            for item in text:
                add_text(document.add_paragraph(style=style), item)
        else:
            add_text(document.add_paragraph(), text)
    raw = io.BytesIO()
    document.save(raw)
    # The archive again with fixed times, so that the same text gives the same bytes.
    with zipfile.ZipFile(raw) as source, zipfile.ZipFile(HERE / f"{NAME}.docx", "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(zipfile.ZipInfo(name, DATE.timetuple()[:6]), source.read(name), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    CONTENT = list(blocks((HERE / f"{NAME}.md").read_text(encoding="utf-8")))
    build_pdf(CONTENT)
    build_docx(CONTENT)
