"""Which number does Heritrix give a text, and in which of N buckets does it put it?

Sub-queues and the split of a crawl over several machines hang on these numbers: with them a crawl is divided as
Heritrix divides it (Heritrix: FPGenerator, LongToIntConsistentHash; spec 5 and 6.2).
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

_WORD = (1 << 64) - 1


class Fingerprint:
    """Rabin fingerprints over UTF-16 code units, modulo a polynomial over GF(2).

    In the 64-bit word the most significant bit is the coefficient of x^0. ``polynomial``: its word, x^degree included
    where the degree is below 64. A result of ``degree`` bits occupies the top of the word.
    """

    def __init__(self, polynomial: int, degree: int) -> None:
        self._polynomial = polynomial
        self._highest = 1 << (64 - degree)
        self._shift = 64 - degree
        one = 1 << 63
        power = one
        for _ in range(64):
            power = self._times_x(power)
        #: x^64, the fingerprint of the empty text.
        self.empty = power
        powers = []
        for _ in range(16):
            powers.append(power)
            power = self._times_x(power)
        # what a unit adds: x^64 times its bits, the most significant being x^0
        self._high = [self._sum(powers[:8], byte) for byte in range(256)]
        self._low = [self._sum(powers[8:], byte) for byte in range(256)]
        # what 16 steps push out of the word: x^degree times those bits
        power = one
        for _ in range(degree):
            power = self._times_x(power)
        pushed = []
        for _ in range(16):
            pushed.append(power)
            power = self._times_x(power)
        self._pushed_high = [self._sum(pushed[:8], byte) for byte in range(256)]
        self._pushed_low = [self._sum(pushed[8:], byte) for byte in range(256)]

    def _times_x(self, word: int) -> int:
        return (word >> 1) ^ self._polynomial if word & self._highest else word >> 1

    @staticmethod
    def _sum(powers: list[int], byte: int) -> int:
        total = 0
        for place, power in enumerate(powers):
            if byte & (128 >> place):
                total ^= power
        return total

    def of(self, text: str) -> int:
        """The fingerprint as an unsigned word."""
        high, low, pushed_high, pushed_low = self._high, self._low, self._pushed_high, self._pushed_low
        shift = self._shift
        keep = _WORD ^ ((1 << shift) - 1)
        word = self.empty
        units = text.encode("utf-16-be", "surrogatepass")
        for place in range(0, len(units), 2):
            out = (word >> shift) & 0xFFFF
            word = (word >> 16) & keep
            word ^= pushed_high[out >> 8] ^ pushed_low[out & 255]
            word ^= high[units[place]] ^ low[units[place + 1]]
        return word


#: The polynomials that Heritrix uses, by degree.
POLYNOMIALS: dict[int, int] = {
    64: 0xD74307D3FD3382DB,
    40: 0x8643FFF621800000,
    32: 0x9B6C9A2F80000000,
    24: 0x8E375B8000000000,
}

_fp64 = Fingerprint(POLYNOMIALS[64], 64)


@lru_cache(maxsize=16_384)
def fp64(text: str) -> int:
    """The 64-bit fingerprint as Java has it: a signed number."""
    word = _fp64.of(text)
    return word - (1 << 64) if word >> 63 else word


#: Points of each bucket on the ring.
REPLICAS = 128


@lru_cache(maxsize=64)
def _ring(buckets: int) -> tuple[list[int], list[int]]:
    points = sorted((fp64.__wrapped__(f"{bucket}.{n}"), bucket) for bucket in range(buckets) for n in range(REPLICAS))
    return [point for point, _ in points], [bucket for _, bucket in points]


def bucket_for(text: str, buckets: int) -> int:
    """The bucket, from 0, that takes a text: the first point of the ring at or after its fingerprint. One bucket more
    moves one in ``buckets + 1`` of the texts."""
    points, owners = _ring(buckets)
    place = bisect_left(points, fp64(text))
    return owners[place if place < len(points) else 0]
