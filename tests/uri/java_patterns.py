"""Expressions in every form that operators use, and texts to try them on."""

# ruff: noqa: E501
from __future__ import annotations

# fmt: off
PATTERNS = [
    # plain, classes, quantifiers
    r".*", r".", r".+", r"", r"http://.*", r"http://a\.example/.*", r"[a-z]+", r"[^a-z]+", r"[a-z]{3}", r"[a-z]{2,3}",
    r"[a-z]{2,}", r"(a|b|abc)", r"a?b*c+", r".*?c", r"(?:ab)+c?", r"[-a]bc", r"[a-]bc", r"[.]x", r"[\]a]x", r"[\w.-]+",
    r"\w+", r"\W+", r"\d+", r"\D+", r"\s+", r"\S+", r"[\d]+", r"[^\d]+", r"\bab.*", r".*\Bc", r"^abc$", r"\Aabc\z",
    r"abc\Z", r"\.\*", r"\/a\/b", r"a\-b", r"\x61bc", r"\u0061bc", r"\x{61}bc", r"\t", r"\e", r"\h+", r"[\t ]+",
    # flags
    r"(?i)ABC", r"a(?i)BC", r"(?i:A)bc", r"(?i)a(?-i)BC", r"(a(?i)B)c", r".*(?i)\.JPG", r"(?s).*", r"(?s)a.b",
    r"(?m)^a$", r"(?x) a b c", r"(?x)a#b", r"(?is).*C", r"(?i)[A-Z]+", r"(?i)[^A-Z]+", r"x|(?i)ABC|y", r"(?i)\u0041BC",
    # unions, intersections, negations in classes
    r"[a-c[x-z]]+", r"[a[^b]]+", r"[a-z&&[^bc]]+", r"[a-z&&[def]]+", r"[a-d&&c-f]+", r"[\w&&[^\d]]+", r"[^a[b]]+",
    r"[^a&&b]+", r"[a-z&&[^m-p]]{3}", r"[[a][b]]+", r"[\p{L}&&[^a]]+", r"[\w-[x]]+",
    # possessive and reluctant quantifiers, groups, look-around, back references
    r"a*+b", r"a++b", r"a?+ab", r"(?>a+)b", r"(?>a|ab)c", r".*+c", r"(?=a)abc", r"(?!b).*", r"(?=.*c)ab.*",
    r"(?!.*\.jpg$).*", r".*(?<=b)c", r".*(?<!b)c", r"(a)\1", r"(a|b)\1+", r"(?<x>a)\k<x>", r"(ab|c)(\1)?", r"((a)b)\2?",
    # quoting, properties
    r"\Qa.b\E", r"\Qa.b", r"\Q*\Ex", r"[\Q.-\E]+", r"\p{Alpha}+", r"\p{Digit}+", r"\P{Digit}+", r"\p{Alnum}+", r"\p{Punct}+",
    r"\p{Lower}+", r"\p{Upper}+", r"\p{XDigit}+", r"[\p{Lower}\d]+", r"[^\p{Lower}]+", r"[\P{Lower}]+", r"\p{L}+", r"\p{Lu}+",
    r"\p{ASCII}*", r"\p{Space}*", r"\p{Blank}+", r"\p{Graph}+", r"\p{IsAlphabetic}+", r"\pL+",
    # as they stand in job files
    r".*/calendar/.*", r"^.*\.(?i)(jpg|gif|png)(\?.*)?$", r"(?i).*\.(a|aif|avi)$", r".*([?&]).*=.*\1.*", r"https?://([^/]+\.)?a\.example(:\d+)?/.*",
    r".*/(.*?/)\1{2,}.*", r"^(?!https?://a\.example/).*", r".*\.(?:css|js)(?:\?.*)?", r".*?([a-z])\1.*", r"\w+://[^/]*/.*",
    # no expressions
    r"(", r")", r"[a", r"*a", r"a**", r"a{2,1}", r"(?z)a", r"\p{Nonsense}", r"[z-a]", r"(?<n>a", r"\k<none>",
]

TEXTS = [
    "", "a", "abc", "ABC", "aBC", "ab", "ac", "aab", "aa", "abcabc", "bb", "xyz", "def", "123", "a1", "a.b", "a-b", "*x",
    ".x", "]x", " ", "\t", "\n", "a\n", "a\nb", "a b", "\u00e9", "a\u2028b", "\x1b", "-bc", "_", "!?", "f0", "/a/b",
    "http://a.example/", "http://a.example/x.jpg", "http://a.example/X.JPG?y", "http://www.a.example:80/calendar/1",
    "http://b.example/a/a/a/a/b", "http://b.example/?x=1&y=2&x=1", "https://a.example/x.css?1",
]
# fmt: on


def written(text: str) -> str:
    """One line of a file for the Java program."""
    return "".join(char if char.isalnum() and char.isascii() else f"%{ord(char):04x}" for char in text)
