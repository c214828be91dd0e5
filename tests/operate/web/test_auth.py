"""Who is let in, and how long does somebody wait who guesses?"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

import pytest

from heritrix_scrapy.operate.web import delay
from heritrix_scrapy.operate.web.auth import REALM, Account, Gate, PasswordError, account, response_of, weak
from heritrix_scrapy.operate.web.delay import Crowded, Delays
from heritrix_scrapy.operate.web.nonces import BEHIND, SECONDS, Nonces
from heritrix_scrapy.operate.web.sessions import IDLE, LONGEST, MOST, Sessions, genuine
from tests.operate.web.served import OPERATOR, digest

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def gate(clock: Clock, *schemes: str) -> Gate:
    return Gate([OPERATOR], clock, schemes=schemes or ("digest",), secret=b"x")


def test_a_digest_of_the_right_password_is_taken():
    judge = gate(Clock())
    header = digest(OPERATOR, judge.nonces.make(), "GET", "/engine")
    assert judge.judge("GET", header, "/engine").account == OPERATOR


@pytest.mark.parametrize("part", ["GET", "/engine"])
def test_a_digest_is_for_one_request(part):
    judge = gate(Clock())
    header = digest(OPERATOR, judge.nonces.make(), "GET", "/engine")
    said = judge.judge("POST" if part == "GET" else "GET", header, "/engine" if part == "GET" else "/other")
    assert said.failed
    assert said.account is None


def test_an_old_nonce_is_stale_and_no_failure():
    clock = Clock()
    judge = gate(clock)
    header = digest(OPERATOR, judge.nonces.make(), "GET", "/engine")
    clock.now += SECONDS + 1
    said = judge.judge("GET", header, "/engine")
    assert said.stale
    assert not said.failed
    assert said.account is None


def test_an_old_nonce_with_a_wrong_password_is_a_failure():
    clock = Clock()
    judge = gate(clock)
    header = digest(Account("admin", "wrong"), judge.nonces.make(), "GET", "/engine")
    clock.now += SECONDS + 1
    assert judge.judge("GET", header, "/engine").failed


def test_a_nonce_of_another_server_is_stale():
    other = Gate([OPERATOR], Clock(), secret=b"y")
    header = digest(OPERATOR, other.nonces.make(), "GET", "/engine")
    assert gate(Clock()).judge("GET", header, "/engine").stale


def test_a_digest_is_good_once():
    clock = Clock()
    judge = gate(clock)
    nonce = judge.nonces.make()
    for count in (1, 2, 4, 3, 200, 100):
        header = digest(OPERATOR, nonce, "POST", "/engine", count)
        assert judge.judge("POST", header, "/engine").account == OPERATOR
        again = judge.judge("POST", header, "/engine")
        assert again.stale
        assert not again.failed
        assert again.account is None
    assert judge.judge("GET", digest(OPERATOR, nonce, "GET", "/", 201), "/").account == OPERATOR
    assert judge.judge("GET", digest(OPERATOR, nonce, "GET", "/", 201), "/").stale
    assert judge.judge("GET", digest(OPERATOR, nonce, "GET", "/", 0), "/").stale
    assert judge.judge("GET", digest(OPERATOR, judge.nonces.make(), "GET", "/", 1), "/").account == OPERATOR


def test_a_digest_without_a_count_changes_something_once():
    judge = gate(Clock())
    nonce = judge.nonces.make()
    for _ in range(3):
        header = old_digest(OPERATOR, nonce, "GET", "/engine")
        assert judge.judge("GET", header, "/engine").account == OPERATOR
    header = old_digest(OPERATOR, nonce, "POST", "/engine")
    assert judge.judge("POST", header, "/engine").account == OPERATOR
    assert judge.judge("POST", header, "/engine").stale


def old_digest(account: Account, nonce: str, method: str, path: str) -> str:
    said = {"nonce": nonce, "uri": path}
    parts = [f'{name}="{value}"' for name, value in {"username": account.user, "realm": REALM, **said}.items()]
    response = response_of(account.user, account.password, method, said)
    return f"Digest {', '.join(parts)}, response={response}"


@pytest.mark.parametrize(
    "wrong", ["nc=1", "nc=0000000x", "nc=000000001", "qop=auth-int", 'cnonce=""', "algorithm=SHA-256", 'realm="x"']
)
def test_what_no_digest_has(wrong):
    judge = gate(Clock())
    name, _, value = wrong.partition("=")
    said = digest(OPERATOR, judge.nonces.make(), "GET", "/")
    changed = re.sub(rf'\b{name}=("[^"]*"|[^,]*)', f"{name}={value}", said)
    assert changed != said
    assert judge.judge("GET", changed, "/").failed


@pytest.mark.parametrize("name", ["username", "uri", "cnonce", "response", "nonce", "nc", "qop"])
def test_bytes_that_are_no_text(name):
    judge = gate(Clock())
    said = digest(OPERATOR, judge.nonces.make(), "GET", "/")
    changed = re.sub(rf'\b{name}=("[^"]*"|[^,]*)', f'{name}="\udcff"', said)
    assert judge.judge("GET", changed, "/").account is None


def test_nonces_that_are_kept_are_few_and_none_is_good_twice():
    clock = Clock()
    nonces = Nonces(clock, b"x", most=10)
    made = []
    for _ in range(100):
        clock.now += 0.01
        made.append(nonces.make())
        assert nonces.use(made[-1], 1)
        assert len(nonces) <= 10
    assert not any(nonces.use(each, 1) for each in made)
    assert nonces.use(made[-1], 2)
    assert not nonces.use(made[0], 2)
    clock.now += SECONDS + 1
    assert nonces.use(nonces.make(), 1)
    assert len(nonces) == 1


def test_counts_may_come_in_any_order_that_is_close():
    nonces = Nonces(Clock(), b"x")
    nonce = nonces.make()
    assert nonces.use(nonce, 10_000)
    for count in range(10_000 - BEHIND + 1, 10_000):
        assert nonces.use(nonce, count)
        assert not nonces.use(nonce, count)
    assert not nonces.use(nonce, 10_000 - BEHIND)
    assert nonces.use(nonce, 0xFFFFFFFF)
    assert not nonces.use(nonce, 10_001)


@pytest.mark.parametrize("changed", [0, 1, 2])
def test_a_nonce_is_signed_as_a_whole(changed):
    nonces = Nonces(Clock(), b"x")
    parts = nonces.make().split(":")
    assert nonces.age(":".join(parts)) == 0
    parts[changed] = ("0" if parts[changed][0] != "0" else "1") + parts[changed][1:]
    assert nonces.age(":".join(parts)) is None


@pytest.mark.parametrize(
    ("user", "password", "right"),
    [("admin", "right horse 7", True), ("admin", "wrong", False), ("nobody", "right horse 7", False), ("", "", False)],
)
def test_basic(user, password, right):
    header = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    said = gate(Clock(), "basic").judge("GET", header, "/")
    assert (said.account is not None) is right
    assert said.failed is not right
    assert gate(Clock(), "digest").judge("GET", header, "/").failed


@pytest.mark.parametrize("header", [None, "", "Bearer abc", "Digest", "Basic !!!", "Digest " + "a=b," * 5000])
def test_what_is_no_login(header):
    assert gate(Clock(), "digest", "basic").judge("GET", header, "/").account is None


def test_the_option(tmp_path: Path):
    (tmp_path / "file").write_text("joe:pw\n")
    assert account("secret") == Account("admin", "secret")
    assert account("joe:s:x") == Account("joe", "s:x")
    assert account(f"@{tmp_path / 'file'}") == Account("joe", "pw")


@pytest.mark.parametrize("said", ["", ":", "joe:", ":pw", "a\nb:c", 'a"b:c', "@/no/such/file"])
def test_what_is_no_option(said):
    with pytest.raises(PasswordError):
        account(said)


def test_there_is_no_server_without_a_login():
    with pytest.raises(PasswordError):
        Gate([], Clock())


def test_weak_passwords():
    assert all(map(weak, ("short7!", "abcdefghij", "1234567890")))
    assert not any(map(weak, ("abcdefg1", "correct horse battery", "12345678901")))


# -- guessing ----------------------------------------------------------------------------------------------------


def test_two_failures_of_one_address_lie_six_seconds_apart():
    delays = Delays()
    assert delays.wait("192.0.2.1", 0.0) == 0
    delays.failed("192.0.2.1", 0.0)
    assert delays.wait("192.0.2.1", 1.0) == 5.0
    assert delays.wait("192.0.2.1", 1.0) == 11.0
    delays.turn("192.0.2.1")
    delays.turn("192.0.2.1")
    assert delays.wait("192.0.2.1", 100.0) == 0


def test_a_right_one_from_elsewhere_does_not_wait():
    delays = Delays()
    delays.failed("192.0.2.1", 0.0)
    for _ in range(delay.WAITING_EACH):
        assert delays.wait("192.0.2.1", 0.0) > 0
    for _ in range(1000):
        with pytest.raises(Crowded):
            delays.wait("192.0.2.1", 0.0)
    assert delays.wait("192.0.2.2", 0.0) == 0
    assert len(delays) == 1


def test_a_thousand_in_parallel_hold_little():
    delays, waiting, refused = Delays(), 0, 0
    for number in range(1000):
        address = f"192.0.{number % 4}.{number % 250}"
        delays.failed(address, 0.0)
    for number in range(1000):
        try:
            waiting += delays.wait(f"192.0.{number % 4}.{number % 250}", 0.0) > 0
        except Crowded:
            refused += 1
    assert waiting == delay.WAITING
    assert refused == 1000 - delay.WAITING


def test_addresses_are_forgotten():
    delays = Delays(addresses=100)
    for number in range(10_000):
        delays.failed(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}", float(number))
    assert len(delays) <= 100


def test_an_ipv6_network_is_one_address():
    delays = Delays()
    delays.failed("2001:db8::1", 0.0)
    assert delays.wait("2001:db8::2", 0.0) > 0
    assert delays.wait("2001:db8:0:1::1", 0.0) == 0
    delays.failed("::ffff:192.0.2.1", 0.0)
    assert delays.wait("192.0.2.1", 0.0) > 0


def test_a_right_password_ends_the_waiting():
    delays = Delays()
    delays.failed("192.0.2.1", 0.0)
    delays.right("192.0.2.1")
    assert delays.wait("192.0.2.1", 0.0) == 0


# -- sessions ----------------------------------------------------------------------------------------------------


def test_a_session_goes_on_while_it_is_used():
    clock = Clock()
    sessions = Sessions(clock)
    token, session = sessions.begin(OPERATOR)
    clock.now += IDLE - 1
    assert sessions.of(token) is session
    clock.now += IDLE + 1
    assert sessions.of(token) is None


def test_a_session_ends_in_any_case():
    clock = Clock()
    sessions = Sessions(clock)
    token, _ = sessions.begin(OPERATOR)
    for _ in range(int(LONGEST / IDLE) * 2 + 2):
        clock.now += IDLE / 2
        sessions.of(token)
    assert sessions.of(token) is None


def test_sessions_are_few_and_their_tokens_differ():
    sessions = Sessions(Clock())
    tokens = [sessions.begin(OPERATOR)[0] for _ in range(MOST + 10)]
    assert len(set(tokens)) == len(tokens)
    assert len(sessions) == MOST
    assert sessions.of(tokens[0]) is None
    assert sessions.of(tokens[-1]) is not None


def test_a_form_is_of_its_own_session():
    sessions = Sessions(Clock())
    one, other = sessions.begin(OPERATOR)[1], sessions.begin(OPERATOR)[1]
    assert genuine(one, one.csrf)
    assert not genuine(one, other.csrf)
    assert not genuine(one, "")
    assert not genuine(one, None)


def test_after_the_end_a_token_is_nothing():
    sessions = Sessions(Clock())
    token, session = sessions.begin(OPERATOR)
    sessions.end(session)
    assert sessions.of(token) is None
    assert sessions.of("x" * 10_000) is None
