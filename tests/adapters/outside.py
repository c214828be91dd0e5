"""Which vector groups describe a part that the product does not have?

Each entry is a row of ``docs/deviations/outside.md``; a test compares the two lists.
"""

from __future__ import annotations

ROW = "outside"

_REASONS: dict[str, tuple[str, ...]] = {
    "Wayback's own key canonicaliser; the crawler neither calls it nor writes its keys": (
        "scope/wac_basic_canonicalizer",
        "scope/wac_basic_decode",
        "scope/wac_basic_unescape_repeatedly",
        "scope/wac_basic_ip_formats",
        "scope/wac_aggressive_canonicalizer",
        "scope/wac_ia_canonicalizer",
        "scope/wac_alpha_reorder_query",
        "scope/wac_massage_host",
        "scope/wac_default_port",
        "scope/wac_ordinary_canonicalizer",
        "scope/wac_add_default_scheme",
        "scope/wac_wayback_key",
        "scope/wac_strip_path_session",
        "scope/wac_strip_query_session",
        "scope/wac_host_to_surt",
        "scope/wac_public_suffix",
        "scope/wac_parse",
    ),
    "the insides of BerkeleyDB; our store is LevelDB with another key": (
        "frontier/ut_put_while_interrupted",
        "frontier/ut_bdb_uniq_key",
        "frontier/ut_bdb_uniq_no_collision",
        "frontier/bdb_uniq_key",
    ),
    "in-memory sets of fingerprints; what has been seen is kept in the store": (
        "frontier/ut_bloom_uniq_filter",
        "frontier/uniq_filter_semantics#2",
        "frontier/uniq_filter_semantics#3",
        "frontier/uniq_filter_semantics#4",
        "frontier/uniq_filter_semantics#5",
        "frontier/ut_fp_sets",
        "frontier/ut_bloom",
    ),
    "a message broker feeds the crawl; a project does that with a spider or a seed source": (
        "frontier/amqp_receive",
        "frontier/amqp_publish",
    ),
    "the action directory's scripts; there is no script engine": ("frontier/action_file_outputs",),
    "an external download program; a project calls it from a step or a pipeline": ("fetch/youtube_dl",),
    "a browser that renders pages; a project brings one as a download handler": ("fetch/browser",),
    "the document is not carried by the vector file": (
        "fetch/pdf_content#pdf_content-001",
        "fetch/pdf_content#pdf_content-002",
        "fetch/pdf_content#pdf_content-003",
        "fetch/pdf_content#pdf_content-005",
    ),
    "a file that Heritrix wrote, for comparison; nothing is computed": ("output/reference_warc",),
}

OUTSIDE: dict[str, tuple[str, str]] = {group: (reason, ROW) for reason, groups in _REASONS.items() for group in groups}
