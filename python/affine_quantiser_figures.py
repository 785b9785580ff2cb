"""Writes tests/golden/affine_quantiser.json: rows quantised by MLX, as hexadecimal bytes.

Made with mlx 0.32.4 (mlx-cpu 0.32.4):  python python/affine_quantiser_figures.py
"""

import json
import pathlib

import mlx.core as mx
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
DTYPES = {"F32": mx.float32, "F16": mx.float16, "BF16": mx.bfloat16}


def make_row() -> np.ndarray:
    """Stretches of 128 values, exact in every dtype, that reach every branch.

    In the two of `ties` the zero of 2 or of 4 bits lies half-way between two steps.
    """
    random = np.random.default_rng(5)
    bell = random.normal(size=128)
    positive = random.uniform(0.25, 1.0, size=128)
    negative = -random.uniform(0.25, 1.0, size=128)
    ties = np.concatenate([np.tile([2.5, -0.5, 0.5, 1.5, 0.0, 1.0, 2.0, 0.25], 16),
                           np.tile([8.5, -6.5, 0.5, 1.5, -2.5, 0.25, 3.5, -0.5], 16)])
    flat = np.concatenate([np.zeros(32), np.full(32, 0.75), np.full(32, -3.0), np.eye(1, 32)[0]])
    row = np.concatenate([bell, positive, negative, ties, flat]).astype(np.float32)
    return np.array(mx.array(row).astype(mx.bfloat16).astype(mx.float32))


def to_hex(array: mx.array) -> str:
    return bytes(memoryview(array.view(mx.uint8))).hex()


def main() -> None:
    row = make_row()
    cases = []
    for dtype, mlx_dtype in DTYPES.items():
        source = mx.array(row).astype(mlx_dtype).reshape(1, -1)
        assert np.array_equal(np.array(source.astype(mx.float32))[0], row)
        for bits in (2, 3, 4, 5, 6, 8):
            for group in (32, 64, 128):
                packed, scales, biases = mx.quantize(source, group_size=group, bits=bits)
                cases.append({"dtype": dtype, "bits": bits, "group": group,
                              "packed": to_hex(packed), "scales": to_hex(scales),
                              "biases": to_hex(biases)})
    figures = {"made_with": "mlx 0.32.4, python/affine_quantiser_figures.py",
               "row": row.astype("<f4").tobytes().hex(), "cases": cases}
    path = ROOT / "tests" / "golden" / "affine_quantiser.json"
    path.write_text(json.dumps(figures, indent=0) + "\n")


if __name__ == "__main__":
    main()
