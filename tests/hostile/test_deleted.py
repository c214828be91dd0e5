"""Does a crawl notice that its files are deleted under its hands?"""

from __future__ import annotations

import os
import shutil
import signal

import pytest

from heritrix_scrapy.model.errors import StorageFull
from heritrix_scrapy.report.logs import LogFile
from tests.test_web_wire import checked

ROBOTS = {"type": "text/plain", "body": "User-agent: *\nDisallow:\n"}


def test_a_log_that_was_deleted_takes_no_lines(tmp_path):
    log = LogFile(tmp_path / "crawl.log")
    log.lines.append("first\n")
    log.flush()
    log.path.unlink()
    log.lines.append("second\n")
    with pytest.raises(StorageFull, match="deleted"):
        log.flush()
    log.close()


@pytest.mark.crawl
@pytest.mark.parametrize("gone", ["warcs", "logs"])
def test_a_crawl_whose_files_are_deleted_pauses_and_fetches_again_what_was_not_kept(serve, project, tmp_path, gone):
    made = None

    def page(request):
        if request.target == "/2":
            shutil.rmtree(made.jobdir / gone)
        return {"body": f'<a href="/{int(request.target[1:]) + 1}">next</a>'}

    numbers = {f"/{number}": page for number in range(1, 5)}
    web = serve({"deleted.test": {"routes": {"/robots.txt": ROBOTS, "/favicon.ico": {"status": 404}, **numbers}}})
    settings = {"HERITRIX_SEEDS": [web.url("deleted.test", "/1")], "HERITRIX_STOP_GRACE_SECONDS": 1}
    made = project(settings, web=web)
    process = made.start()
    told = ""
    for line in process.stderr:
        told += line
        if "crawl paused" in line:
            break
    assert "deleted while the crawl wrote to it" in told
    os.kill(process.pid, signal.SIGTERM)
    stopped = made.finish(process)
    assert "Traceback" not in stopped.stderr
    numbers["/2"] = {"body": '<a href="/3">next</a>'}
    web.hosts["deleted.test"]["routes"]["/2"] = numbers["/2"]
    again = made.run()
    assert again.returncode == 0, again.stderr
    assert checked(again.warcs) == []
    # what ended before the pause, and was not recorded, is fetched once more
    assert set(again.statuses[web.url("deleted.test", "/4")]) == {200}
