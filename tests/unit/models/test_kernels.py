"""Whether fast integer products can be trusted is asked of the kernels themselves."""

from __future__ import annotations

import numpy as np

from service.adapters.onnx import kernels
from service.adapters.onnx.kernels import fast_kernels_are_exact

INT16 = np.iinfo(np.int16)


def test_the_probe_would_notice_a_sum_cut_off_at_16_bits():
    class SixteenBits:
        """What a CPU without VNNI computes: two products added in 16 bits, cut off there."""

        def run(self, _names, feeds):
            rows = feeds["rows"].astype(np.int64)
            weights = kernels._weights().astype(np.int64)
            pairs = rows[:, :, None] * weights[None]
            added = np.clip(pairs[:, ::2] + pairs[:, 1::2], INT16.min, INT16.max).sum(axis=1)
            return [added - 128 * weights.sum(axis=0)]

    rows = np.full((4, kernels._DEPTH), 255, dtype=np.uint8)
    assert not kernels._is_exact(SixteenBits(), rows)
    assert kernels._is_exact(SixteenBits(), np.full_like(rows, 100))  # small values fit


def test_the_answer_matches_what_a_session_computes():
    session = kernels._probe()
    rows = np.random.default_rng(7).integers(0, 256, (33, kernels._DEPTH)).astype(np.uint8)
    exact = (rows.astype(np.int64) - 128) @ kernels._weights().astype(np.int64)
    agrees = np.array_equal(session.run(["product"], {"rows": rows})[0], exact)
    assert agrees or not fast_kernels_are_exact()
