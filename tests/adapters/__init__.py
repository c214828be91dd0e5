"""Which part of the product answers which vector group?

Every module here is loaded by ``tests/conformance.py``.  It may define

``ADAPTERS``    ``"FILE/GROUP"`` -> callable of one case, giving ``(ok, got)``; ``None`` where it has no
                answer for this very case
``MODERN``      the same under the modern profile; differences are listed apart and never fail
``MODERN_ROWS`` ``"FILE/GROUP"`` or case id -> row of ``docs/deviations`` for such a difference
``DEVIATIONS``  case id -> ``(reason, row)``: this case deviates, and the row says why
``DEVIATES``    ``"FILE/GROUP"`` -> callable of ``(case, got)`` giving ``(reason, row)`` or ``None``, for a
                deviation that is a rule and not one case
``OUTSIDE``     ``"FILE/GROUP"`` or case id -> ``(reason, row)``: the product has no such part

A case id is ``"FILE/GROUP#NAME"``, NAME being the case's ``id`` or ``name``, else its index in
``tests/vectors``.  A case that its file does not mark as a defect may deviate only for a reason that starts
with ``errata:`` or ``design:``.
"""
