"""Does a document of any kind that is made to cost time or memory cost no more than any other?"""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib

import pytest

from heritrix_scrapy.extract.sitemap import IS_SITEMAP
from tests.extract.pages import extracted, in_time

SIZE = 1_000_000
BOUND = 2.0


def flood(piece: str) -> bytes:
    return (piece * (SIZE // len(piece))).encode()


def pdf(objects: list[bytes], root: bytes) -> bytes:
    """A PDF of numbered objects, with a table of where they stand."""
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root %s >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, root, table)
    return bytes(out)


def stream(data: bytes, about: bytes = b"") -> bytes:
    return b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(data), about, data)


def zipped(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return out.getvalue()


ZEROS = b"\0" * 100_000_000
LOOP = pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R 2 0 R] /Count 3 >>"], b"1 0 R")
BOMB = pdf(
    [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots 4 0 R >>",
        stream(zlib.compress(ZEROS, 9), b"/Filter /FlateDecode "),
    ],
    b"1 0 R",
)
MANY = pdf(
    [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + b"3 0 R " * 100_000 + b"] /Count 100000 >>",
        b"<< /Type /Page /Parent 2 0 R >>",
    ],
    b"1 0 R",
)
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 10) for c in range(98, 122))
    + b"]><urlset><url><loc>http://www.example.com/&y;</loc></url></urlset>"
)
XML, SITEMAP, JSON, ANY, PDF, OFFICE, FLASH, LIST = (
    ("ExtractorXML", "text/xml"),
    ("ExtractorSitemap", "text/xml"),
    ("ExtractorJson", "application/json"),
    ("ExtractorUniversal", "application/octet-stream"),
    ("ExtractorPDF", "application/pdf"),
    ("ExtractorOffice", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("ExtractorSWF", "application/x-shockwave-flash"),
    ("ExtractorManifest", "application/dash+xml"),
)

DOCUMENTS: dict[str, tuple[tuple[str, str], bytes]] = {
    "xml brackets": (XML, flood(">")),
    "xml open values": (XML, flood('"a')),
    "xml blanks": (XML, b">" + flood(" ")),
    "xml one word": (XML, b">" + flood("a/") + b"@"),
    "xml cdata": (XML, flood("<![CDATA[a]]")),
    "xml namespaces": (XML, flood('xmlns:a-xmlns="')),
    "xml doctypes": (XML, flood("<!DOCTYPE ")),
    "xml references": (XML, b"<a>" + flood("&#9") + b"./</a>"),
    "sitemap of many": (SITEMAP, b"<urlset>" + flood("<url><loc>http://a.example/</loc></url>")),
    "sitemap of elements": (SITEMAP, flood("<urlset>")),
    "sitemap of entities": (SITEMAP, LAUGHS),
    "sitemap of ampersands": (SITEMAP, b"<urlset><url><loc>" + flood("&")),
    "sitemap bomb": (SITEMAP, gzip.compress(ZEROS)),
    "sitemap in bombs": (SITEMAP, gzip.compress(gzip.compress(ZEROS))),
    "sitemap of lines": (SITEMAP, flood("http://a.example/\n")),
    "json arrays": (JSON, flood("[")),
    "json objects": (JSON, flood('{"a":')),
    "json numbers": (JSON, b"[" + flood("9")),
    "json words": (JSON, b"[" + flood('"a/b",') + b"1]"),
    "any dots": (ANY, flood(".")),
    "any domains": (ANY, flood("a.com ")),
    "any schemes": (ANY, flood("http://")),
    "any long": (ANY, flood("a.b")),
    "pdf header only": (PDF, b"%PDF-1.4" + flood("<<")),
    "pdf objects": (PDF, b"%PDF-1.4\n" + flood("1 0 obj\n")),
    "pdf loop of pages": (PDF, LOOP),
    "pdf bomb": (PDF, BOMB),
    "pdf of one page many times": (PDF, MANY),
    "pdf text bomb": (("ExtractorPDFContent", "application/pdf"), BOMB),
    "office bomb": (OFFICE, zipped("a.rels", ZEROS)),
    "office relationships": (OFFICE, zipped("a.rels", flood("<Relationship "))),
    "open document links": (OFFICE, zipped("content.xml", flood("<a b href"))),
    "flash bomb": (FLASH, b"CWS\x08\0\0\0\0" + zlib.compress(ZEROS, 9)),
    "flash sprites": (FLASH, b"FWS\x08\0\0\0\0\0\0\0\0\0" + b"\xff\x09\xff\xff\xff\x00\0\0\0\0" * 100_000),
    "dash elements": (LIST, flood("<Period>")),
    "dash pieces": (
        LIST,
        b'<MPD><Period><AdaptationSet><SegmentTemplate media="$Number$"><SegmentTimeline><S d="1" r="999999999"/>'
        b"</SegmentTimeline></SegmentTemplate>" + b"<Representation/>" * 20_000 + b"</AdaptationSet></Period></MPD>",
    ),
    "dash text": (LIST, b"<MPD><BaseURL>" + flood("a<b/>") + b"</BaseURL></MPD>"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_document_costs_more_than_its_bound(name: str) -> None:
    (extractor, content_type), body = DOCUMENTS[name]
    got = in_time(
        BOUND, lambda: extracted(body, extractors=[extractor], content_type=content_type, annotations=[IS_SITEMAP])
    )
    assert len(got.outlinks) <= 50_000
