"""Does the product behave as the vectors say, and does every group have somebody to answer for it?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))

import conformance  # noqa: E402  (found beside this file)

ROOT = HERE.parent
SHARED = ROOT.parent / "shared" / "vectors"
ROWS = ROOT / "docs" / "deviations"
FILES = ("scope.json", "frontier.json", "fetch.json", "output.json")

# The groups that must have an adapter; a group joins the table when its part of the product does.
WITH_ADAPTER = [
    "output/xml_marshaller",
    "output/json_marshaller",
    "output/script_console",
    "output/engine_jobs",
    "output/profile_validation",
    "output/launch_count",
    "output/password_option",
    "output/bind_option",
    "output/progress_log_contains",
    "output/padding_buffer",
    "output/format_ms",
    "output/pad_to",
    "output/timestamps",
    "output/timestamp_parse",
    "output/seconds_since_epoch",
    "output/zero_pad10",
    "output/crawled_bytes",
    "output/fetch_stats",
    "output/snapshot_rates",
    "output/congestion_ratio",
    "output/statistics_selftest",
    "output/seeds_report_order",
    "output/seeds_report_line",
    "output/top_n",
    "output/rotated_log_name",
    "scope/uuri_fixup",
    "scope/uuri_fixup_charset",
    "scope/uuri_error",
    "scope/uuri_resolve",
    "scope/uuri_parts",
    "scope/uuri_has_scheme",
    "scope/uuri_filename",
    "scope/uuri_unicode_host",
    "scope/surt_from_uri",
    "scope/surt_prefix_from_seed",
    "scope/surt_prefix_set",
    "scope/ald_reduce",
    "scope/canon_fixup_query_string",
    "scope/canon_lowercase",
    "scope/canon_strip_userinfo",
    "scope/canon_strip_wwwn",
    "scope/canon_strip_www",
    "scope/canon_strip_session_ids",
    "scope/canon_strip_session_cfids",
    "scope/canon_regex_rule",
    "scope/canon_policy_default",
    "scope/hops_path_extend",
    "scope/max_link_hops_selftest",
    "scope/server_key",
    "scope/probe_uuri",
    "scope/probe_resolve",
    "scope/probe_surt",
    "scope/probe_candidate_surt",
    "scope/probe_prefix_from_plain",
    "scope/probe_prefix_to_host",
    "scope/probe_prefix_to_domain",
    "scope/probe_import_mixed",
    "scope/probe_prefix_set_add",
    "scope/probe_contains_prefix",
    "scope/probe_prefix_finder",
    "scope/probe_seed_text",
    "scope/probe_default_scope",
    "scope/probe_sequence",
    "scope/probe_transclusion",
    "scope/probe_too_many_hops",
    "scope/probe_hop_counts",
    "scope/probe_hops_extend",
    "scope/probe_pathological",
    "scope/probe_path_segments",
    "scope/probe_ald",
    "scope/probe_scheme_not_in_set",
    "scope/probe_canon_policy",
    "scope/probe_canon_rules",
    "scope/probe_surt_rules",
    "frontier/ut_extend_hops_path",
    "frontier/ut_server_key",
    "frontier/scheduling_directive",
    "frontier/canonical_force_fetch",
    "frontier/hops",
    "frontier/politeness_delay",
    "frontier/disposition_table",
    "frontier/outlink_gate",
    "frontier/mark_prerequisite",
    "frontier/processing_cleanup",
    "frontier/ut_insert_key_order",
    "frontier/insert_key",
    "frontier/ut_stored_queue",
    "frontier/ut_bdb_uniq_filter",
    "frontier/ut_fp_uniq_filter",
    "frontier/ut_bdb_forget_authority",
    "frontier/uniq_filter_semantics",
    "frontier/cost",
    "frontier/class_key",
    "frontier/report_formats",
    "frontier/report_text",
    "frontier/import_recover_format",
    "frontier/seed_text",
    "frontier/seed_redirect_loop",
    "frontier/checkpoint_and_recovery",
    "frontier/checkpoint_naming",
    "frontier/action_file_kinds",
    "output/checkpoint_name",
    "frontier/scenario/force_retire_sticky",
    "frontier/scenario/delete_uris",
    "frontier/scenario/delete_from_retired_queue",
    "frontier/scenario/delete_in_process_uri",
    "frontier/scenario/consider_included",
    "frontier/scenario/congestion",
    "scope/probe_recover_line",
    "output/recovery_log_line",
    "output/seed_line",
    "output/seed_file_append",
    "frontier/class_key_defer",
    "frontier/parallel_queues",
    "frontier/fingerprint",
    "frontier/consistent_hash",
    "frontier/ut_consistent_hash",
    "frontier/assignment_level",
    "frontier/success_counts_precedence",
    "frontier/hops_precedence",
    "frontier/bandwidth_delay",
    "frontier/hops_via_parse",
    "frontier/ut_topnset",
    "frontier/ut_selftest_precedence",
    "frontier/ut_selftest_other",
    "frontier/ut_crawluri_identity",
    "frontier/ut_crawluri_persistence",
    "scope/crawluri_ordering",
    "scope/crawluri_roundtrip",
    "frontier/hash_crawl_mapper",
    "frontier/lexical_crawl_mapper",
    "frontier/crawl_mapper_diversion",
    "frontier/ut_highest_uri_provider_serialises",
    "frontier/scenario",
    "frontier/ut_crawl_limit_enforcer",
    "frontier/ut_quota_enforcer",
    "frontier/quota_enforcer",
    "frontier/runtime_limit",
    "frontier/host_quota",
    "frontier/source_quota",
    "frontier/disk_space",
    "output/crawl_limit",
    "output/quota",
    "fetch/html",
    "fetch/css",
    "fetch/js",
    "fetch/is_data_uri",
    "fetch/very_likely_uri",
    "fetch/speculative_fixup",
    "fetch/hops_path",
    "fetch/outlink_ordering",
    "fetch/server_key",
    "fetch/html_derived",
    "fetch/http",
    "fetch/preconditions",
    "fetch/preselector",
    "fetch/status_disposition",
    "fetch/html_entities",
    "fetch/fetch_http",
    "fetch/fetch_http2",
    "fetch/jericho",
    "fetch/xml",
    "fetch/likely_uri",
    "fetch/uri",
    "fetch/implied_uri",
    "fetch/json",
    "fetch/universal",
    "fetch/robots_txt_extractor",
    "fetch/sitemap",
    "fetch/aggressive",
    "fetch/knowledgable_js",
    "fetch/configurable_js",
    "fetch/multiple_regex",
    "fetch/pdf",
    "fetch/pdf_content",
    "fetch/pdf_content_text",
    "scope/uri_is_data",
    "scope/uri_is_likely",
    "scope/probe_is_tld",
    "scope/pysurt_handyurl_geturl",
    "scope/pysurt_canonicalize",
    "scope/pysurt_surt",
    "scope/pysurt_helpers",
    "fetch/http_content_digest",
    "output/warc_record_group",
    "output/warc_stats_per_group",
    "output/warc_writer_processor",
    "output/warc_target_uri_check",
    "output/warc_content_type_normalise",
    "output/template_interpolate",
    "output/revisit_decision",
    "output/content_digest_history",
    "output/warc_dedupe_sequence",
    "output/persist_key",
    "output/cdx_query_url",
    "output/cdx_lookup",
    "output/fetch_history_insert",
    "output/mirror_path_mapping",
    "output/mirror_path_sequence",
    "output/anvl",
    "output/warc_file_name",
    "output/payload_digest",
    "output/surt",
    "output/crawl_log_line",
    "fetch/selftest",
    "fetch/dns",
    "fetch/ftp",
    "fetch/robots_txt",
    "fetch/robots_policy",
    "scope/robots_policy",
    "fetch/robots_update",
    "fetch/cookies",
    "fetch/cookie_scoping",
    "fetch/cookies_txt",
    "fetch/form_login",
    "fetch/forms",
    "output/cookie_store",
    "output/cookie_file_line",
    "output/disposition_class",
    "output/hops_path",
]


@pytest.fixture(scope="module")
def adapters() -> conformance.Adapters:
    return conformance.adapters()


@pytest.fixture(scope="module")
def judge(adapters: conformance.Adapters) -> conformance.Judge:
    return conformance.Judge(adapters)


def test_every_adapter_module_can_be_imported(adapters: conformance.Adapters) -> None:
    assert adapters.broken == {}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("folder", [conformance.KEPT, *([SHARED] if SHARED.is_dir() else [])], ids=lambda p: p.name)
def test_nothing_fails(folder: Path, name: str, judge: conformance.Judge) -> None:
    results = [judge.judge(vector) for vector in conformance.load(folder / name, judge.known)]
    failed = [conformance.detail(result) for result in results if result.outcome == "failed"]
    assert results
    assert not failed, "\n\n".join(failed[:20])


@pytest.mark.parametrize("group", WITH_ADAPTER)
def test_group_has_an_adapter(group: str, adapters: conformance.Adapters) -> None:
    assert {group} - set(adapters.run) == set()


def test_every_group_of_an_adapter_exists(adapters: conformance.Adapters) -> None:
    groups = {vector.group for vector in conformance.kept()} | {"frontier/scenario"}
    assert sorted(set(adapters.run) - groups) == []


def test_the_outside_table_is_the_documented_one(adapters: conformance.Adapters) -> None:
    text = (ROWS / "outside.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)) == set(adapters.outside)


def documented() -> str:
    docs = ROWS.parent
    pages = [*docs.glob("deviations*.md"), *docs.glob("deviations/*.md")]
    return "\n".join(path.read_text(encoding="utf-8") for path in pages)


def test_every_deviation_has_its_row(adapters: conformance.Adapters, judge: conformance.Judge) -> None:
    rows = {row for _, row in adapters.deviations.values()} | set(adapters.modern_rows.values())
    groups = set(adapters.deviates)
    rows |= {judge.judge(vector).row for vector in conformance.kept() if vector.group in groups}
    text = documented()
    assert sorted(row for row in rows if row not in text) == []


# ---------------------------------------------------------------- the runner itself


def test_a_file_is_known_by_its_shape() -> None:
    known = {"scope/surt_tokenizer", "output/anvl"}
    assert conformance.kind_of({"groups": {}}, known) == "fetch"
    assert conformance.kind_of({"scenarios": []}, known) == "frontier"
    assert conformance.kind_of({"_meta": {}, "anvl": []}, known) == "scope"
    assert conformance.kind_of({"surt_tokenizer": []}, known) == "scope"
    assert conformance.kind_of({"anvl": [], "new_group": []}, known) == "output"
    with pytest.raises(SystemExit):
        conformance.kind_of({"nothing": []}, known)


def vector(*, defect: bool = False) -> conformance.Vector:
    return conformance.Vector("scope/x", "7", {"id": "7", "input": "a", "expected": "b"}, defect)


def outcome(table: conformance.Adapters, *, defect: bool = False) -> str:
    return conformance.Judge(table).judge(vector(defect=defect)).outcome


def test_outcomes() -> None:
    def wrong(case: conformance.Case) -> tuple[bool, object]:
        return False, "c"

    def broken(case: conformance.Case) -> tuple[bool, object]:
        raise ValueError("broken")

    def silent(case: conformance.Case) -> None:
        return None

    table = conformance.Adapters
    row = {"scope/x#7": ("why", "row")}
    assert outcome(table()) == "no adapter"
    assert outcome(table(run={"scope/x": silent})) == "no adapter"
    assert outcome(table(run={"scope/x": lambda case: (True, "b")})) == "passed"
    assert outcome(table(run={"scope/x": wrong})) == "failed"
    assert outcome(table(run={"scope/x": broken})) == "failed"
    assert outcome(table(run={"scope/x": wrong}, deviations=row)) == "failed"
    assert outcome(table(run={"scope/x": wrong}, deviations=row), defect=True) == "deviates"
    rule = {"scope/x": [lambda case, got: ("errata: why", "row")]}
    assert outcome(table(run={"scope/x": wrong}, deviates=rule)) == "deviates"
    assert outcome(table(outside={"scope/x": ("why", "row")})) == "outside"


def test_a_table_keyed_by_index_follows_the_case_into_another_file(adapters: conformance.Adapters) -> None:
    own = next(case for case in conformance.kept() if case.group == "scope/uuri_fixup" and case.name == "3")
    moved = conformance.Vector(own.group, "0", own.case, own.defect)
    other = conformance.Vector(own.group, "3", {"input": "else", "expected": "x"}, False)
    table = conformance.Adapters(
        run={own.group: lambda case: (False, None)}, deviations={own.id: ("design: example", "row")}
    )
    assert conformance.Judge(table).judge(moved).outcome == "deviates"
    assert conformance.Judge(table).judge(other).outcome == "failed"


def test_last_line_and_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(conformance.KEPT / "scope.json"), "--group", "scope/wac_parse"]
    assert conformance.main(arguments) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "total: 0 passed, 0 failed, 0 deviate, 0 without adapter, 14 outside"
