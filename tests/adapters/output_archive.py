"""What the records, names and digests of ``heritrix_scrapy.archive`` do with the cases of output.json."""

from __future__ import annotations

from typing import Any

from heritrix_scrapy.archive import anvl, names
from heritrix_scrapy.archive.digest import payload_digest
from heritrix_scrapy.archive.records import Facts, Form, Record, Revisit, group
from heritrix_scrapy.model.crawluri import CrawlURI, Outlink
from heritrix_scrapy.model.recorder import Recorder

HERITRIX = Form(modern=False, version="1.0")
MODERN_FORM = Form()


def recorder_of(asked: dict[str, Any]) -> Recorder:
    recorder = Recorder()
    recorder.request.append(asked.get("request", "").encode())
    response = asked["response"].encode()
    recorder.response.append(response)
    ends = [(at + len(mark)) for mark in (b"\r\n\r\n", b"\n\n", b"\n\r\n") if (at := response.find(mark)) >= 0]
    recorder.body_at = min(ends) if ends and asked["uri"].startswith("http") else 0
    return recorder


def captured(asked: dict[str, Any]) -> CrawlURI:
    curi = CrawlURI(
        asked["uri"],
        path=asked.get("hops") or "",
        via=asked.get("via"),
        seed=bool(asked.get("seed")),
        source_tag=asked.get("source_tag"),
        forced=any(bool(value) for key, value in asked.items() if key.startswith("force")),
    )
    curi.status = asked["status"]
    curi.began_ms = asked.get("fetch_begin_ms")
    curi.ended_ms = asked.get("fetch_completed_ms")
    curi.digest = asked.get("digest")
    curi.server_ip = asked.get("server_ip")
    curi.charset = asked.get("recorder_charset")
    curi.annotations = list(asked.get("annotations", ()))
    curi.content_type = asked.get("content_type", "unknown")
    curi.outlinks = [Outlink(*link) for link in asked.get("outlinks", ())]
    curi.recorder = recorder_of(asked)
    return curi


def facts_of(asked: dict[str, Any]) -> Facts:
    said = asked.get("revisit")
    revisit = None
    if said:
        revisit = Revisit(
            said["profile"],
            said.get("payload_digest"),
            said.get("refers_to_record_id"),
            said.get("refers_to_date"),
            said.get("refers_to_target_uri"),
            said.get("etag"),
            said.get("last_modified"),
        )
    return Facts(
        revisit=revisit,
        response_headers=asked.get("warc_response_headers", ()),
        ftp_conversation=asked.get("control_conversation"),
        ftp_status=asked.get("ftp_fetch_status"),
    )


def told(record: Record) -> dict[str, Any]:
    return {
        "header_lines": record.head.decode().removesuffix("\r\n\r\n").split("\r\n"),
        "block": b"".join(record.pieces()).decode(),
    }


def written(asked: dict[str, Any], form: Form) -> list[dict[str, Any]]:
    return [told(record) for record in group(captured(asked), form, lambda: "urn:uuid:U", facts=facts_of(asked))]


def warc_record_group(case: dict[str, Any]) -> tuple[bool, object]:
    got = written(case["input"], HERITRIX)
    return got == case["expected"]["records"], got


def modern_record_group(case: dict[str, Any]) -> tuple[bool, object]:
    """Shown are only the header lines that Heritrix does not write."""
    got, expected = written(case["input"], MODERN_FORM), case["expected"]["records"]
    known = {line for record in expected for line in record["header_lines"]}
    new = [[line for line in record["header_lines"] if line not in known] for record in got]
    return got == expected, new


def record_group_deviation(case: dict[str, Any], got: object) -> tuple[str, str] | None:
    """Where Java breaks off in the middle of a group, ours is whole."""
    expected = case["expected"]
    if not expected.get("java_throws") or not isinstance(got, list):
        return None
    stands = got[: len(expected["records"])] == expected["records"]
    if stands and len(got) > len(expected["records"]):
        return "design: a defect of the original; the group is written whole", "archive-whole-groups"
    return None


def anvl_case(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    try:
        if "parse" in asked:
            name, text = anvl.parse(asked["parse"])[0]
            first = f"{name}:" if text is None else f"{name}: {text}"
            return expected == {"first_element": first}, first
        got = anvl.record([(name, text) for name, text in asked["fields"]]).decode()
    except anvl.AnvlError as error:
        return isinstance(expected, dict) and expected.get("error") == "invalid label", str(error)
    return got == expected, got


DEFAULT_VARS = {
    "prefix": "WEB",
    "timestamp17": "20130201120000123",
    "serialno": 0,
    "heritrix.pid": "4242",
    "heritrix.hostname": "crawler1.example.org",
    "heritrix.port": "8443",
}


def warc_file_name(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    if set(asked) == {"serialno"}:
        serial = names.serial_text(asked["serialno"])
        return expected == {"serialno_text": serial}, serial
    variables = {**DEFAULT_VARS, **asked.get("vars", {})}
    if isinstance(variables["serialno"], int):
        variables["serialno"] = names.serial_text(variables["serialno"])
    name = names.interpolate(asked.get("template", names.TEMPLATE), {k: str(v) for k, v in variables.items()})
    name += names.suffix(compress=asked.get("compress", True))
    state = asked.get("state", "closed")
    if state == "open":
        name += names.OPEN
    elif state.startswith("invalid"):
        name += names.INVALID
    return name == expected, name


def template_interpolate(case: dict[str, Any]) -> tuple[bool, object]:
    got = names.interpolate(case["input"]["template"], case["input"]["vars"])
    return got == case["expected"], got


def digest_case(case: dict[str, Any]) -> tuple[bool, object]:
    asked, expected = case["input"], case["expected"]
    body = bytes.fromhex(asked["body_hex"]) if "body_hex" in asked else asked["body_utf8"].encode()
    recorder = Recorder()
    top = b"HTTP/1.1 200 OK\r\n\r\n"
    recorder.response.append(top + body)
    recorder.body_at = len(top)
    recorder.content_encoding = asked.get("content_encoding")
    recorder.chunked = asked.get("transfer_encoding") == "chunked"
    ours, theirs = payload_digest(recorder, entity=True), payload_digest(recorder)
    if isinstance(expected, dict):
        got = {"heritrix": theirs, "warc_1_1": ours}
        return got == expected, got
    return theirs == expected and (recorder.chunked or ours == expected), theirs


ADAPTERS = {
    "output/warc_record_group": warc_record_group,
    "output/anvl": anvl_case,
    "output/warc_file_name": warc_file_name,
    "output/template_interpolate": template_interpolate,
    "output/payload_digest": digest_case,
}
DEVIATES = {"output/warc_record_group": record_group_deviation}
MODERN = {"output/warc_record_group": modern_record_group}
MODERN_ROWS = {"output/warc_record_group": "archive-records"}
