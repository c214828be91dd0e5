"""What does each extractor find in a document of its kind, and which documents does it take?"""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import pytest

from heritrix_scrapy.extract.document import Document
from heritrix_scrapy.extract.misses import GUESS, Misses
from heritrix_scrapy.extract.order import Extraction
from heritrix_scrapy.extract.pdf import addresses
from heritrix_scrapy.extract.sitemap import IS_SITEMAP
from heritrix_scrapy.extract.universal import LONGEST, runs
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink, pack_link, unpack
from heritrix_scrapy.model.errors import ConfigurationError
from heritrix_scrapy.model.hosts import Hosts
from heritrix_scrapy.settings import default_view
from tests.extract.pages import SCRIPTS, extracted, fetched, links

HOST = "http://www.example.com"


def found(body: str | bytes, extractor: str, **about: Any) -> list[tuple[str, str]]:
    return [(hop, uri) for hop, uri, _ in links(body, extractor, **about)]


# -- sitemaps ----------------------------------------------------------------------------------------------------


def sitemap(body: str | bytes, profile: str = "modern", **about: Any) -> list[str]:
    given = {"content_type": "text/plain", "annotations": [IS_SITEMAP], "profile": profile, **about}
    got = links(body, "ExtractorSitemap", **given)
    assert {(hop, context) for hop, _, context in got} <= {("M", "=MANIFEST_MISC")}
    return [uri for _, uri, _ in got]


RICH = """<urlset xmlns:image="i" xmlns:video="v" xmlns:xhtml="x"><url><loc>http://www.example.com/dir/a</loc>
<image:image><image:loc>http://www.example.com/dir/i.png</image:loc></image:image>
<video:video><video:content_loc>http://www.example.com/dir/v.mp4</video:content_loc></video:video>
<xhtml:link rel="alternate" hreflang="de" href="http://www.example.com/dir/de"/></url>
<url><loc>http://cdn.example/b?x=1&y=2</loc></url><url><loc>/rel&nbsp;</loc></url></urlset>"""


def test_a_sitemap_with_extensions() -> None:
    assert sitemap(RICH) == [
        "/dir/a",
        "/dir/i.png",
        "/dir/v.mp4",
        "/dir/de",
        "http://cdn.example/b?x=1&y=2",
        "/rel",
    ]
    # the bare ampersand ends Heritrix's reading
    assert sitemap(RICH, "heritrix") == ["/dir/a", "/dir/i.png"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        # what an error cuts short counts as far as it goes; what the end of the text cuts short does not
        ("<urlset><url><loc>http://www.example.com/dir/a?x=1&y=2</loc></url></urlset>", ["/dir/a?x=1"]),
        ("<urlset><url><loc>http://www.example.com/dir/a</url></urlset>", ["/dir/a"]),
        ("<urlset><url><loc>http://www.example.com/dir/a", []),
        ("<urlset><url><loc>http://www.example.com/dir/a</loc>", ["/dir/a"]),
        # a prefix that nobody declared is an error
        ("<urlset><url><image:loc>http://www.example.com/dir/i</image:loc></url></urlset>", []),
        # an address belongs to the entry that ends behind it
        ("<urlset><sitemap><loc>http://www.example.com/dir/a</loc></sitemap></urlset>", []),
        ("<sitemapindex><url><loc>http://o.example/a</loc></url></sitemapindex>", []),
        ("<sitemapindex><sitemap><loc>http://o.example/a</loc></sitemap></sitemapindex>", ["http://o.example/a"]),
        ("<URLSET><url><loc>http://www.example.com/dir/a</loc></url></URLSET>", []),
        ("\n <urlset><url><loc>http://www.example.com/dir/a</loc></url></urlset>", ["/dir/a"]),
        # compared with the folder as it is written
        ("<urlset><url><loc>HTTP://www.example.com/dir/a</loc></url></urlset>", ["/dir/a"]),
        ("<urlset><url><loc>http://WWW.example.com/dir/a</loc></url></urlset>", []),
        ("<urlset><url><loc>http://www.example.com:80/dir/a</loc></url></urlset>", []),
        # feeds
        ("<rss><channel><link>http://www.example.com/dir/c</link><item><guid>http://www.example.com/dir/g</guid></item>"
         "<item><link>http://www.example.com/dir/l</link></item></channel></rss>", ["/dir/g", "/dir/l"]),
        ("<feed><entry><link rel='self' href='http://www.example.com/dir/s'/>"
         "<link href='http://www.example.com/dir/l'/></entry></feed>", ["/dir/s"]),
        ("<rdf><item><link>http://www.example.com/dir/l</link></item></rdf>", []),
        ("HTTP://www.example.com/dir/a\nftp://www.example.com/dir/b", ["/dir/a"]),
    ],
)  # fmt: skip
def test_a_sitemap_as_heritrix_reads_it(body: str, found: list[str]) -> None:
    assert sitemap(body, "heritrix") == found


def test_a_sitemap_by_its_type_in_any_case() -> None:
    body = "<?xml version='1.0'?><urlset><url><loc>http://www.example.com/dir/a</loc></url></urlset>"
    assert sitemap(body, "heritrix", annotations=[], content_type="TEXT/XML") == ["/dir/a"]


def test_a_stylesheet_by_its_type_in_any_case() -> None:
    assert found("a{b:url(c.png)}", "ExtractorCSS", content_type="Text/CSS") == [("E", "/dir/c.png")]


def test_feeds_and_lists_are_sitemaps_too() -> None:
    rss = "<rss><channel><link>/c</link><item><link> http://www.example.com/dir/1 </link></item></channel></rss>"
    assert sitemap(rss) == ["/dir/1"]
    atom = "<feed><link href='/f'/><entry><link href='/e'/><link rel='edit' href='/no'/></entry></feed>"
    assert sitemap(atom) == ["/e"]
    assert sitemap("\ufeffhttp://www.example.com/dir/1\nnonsense\r\nhttps://o.example/\n") == [
        "/dir/1",
        "https://o.example/",
    ]
    assert sitemap("<urlset><url><loc>http://www.example.com/é</loc></url>".encode("utf-16")) == ["/%C3%A9"]


def test_which_documents_are_sitemaps() -> None:
    body = "<?xml version='1.0'?><urlset ><loc>http://www.example.com/dir/a</loc></urlset>"
    for about, taken in (
        ({"annotations": []}, False),
        ({"annotations": [], "content_type": "application/xml"}, True),
        ({"status": 404}, False),
        ({"annotations": [], "settings": {"sitemap_url_pattern": ".*/page\\.html"}}, True),
    ):
        assert bool(sitemap(body, **about)) is taken, about  # type: ignore[arg-type]


def test_a_sitemap_has_a_limit_of_its_own() -> None:
    body = "".join(f"http://www.example.com/{n}\n" for n in range(50_010))
    assert len(sitemap(body, settings={"max_outlinks": 5})) == 50_000


def test_a_robots_txt_names_sitemaps_that_are_born_as_such() -> None:
    body = b"\xef\xbb\xbfsitemap : /a.xml # why\r Sitemap: http://o.example/b.xml\nSitemap:\nDisallow: /"
    curi, data = fetched(body, url=f"{HOST}/robots.txt", content_type="text/plain")
    curi.is_prerequisite = True
    Extraction(["ExtractorRobotsTxt"]).read(Document(curi, default_view(), lambda n: data[:n]))
    assert [link.uri for link in curi.outlinks] == [f"{HOST}/a.xml", "http://o.example/b.xml"]
    assert [curi.child(link).annotations for link in curi.outlinks] == [[IS_SITEMAP]] * 2
    # the short way into the queues knows it, too
    (first, _) = curi.outlinks
    assert unpack(pack_link(first, "LM", curi, first.uri, 1)).annotations == [IS_SITEMAP]
    assert curi.extracted


# -- XML, JSON, anything -----------------------------------------------------------------------------------------


def test_xml_without_the_names_of_its_namespaces() -> None:
    body = (
        "<?xml version='1.0'?><!DOCTYPE svg PUBLIC 'x' 'http://www.w3.org/dtd/svg.dtd'>"
        "<svg xmlns='http://www.w3.org/2000/svg'><a href='/a.html'/><b>/b.html</b><c>/c.html</c></svg>"
    )
    about = {"content_type": "image/svg+xml"}
    assert found(body, "ExtractorXML", **about) == [("X", "/a.html"), ("X", "/b.html"), ("X", "/c.html")]
    old = [uri for _, uri in found(body, "ExtractorXML", profile="heritrix", **about)]
    assert old[:2] == ["http://www.w3.org/dtd/svg.dtd", "http://www.w3.org/2000/svg"]


def test_json_in_arrays_and_other_encodings() -> None:
    body = '[{"a": ["http://a.example/1", {"b": "/c/d.html"}]}, 1e9, "x.y.z w"]'
    about = {"content_type": "application/ld+json"}
    want = [("I", "http://a.example/1"), ("I", "/c/d.html")]
    assert found(body, "ExtractorJson", **about) == want
    assert found(body.encode("utf-16"), "ExtractorJson", **about) == want
    assert found(body, "ExtractorJson", profile="heritrix", **about) == []
    assert found("{'a': 1}", "ExtractorJson", **about) == []
    assert extracted("{", extractors=["ExtractorJson"], **about).errors == []


def test_any_bytes() -> None:
    body = b"\0www.example.org/a\0readme.md\0xhttp://1.2.3.4\0 zhttp://b.example.com/c.."
    about = {"content_type": "application/octet-stream"}
    assert found(body, "ExtractorUniversal", **about) == [
        ("X", "http://www.example.org/a"),
        ("X", "http://b.example.com/c"),
    ]
    limited = [["ExtractorUniversal", {"max_size_to_parse": 10}]]
    assert extracted(body, extractors=limited, **about).outlinks == []


def test_a_run_that_is_too_long_is_dropped_with_the_byte_that_shows_it() -> None:
    def lengths(*sizes: int) -> list[int]:
        return [len(run) for run in runs(b" ".join(b"a" * size for size in sizes) + b" ", to_the_end=False)]

    assert lengths(3, 4, LONGEST) == [4, LONGEST]
    assert lengths(LONGEST + 1) == []
    assert lengths(LONGEST + 2) == []
    assert lengths(LONGEST + 2 + 10) == [10]
    assert lengths(2 * (LONGEST + 2) + 10) == [10]


# -- links in links ----------------------------------------------------------------------------------------------


def of_links(entry: Any, *uris: str) -> list[tuple[str, str]]:
    curi, _ = fetched("")
    curi.outlinks = [Outlink(uri, "L", "a/@href") for uri in uris]
    Extraction([entry]).read(Document(curi, default_view(), lambda n: b""))
    return [(link.hop, link.uri) for link in curi.outlinks]


def test_addresses_in_queries() -> None:
    a, b = (
        "http://g.example/?u=http://t.example/1&v=https%3A%2F%2Ft.example%2F2",
        "http://g.example/?http://t.example/3",
    )
    assert of_links("ExtractorURI", a, b)[2:] == [
        ("X", "http://t.example/1"),
        ("X", "https://t.example/2"),
        ("X", "http://t.example/3"),
    ]


def test_implied_addresses() -> None:
    rule = {"regex": "http://v\\.example/(\\w+)", "format": "http://v.example/get?id=$1"}
    entry = ["ExtractorImpliedURI", rule]
    assert of_links(entry, "http://v.example/a", "http://v.example/a/b")[2:] == [("I", "http://v.example/get?id=a")]
    entry = ["ExtractorImpliedURI", {**rule, "remove_trigger_uris": True}]
    assert of_links(entry, "http://v.example/a") == [("I", "http://v.example/get?id=a")]
    entry = ["ExtractorImpliedURI", {**rule, "format": "nowhere $1", "remove_trigger_uris": True}]
    assert of_links(entry, "http://v.example/a") == [("L", "http://v.example/a")]


def test_combinations_of_pieces() -> None:
    rule = {
        "uri_regex": "http://www\\.example\\.com/(\\w+)/.*",
        "content_regexes": {"a": "a=(\\d)", "b": "b=(\\S)"},
        "template": "/${uriRegex[1]}/${a[1]}${urlencode('{' + b[1] + \"}\")}",
    }
    got = extracted("a=1 a=2 b=~ b=y", extractors=[["ExtractorMultipleRegex", rule]])
    assert [link.uri.removeprefix(HOST) for link in got.outlinks] == [
        "/dir/1%7B%7E%7D",
        "/dir/2%7B%7E%7D",
        "/dir/1%7By%7D",
        "/dir/2%7By%7D",
    ]
    assert extracted("a=1", extractors=[["ExtractorMultipleRegex", rule]]).outlinks == []


@pytest.mark.parametrize(
    "properties",
    [
        {"uri_regex": "("},
        {"template": "${no[1]}"},
        {"template": "${uriRegex[1]"},
        {"template": "${uriRegex[1].size()}"},
        {"template": "<% code %>"},
        {"content_regexes": {"a": "("}},
    ],
)
def test_what_cannot_be_read_ends_the_start(properties: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        Extraction([["ExtractorMultipleRegex", properties]])


# -- scripts -----------------------------------------------------------------------------------------------------


def test_the_extractor_for_scripts_reads_those_in_pages() -> None:
    page = "<script type=a>x='/y.html'; z='http://o.example/'</script>"
    assert extracted(page, extractors=["ExtractorHTML"]).outlinks == []
    strict = ["ConfigurableExtractorJS", {"strict": True}]
    assert [link.uri for link in extracted(page, extractors=["ExtractorHTML", strict]).outlinks] == [
        "http://o.example/"
    ]
    reject = ["ConfigurableExtractorJS", {"reject_script_attribute_regex_list": [".*TYPE=a"]}]
    for profile, count in (("modern", 0), ("heritrix", 2)):
        assert len(extracted(page, extractors=["ExtractorHTML", reject], profile=profile).outlinks) == count
    assert extracted(page, extractors=["AggressiveExtractorHTML", SCRIPTS]).outlinks


def test_guesses_end_where_a_host_refuses_them() -> None:
    order = Extraction(["ExtractorHTML", "ExtractorJS"])
    view = default_view(speculative_misses=3)

    def answered(status: int) -> None:
        curi, _ = fetched("", url=f"{HOST}/guess", status=status)
        curi.path, curi.via_context = "LX", GUESS
        curi.content_length = 0
        order.extract(curi, view)

    def guesses() -> int:
        curi, body = fetched("<a href=/a><script>x='/y.html'; z='http://o.example/'</script>")
        order.read(Document(curi, view, lambda n: body[:n]))
        return len(curi.outlinks)

    guess = CrawlURI(f"{HOST}/other", path="LX", via_context=GUESS)
    for status in (404, 404):
        answered(status)
    assert (guesses(), order.is_hopeless(guess, view)) == (3, False)
    answered(410)
    assert (guesses(), order.is_hopeless(guess, view), order.closed_hosts, order.suppressed) == (2, True, 1, 1)
    answered(200)
    assert (guesses(), order.is_hopeless(guess, view)) == (3, False)
    assert not order.is_hopeless(guess, default_view("heritrix"))


def test_the_count_of_guesses_outlasts_a_stop() -> None:
    rows: dict[bytes, bytes] = {}
    view = default_view(speculative_misses=3)
    guess = CrawlURI(f"{HOST}/other", path="LX", via_context=GUESS)
    for answers in (2, 1):
        hosts = Hosts(rows.get)
        order = Extraction(["ExtractorJS"], misses=Misses(lambda: hosts))  # noqa: B023
        for _ in range(answers):
            assert not order.is_hopeless(guess, view)
            curi, _ = fetched("", url=f"{HOST}/guess", status=404, path="LX", via_context=GUESS)
            order.note(curi)
        rows.update(hosts.drain())
    assert Extraction(["ExtractorJS"], misses=Misses(lambda: Hosts(rows.get))).is_hopeless(guess, view)


# -- documents ---------------------------------------------------------------------------------------------------


def test_addresses_in_the_text_of_a_page() -> None:
    text = "at http://a.example/b,\nc and (https://d.example/e) or http://f.example/g.\n\nhttp://10.0.0.1:80/x?y=%41#z"
    assert list(addresses(text)) == [
        "http://a.example/b,\nc",
        "http://a.example/b,",
        "https://d.example/e",
        "http://f.example/g.",
        "http://f.example/g",
        "http://10.0.0.1:80/x?y=%41",
    ]


def ole(name: str, content: bytes) -> bytes:
    """An OLE file of one stream in whole sectors: header, its table of sectors, its directory, the stream."""
    content = content.ljust(4096, b"\0")
    sectors = -(-len(content) // 512)
    content = content.ljust(sectors * 512, b"\0")
    fat = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, 2 + sectors), 0xFFFFFFFE]
    fat += [0xFFFFFFFF] * (128 - len(fat))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16
    head += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + b"\0" * 6
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    head += struct.pack("<I", 0) + b"\xff" * 4 * 108

    def entry(text: str, kind: int, child: int, start: int, size: int) -> bytes:
        wide = text.encode("utf-16-le")
        fields = struct.pack("<HBBIII", len(wide) + 2, kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return wide.ljust(64, b"\0") + fields + b"\0" * 36 + struct.pack("<IQ", start, size)

    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry(name, 2, 0xFFFFFFFF, 2, len(content))
    return head + struct.pack("<128I", *fat) + directory.ljust(512, b"\0") + content


def test_sheets_of_old() -> None:
    wide = "http://wide.example/a".encode("utf-16-le")
    body = ole("Workbook", b"\1\2" + wide + b"\0\0\1http://narrow.example/b)\0")
    about = {"content_type": "application/vnd.ms-excel"}
    assert found(body, "ExtractorDOC", **about) == [("L", "http://wide.example/a"), ("L", "http://narrow.example/b")]
    assert found(body, "ExtractorDOC", profile="heritrix", **about) == []
    broken = extracted(b"no", extractors=["ExtractorDOC"], content_type="application/msword")
    assert (broken.outlinks, broken.extracted, len(broken.errors)) == ([], False, 1)


def word(*pieces: tuple[str, bool]) -> bytes:
    """A WordDocument stream that is its own table: pieces of text, each in one byte a character or two."""
    text, places, ends = bytearray(), [], [0]
    for piece, narrow in pieces:
        at = 0x400 + len(text)
        text += piece.encode("cp1252" if narrow else "utf-16-le")
        places.append(struct.pack("<HIH", 0, at * 2 | 0x4000_0000 if narrow else at, 0))
        ends.append(ends[-1] + len(piece))
    plc = struct.pack(f"<{len(ends)}I", *ends) + b"".join(places)
    clx = b"\1\2\0xx\2" + struct.pack("<I", len(plc)) + plc
    out = bytearray(0x400) + text
    struct.pack_into("<II", out, 0x01A2, 0, len(clx))
    return bytes(out), clx  # type: ignore[return-value]


def test_fields_of_a_word_document() -> None:
    from heritrix_scrapy.extract.office import field_targets, word_text

    document, clx = word(('\x13HYPERLINK "http://a.ex', True), ('ample/é"\x14t\x15\rHYPERLINK no\r"x"', False))  # type: ignore[misc]
    text = word_text(document, (clx, b""))
    assert text.startswith('\x13HYPERLINK "http://a.example/é"')
    assert list(field_targets(text)) == ["http://a.example/é"]


def zipped(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


def test_zipped_office_files() -> None:
    rels = (
        '<Relationships><Relationship Id="1" Type="http://s/hyperlink" Target="http://a.example/?x=1&amp;y" '
        'TargetMode="External"/><Relationship Type="http://s/image" Target="http://a.example/i.png" '
        'TargetMode="External"/><Relationship Type="http://s/styles" Target="styles.xml"/></Relationships>'
    )
    about = {"content_type": "application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
    assert found(zipped(document__xml__rels=rels), "ExtractorOffice", **about) == [
        ("L", "http://a.example/?x=1&y"),
        ("E", "http://a.example/i.png"),
    ]
    content = (
        "<office:body><text:a xlink:type='simple' xlink:href='http://a.example/'>t</text:a>"
        "<draw:image xlink:href='Pictures/1.png'/><draw:image xlink:href='http://a.example/i.png'/></office:body>"
    )
    about = {"content_type": "application/vnd.oasis.opendocument.text"}
    assert found(zipped(content__xml=content), "ExtractorOffice", **about) == [
        ("L", "http://a.example/"),
        ("E", "http://a.example/i.png"),
    ]
    broken = extracted(b"PK\x03\x04no", extractors=["ExtractorOffice"], **about)
    assert (broken.extracted, len(broken.errors)) == (False, 1)


def test_a_flash_movie() -> None:
    url = b"/doc/a.html\0_self\0"
    pool = b"\1\0/b/c.html\0"
    actions = b"\x83" + struct.pack("<H", len(url)) + url + b"\x88" + struct.pack("<H", len(pool)) + pool + b"\0"
    movie = b"FWS\x05\0\0\0\0" + b"\0" + b"\0\0\0\0" + struct.pack("<H", 12 << 6 | len(actions)) + actions
    curi = extracted(movie, extractors=["ExtractorSWF"], content_type="application/x-shockwave-flash", via=f"{HOST}/")
    assert [(link.hop, link.uri, link.context) for link in curi.outlinks] == [
        ("E", f"{HOST}/doc/a.html", "=EMBED_MISC"),
        ("X", f"{HOST}/b/c.html", "=SPECULATIVE_MISC"),
    ]
    assert curi.child(curi.outlinks[0]).annotations == ["extractorSWFRelToBoth"]


def test_playlists() -> None:
    body = '#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="key.bin"\n#EXTINF:9,\nseg1.ts\n\n#EXT-X-ENDLIST'
    about = {"content_type": "application/vnd.apple.mpegurl"}
    assert found(body, "ExtractorManifest", **about) == [("E", "/dir/key.bin"), ("E", "/dir/seg1.ts")]
    assert found("no playlist", "ExtractorManifest", **about) == []


def test_descriptions_of_streams() -> None:
    body = """<MPD mediaPresentationDuration="PT5S"><BaseURL>media/</BaseURL><Period>
    <AdaptationSet><SegmentTemplate timescale="10" duration="20" initialization="$RepresentationID$/init.mp4"
    media="$RepresentationID$/$Number%03d$.m4s"/><Representation id="a"/></AdaptationSet>
    <AdaptationSet><Representation id="b"><SegmentTemplate media="b-$Time$.m4s"><SegmentTimeline>
    <S t="5" d="10" r="1"/><S d="7"/></SegmentTimeline></SegmentTemplate></Representation></AdaptationSet>
    <AdaptationSet><Representation id="c"><BaseURL>c.mp4</BaseURL></Representation>
    <Representation id="d"><SegmentList><Initialization sourceURL="d0"/><SegmentURL media="d1"/></SegmentList>
    </Representation></AdaptationSet></Period></MPD>"""
    got = found(body, "ExtractorManifest", content_type="application/dash+xml")
    names = [
        "a/init.mp4",
        "a/001.m4s",
        "a/002.m4s",
        "a/003.m4s",
        "b-5.m4s",
        "b-15.m4s",
        "b-25.m4s",
        "c.mp4",
        "d0",
        "d1",
    ]
    assert got == [("E", f"/dir/media/{name}") for name in names]


def test_a_page_that_equals_its_parent_leads_nowhere() -> None:
    order = Extraction(["TrapSuppressExtractor", "ExtractorHTML"])

    def read(curi: CrawlURI) -> CrawlURI:
        curi.status, curi.content_length, curi.digest, curi.content_type = 200, 10, "sha1:A", "text/html"
        order.read(Document(curi, default_view(), lambda n: b"<a href=x>"))
        return curi

    parent = read(CrawlURI(f"{HOST}/"))
    child = read(parent.child(parent.outlinks[0]))
    assert [len(parent.outlinks), len(child.outlinks)] == [1, 0]
    assert (child.annotations, child.extracted) == (["trapSuppressExtractor"], True)
