# SPDX-License-Identifier: Apache-2.0
"""The two spreads of start_spread.py, on numbers whose answer is known."""

import math

import pytest
from start_spread import spread


def test_servers_differ_and_slices_do_not() -> None:
    between, within = spread([[0.00, 0.00], [0.02, 0.02]])
    assert between == pytest.approx(0.02 / math.sqrt(2))
    assert within == pytest.approx(0)


def test_slices_differ_and_servers_do_not() -> None:
    between, within = spread([[0.01, -0.01], [-0.01, 0.01]])
    assert between == 0
    assert within == pytest.approx(0.02)


def test_what_a_round_has_in_common_is_taken_out() -> None:
    drift = [0.0, 0.5, 1.0]
    plain = [[0.00, 0.01, 0.02], [0.03, 0.01, 0.05], [0.00, 0.04, 0.01]]
    shifted = [[t + d for t, d in zip(row, drift)] for row in plain]
    assert spread(shifted) == pytest.approx(spread(plain))
