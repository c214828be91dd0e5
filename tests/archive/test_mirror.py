"""Paths of the mirror: none leaves it, none is shared, and each is the same in every run."""

from __future__ import annotations

import random
import string
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heritrix_scrapy.archive.mirror import MirrorError, Rules, place
from heritrix_scrapy.archive.mirror_pipeline import Files, MirrorWriterPipeline
from heritrix_scrapy.archive.mirror_safe import PATH, SafeRules
from heritrix_scrapy.archive.mirror_safe import place as safe_place
from heritrix_scrapy.uri.errors import UriError
from heritrix_scrapy.uri.fixup import fix
from tests.archive.test_pipeline import captured, pipeline_of

if TYPE_CHECKING:
    from pathlib import Path

NASTY = ["..", ".", "", "a", "A", "index.html", "index", "a.html", "con", "x~", "é", "\\", "a.", " ", "%"]
NASTY += ["%2e%2e", "%2F", "%00", "y" * 300]
SEGMENT = st.one_of(st.sampled_from(NASTY), st.text(string.printable + "é日\u202e", max_size=8))
URIS = st.builds(
    lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{'/'.join(path)}{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["h.com", "www.h.com", "127.0.0.1", "[::1]", "u:p@h.com", "H.com."]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.lists(SEGMENT, max_size=6),
    st.one_of(st.just(""), st.just("?"), st.builds("?{}".format, SEGMENT)),
)
TYPES = st.sampled_from(["text/html", "text/plain; charset=x", "application/octet-stream", "unknown", "image/png"])


def fixed(uri: str) -> str | None:
    try:
        return fix(uri)
    except UriError:
        return None


def judge(asked: list[tuple[str, str]]) -> None:
    """Each URI has one path, which no other has, which lies inside and is not in another's way."""
    owners: dict[str, str] = {}
    directories: set[str] = set()
    for text, kind in asked:
        uri = fixed(text)
        if uri is None or not uri.startswith("http"):
            continue
        path = safe_place(uri, kind, SafeRules())
        assert path == safe_place(uri, kind, SafeRules())
        parts = path.split("/")
        assert all(part not in ("", ".", "..") and "\0" not in part and len(part.encode()) < 200 for part in parts)
        assert len(path) < PATH + 200
        assert owners.setdefault(path, uri) == uri
        directories |= {"/".join(parts[:at]) for at in range(1, len(parts))}
    assert not directories & owners.keys()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(URIS, TYPES), min_size=5, max_size=5))
def test_safe_paths(asked: list[tuple[str, str]]) -> None:
    judge(asked)


def test_ten_thousand_hostile_uris() -> None:
    source = random.Random(20261201)
    pieces = [*NASTY, *string.printable, "b", "c", "index", "a.php", "%41", "%7E", "~"]

    def uri() -> str:
        path = "/".join(
            "".join(source.choices(pieces, k=source.choice((0, 1, 1, 1, 2)))) for _ in range(source.randrange(5))
        )
        query = source.choice(["", "", "", "?", "?a=/../b", "?" + source.choice(pieces)])
        host = source.choice(["h.com", "h.com", "h.com:8080", "u@h.com", "H.com."])
        return f"{source.choice(['http', 'https'])}://{host}/{path}{query}"

    kinds = ["text/html", "image/png", "unknown"]
    judge([(uri(), source.choice(kinds)) for _ in range(10_000)])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(URIS, TYPES, st.sampled_from([".", "%2E"]))
def test_heritrix_paths_stay_inside(tmp_path_factory: Any, text: str, kind: str, dot: str) -> None:
    uri = fixed(text)
    if uri is None or not uri.startswith("http"):
        return
    try:
        path = place(uri, kind, Rules(dot_begin=dot), Files(tmp_path_factory.getbasetemp()))
    except MirrorError:
        return
    assert not {"..", "."} & set(path.split("/"))


def mirror_of(tmp_path: Path, properties: dict[str, Any] | None = None, **more: Any) -> tuple[Any, Any]:
    listed = [["mirror", properties or {}]]
    _, crawl = pipeline_of(JOBDIR=str(tmp_path), HERITRIX_WRITERS=listed, **more)
    return MirrorWriterPipeline.from_crawler(crawl.crawler), crawl


def test_a_body_is_decoded_in_the_modern_profile(tmp_path: Path) -> None:
    pipeline, crawl = mirror_of(tmp_path)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    curi = captured("http://a.example/x.html", crawl, b"5\r\nhello\r\n0\r\n\r\n", head)
    curi.recorder.chunked = True  # type: ignore[union-attr]
    curi.content_length = 15
    pipeline.process_item(curi)
    assert (tmp_path / "mirror" / "a.example" / "x.html").read_bytes() == b"hello"
    assert list((tmp_path / "mirror").rglob("*.part")) == []


def test_a_link_in_the_mirror_leads_nowhere_else(tmp_path: Path) -> None:
    pipeline, crawl = mirror_of(tmp_path)
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "a.example").symlink_to("/")
    curi = captured("http://a.example/tmp/evil.txt", crawl)
    curi.content_length = 5
    pipeline.process_item(curi)
    assert isinstance(curi.errors[0][1], MirrorError)


def test_collisions_cost_no_file(tmp_path: Path) -> None:
    pipeline, crawl = mirror_of(tmp_path)
    uris = ["/a", "/a/b", "/g.html", "/g.html/h", "/", "/index.html", "/p?x=1", "/px=1", "/p"]
    for number, path in enumerate(uris):
        curi = captured(f"http://a.example{path}", crawl, b"%d" % number)
        curi.content_length = 1
        pipeline.process_item(curi)
    files = [file.read_bytes() for file in (tmp_path / "mirror").rglob("*") if file.is_file()]
    assert sorted(files) == [b"%d" % number for number in range(len(uris))]


def test_urls_of_the_mirror_are_split_as_written() -> None:
    assert urlsplit(safe_place("http://h.com/%2e%2e/x", "text/html", SafeRules())).path == "h.com/%2e%2e/x~.html"
