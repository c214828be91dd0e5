"""Challenges and what answers them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heritrix_scrapy.fetch import authentication, credentials
from heritrix_scrapy.fetch.credentials import FormCredential, HttpCredential
from heritrix_scrapy.model.challenge import Challenge
from heritrix_scrapy.model.errors import ConfigurationError


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (['Basic realm="Area 51"'], [("basic", "Area 51")]),
        (["Basic realm=simple"], [("basic", "simple")]),
        (['Digest realm="V", nonce="n", qop="auth", Basic realm="W"'], [("digest", "V"), ("basic", "W")]),
        (['Basic realm="W"', 'Digest realm="V",nonce="n"'], [("basic", "W"), ("digest", "V")]),
        (["NTLM"], [("ntlm", "")]),
        (["Negotiate abcd==", 'Basic realm="a\\"b"'], [("negotiate", ""), ("basic", 'a"b')]),
        (["NTLM, Basic realm=x"], [("ntlm", ""), ("basic", "x")]),
        ([""], []),
        (["="], []),
    ],
)
def test_challenges(values: list[str], expected: list[tuple[str, str]]) -> None:
    assert [(one.scheme, one.realm) for one in authentication.challenges(values)] == expected


@given(st.lists(st.text(max_size=200), max_size=3))
def test_any_header_is_read(values: list[str]) -> None:
    assert all(isinstance(one, Challenge) for one in authentication.challenges(values))


def test_a_long_header_is_read_in_time() -> None:
    assert len(authentication.challenges(['a="' * 3000, "Basic " * 5000, ", " * 9000, "=" * 9000])) >= 0


@pytest.mark.parametrize(
    ("value", "scheme"),
    [
        ('Basic realm="W", Digest realm="V", nonce="n"', "digest"),
        ('Basic realm="W", Digest realm="V", nonce="n", algorithm=SHA-3', "basic"),
        ('Basic realm="W", Digest realm="V"', "basic"),
        ('Digest realm="V", nonce="n", qop="auth-int"', None),
        ('Digest realm="V", nonce="n", qop="auth,auth-int", algorithm=SHA-256-sess', "digest"),
        ("Basic", None),
        ('Basic realm=""', None),
        ("NTLM", None),
    ],
)
def test_the_one_to_answer(value: str, scheme: str | None) -> None:
    found = authentication.answerable(authentication.challenges([value]))
    assert (None if found is None else found.scheme) == scheme


def test_basic() -> None:
    assert authentication.basic("anna", "s3cret") == "Basic YW5uYTpzM2NyZXQ="
    assert authentication.basic("ä", "ö") == "Basic w6Q6w7Y="


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_digest_of_rfc_7616(algorithm: str, response: str) -> None:
    """RFC 7616, 3.9.1."""
    parameters = {
        "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
        "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
        "qop": "auth, auth-int",
        "algorithm": algorithm,
    }
    value = authentication.digest(
        Challenge("digest", "http-auth@example.org", parameters, 1),
        "Mufasa",
        "Circle of Life",
        method="GET",
        target="/dir/index.html",
        cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
    )
    assert f'response="{response}"' in value
    assert "nc=00000001" in value


def test_a_realm_cannot_leave_its_line() -> None:
    challenge = Challenge("digest", 'a"\r\nX: y', {"nonce": 'n"\n'})
    value = authentication.digest(challenge, "u", "p", method="GET", target="/", cnonce="c")
    assert not re.search(r"[\r\n]", value)


HTTP = ["HttpAuthenticationCredential", {"domain": "h.example", "realm": "R", "login": "u", "password": "p"}]
FORM = ["HtmlFormCredential", {"domain": "h.example", "login_uri": "/login", "form_items": {"user": "u", "a": "1"}}]


def test_credentials_of_the_setting() -> None:
    found = credentials.read([HTTP, FORM])
    assert found == (
        HttpCredential("h.example", "R", "u", "p"),
        FormCredential("h.example", "/login", (("a", "1"), ("user", "u"))),
    )
    assert credentials.forms(found) == [found[1]]
    post = credentials.forms(found)[0].post()
    assert post is not None
    assert post.body == b"a=1&user=u"


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("HttpAuthenticationCredential", "expected [HttpAuth"),
        (["Kerberos", {}], "expected [HttpAuth"),
        ([HTTP[0], {"domain": "h", "pasword": "secret"}], "no property pasword"),
        ([HTTP[0], {"login": "u"}], "the domain"),
        ([HTTP[0], {"domain": "h", "password": 7}], "a text"),
        ([FORM[0], {"domain": "h"}], "login_uri"),
        ([FORM[0], {"login_uri": "/l"}], "the domain"),
        ([FORM[0], {"domain": "h", "login_uri": "/l", "form_items": ["secret"]}], "a mapping"),
    ],
)
def test_mistakes_are_told_without_the_password(entry: object, word: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        credentials.read([entry])
    assert word in str(caught.value.message)
    assert "secret" not in str(caught.value.message)


def test_a_credential_belongs_to_one_server() -> None:
    one = HttpCredential("H.example", "R")
    assert credentials.belongs(one, "h.example")
    assert credentials.belongs(one, "h.example:443")
    assert not credentials.belongs(one, "h.example:443", heritrix=True)
    assert not credentials.belongs(one, "h.example:8080")
    assert not credentials.belongs(one, "www.h.example")
    form = FormCredential("h.example", "/login")
    assert credentials.is_at(form, "http://h.example/login", "h.example")
    assert not credentials.is_at(form, "http://other.example/login", "other.example")
    assert credentials.is_at(form, "http://other.example/login", "other.example", heritrix=True)
