"""A crawl split over crawlers: nothing is fetched twice, nothing is lost on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from heritrix_scrapy.frontier.diversion import Diversions
from heritrix_scrapy.frontier.mapper import Diverter, LexicalCrawlMapper, named, parse_map
from heritrix_scrapy.frontier.seeds import seed
from heritrix_scrapy.model.crawluri import CrawlURI
from heritrix_scrapy.model.errors import ConfigurationError, StorageFull
from heritrix_scrapy.settings import default_view
from tests.frontier.world import Clock, end, make

if TYPE_CHECKING:
    from pathlib import Path


def candidate(uri: str, **settings: Any) -> CrawlURI:
    curi = CrawlURI(uri, path="L", via="http://via.test/")
    curi.settings = default_view(**settings)
    return curi


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"crawl_mapper": "Hash"}, "0 to 0"),
        ({"crawl_mapper": "Hash", "crawler_count": 3, "local_name": "3"}, "0 to 2"),
        ({"crawl_mapper": "Lexical", "map_path": ["~ one"], "local_name": "two"}, "crawler of the map: one"),
        ({"crawl_mapper": "Lexical", "local_name": "0"}, "no line in the map"),
        ({"crawl_mapper": "Lexical", "map_path": ["~ ../x"], "local_name": "0"}, "name of a crawler"),
        ({"crawl_mapper": "Round", "local_name": "0"}, "one of Hash, Lexical"),
        (
            {"crawl_mapper": "Hash", "local_name": "0", "use_public_suffixes_regex": False, "reduce_prefix_regex": "("},
            "regular expression",
        ),
    ],
)
def test_a_mapper_that_cannot_be(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        named(default_view(**settings))


def test_all_crawlers_together_have_every_host_once() -> None:
    hosts = [f"h{number}.test" for number in range(40)]
    owners: dict[str, list[int]] = {host: [] for host in hosts}
    for local in range(3):
        mapper = named(default_view(crawl_mapper="HashCrawlMapper", crawler_count=3, local_name=str(local)))
        assert mapper is not None
        for host in hosts:
            if mapper.crawler_of(f"test,{host[:-5]},") == str(local):
                owners[host].append(local)
    assert all(len(found) == 1 for found in owners.values())
    assert {found[0] for found in owners.values()} == {0, 1, 2}


def diverter(folder: Path, clock: Clock, local: str = "one") -> tuple[Diverter, Diversions]:
    files = Diversions(folder, local, clock)
    mapper = LexicalCrawlMapper(parse_map(["test,m, one", "~ two  # the rest"]))
    return Diverter(mapper, files, lambda curi: f"test,{curi.host[:-5]},"), files


def test_candidates_of_another_crawler_go_to_its_file(tmp_path: Path) -> None:
    frontier, clock, _ = make()
    frontier.candidates.diverter, files = diverter(tmp_path, clock)
    frontier.add([seed("http://a.test/")])
    curi = frontier.next(clock.now)
    assert curi is not None
    end(frontier, curi, 200, clock.now, "http://b.test/", "http://z.test/", "http://z.test/", "http://y.test/")
    assert files.flush() == {"2023111422-one-to-two.open": 70}
    left = frontier.next(clock.now)
    assert left is not None
    assert left.uri == "http://b.test/"
    files.close()
    [done] = tmp_path.iterdir()
    assert done.name == "2023111422-one-to-two.divert"
    assert done.read_text() == "F+ http://z.test/ L http://a.test/\nF+ http://y.test/ L http://a.test/\n"


def test_sheets_switch_it_off(tmp_path: Path) -> None:
    sends, _ = diverter(tmp_path, Clock())
    assert sends.divert(candidate("http://z.test/", check_uri=False)) is None
    assert not sends.divert_outlink(candidate("http://z.test/"))
    assert sends.divert_outlink(candidate("http://z.test/", check_outlinks=True))
    assert sends.take_count() == 1


def test_a_file_is_gone_on_with_after_a_kill_and_finished_in_the_next_period(tmp_path: Path) -> None:
    clock = Clock()
    sends, files = diverter(tmp_path, clock)
    sends.divert(candidate("http://x.test/1"))
    assert files.flush() == {"2023111422-one-to-two.open": 38}
    with (tmp_path / "2023111422-one-to-two.open").open("ab") as file:
        file.write(b"F+ http://x.te")
    sends, files = diverter(tmp_path, clock)
    sends.divert(candidate("http://x.test/2"))
    files.flush()
    assert files.length("2023111422-one-to-two.open") == 76
    clock.now += 3_600_000
    sends, files = diverter(tmp_path, clock)
    assert [path.name for path in tmp_path.iterdir()] == ["2023111422-one-to-two.divert"]
    assert files.length("2023111422-one-to-two.open") == 76
    assert files.length("other.warc") == -1


def test_a_period_that_is_finished_already_is_not_overwritten(tmp_path: Path) -> None:
    clock = Clock()
    for number in (1, 2):
        sends, files = diverter(tmp_path, clock)
        sends.divert(candidate(f"http://x.test/{number}"))
        files.close()
    texts = sorted(path.read_text() for path in tmp_path.glob("*.divert"))
    assert texts == [f"F+ http://x.test/{number} L http://via.test/\n" for number in (1, 2)]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFull):
        diverter(tmp_path / "file" / "diversions", Clock())
