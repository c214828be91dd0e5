"""Can a crawl be asked through its socket, from a path of any length, and by nobody else?"""

from __future__ import annotations

import asyncio
import stat

import pytest

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.model.steering import Steering
from heritrix_scrapy.operate.control import NAME, ControlError, ControlServer, ask


def nothing():
    return {}


async def ask_in_thread(directory, request):
    return await asyncio.to_thread(ask, directory, request)


def serving(directory, actions, then):
    steering = Steering()
    for name, run in actions.items():
        steering.add(name, run)

    async def main():
        server = ControlServer(directory, steering.do)
        await server.start()
        try:
            return await then()
        finally:
            await server.close()

    return asyncio.run(main())


def test_an_answer_comes_back(tmp_path):
    async def then():
        return await ask_in_thread(tmp_path, {"do": "status", "more": 1})

    answer = serving(tmp_path, {"status": lambda more: {"got": more}}, then)
    assert answer == {"ok": True, "protocol": 1, "got": 1}
    assert not (tmp_path / NAME).exists()


def test_the_socket_of_the_next_crawl_stays(tmp_path):
    """The end of one crawl and the begin of the next on its directory overlap."""

    async def main():
        steering = Steering()
        steering.add("status", nothing)
        first, second = (ControlServer(tmp_path, steering.do) for _ in range(2))
        await first.start()
        await second.start()
        await first.close()
        answer = await ask_in_thread(tmp_path, {"do": "status"})
        await second.close()
        return answer

    assert asyncio.run(main())["ok"]
    assert not (tmp_path / NAME).exists()


def test_a_full_disk_is_no_mistake_of_ours(tmp_path, caplog):
    def fails():
        raise StorageFull("/somewhere", 5)

    async def then():
        with pytest.raises(ControlError, match="cannot write 5 bytes to /somewhere"):
            await ask_in_thread(tmp_path, {"do": "fails"})

    serving(tmp_path, {"fails": fails}, then)
    assert not caplog.records


def test_a_coroutine_may_answer(tmp_path):
    async def slow():
        await asyncio.sleep(0)
        return {"slow": True}

    async def then():
        return await ask_in_thread(tmp_path, {"do": "slow"})

    assert serving(tmp_path, {"slow": slow}, then)["slow"] is True


def test_only_the_owner_may_open_it(tmp_path):
    async def then():
        return stat.S_IMODE((tmp_path / NAME).stat().st_mode)

    assert serving(tmp_path, {}, then) == 0o600


def test_a_directory_longer_than_a_socket_name(tmp_path):
    directory = tmp_path / ("d" * 100) / ("e" * 100)
    directory.mkdir(parents=True)

    async def then():
        return await ask_in_thread(directory, {"do": "status"})

    assert serving(directory, {"status": lambda: {"here": True}}, then)["here"] is True


def test_the_socket_of_a_killed_crawl_is_replaced(tmp_path):
    (tmp_path / NAME).write_text("left over")

    async def then():
        return await ask_in_thread(tmp_path, {"do": "status"})

    assert serving(tmp_path, {"status": nothing}, then)["ok"] is True


@pytest.mark.parametrize(
    ("request_", "word"),
    [({"do": "fly"}, "unknown request"), ({}, "unknown request"), ({"do": "fails"}, "ValueError: no")],
)
def test_what_cannot_be_answered_says_why(tmp_path, request_, word):
    def fails():
        raise ValueError("no")

    async def then():
        with pytest.raises(ControlError, match=word):
            await ask_in_thread(tmp_path, request_)

    serving(tmp_path, {"status": nothing, "fails": fails}, then)


def test_lines_that_are_no_requests_do_not_end_the_server(tmp_path):
    async def then():
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / NAME))
        writer.write(b"nonsense\n[1]\n" + b'{"do": "status"}\n')
        lines = [await reader.readline() for _ in range(3)]
        writer.close()
        return lines

    lines = serving(tmp_path, {"status": lambda: {"up": 1}}, then)
    assert b"not JSON" in lines[0]
    assert b"a request is an object" in lines[1]
    assert b'"up": 1' in lines[2]


def test_nobody_there(tmp_path):
    with pytest.raises(ControlError, match="no crawl runs"):
        ask(tmp_path, {"do": "status"})
