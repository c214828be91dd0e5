"""Is an answer that is written in pieces the same text as one that is written at once?"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from heritrix_scrapy.operate.slices import AT_ONCE, LETTERS, encoded, pieces

words = (
    st.text(max_size=5) | st.just('x\ud800\U0001f600"\\' * (LETTERS // 3)) | st.just("line\n" * (LETTERS // AT_ONCE))
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | words | st.builds(object) | st.binary(max_size=3)
values = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=2 * AT_ONCE)
        | st.dictionaries(st.text(max_size=3) | st.integers() | st.none(), inner, max_size=2 * AT_ONCE)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@settings(max_examples=40, deadline=None)
@given(values)
def test_pieces_make_the_whole(value: Any) -> None:
    assert "".join(pieces(value)) == json.dumps(value, default=str)


def test_a_long_answer_lets_others_have_their_turns() -> None:
    answer = {"lines": ["http://a.test/" + "x" * 300] * 20_000, "text": "y" * 3_000_000}

    async def main() -> tuple[bytes, int]:
        turns, over = 0, False

        async def other() -> None:
            nonlocal turns
            while not over:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(other())
        made = await encoded(answer)
        over = True
        await counting
        return made, turns

    made, turns = asyncio.run(main())
    assert json.loads(made) == answer
    assert turns > 5
