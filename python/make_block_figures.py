"""Random GGUF blocks and what the `gguf` package decodes them to: tests/figures/gguf/blocks.txt.

    python -m venv VENV; VENV/bin/pip install gguf==0.19.0 numpy
    VENV/bin/python python/make_block_figures.py > tests/figures/gguf/blocks.txt

One line for each format: its name, the bytes of its blocks and the float32 values, both in
hexadecimal, little-endian.
"""

import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

# Where a block's binary16 factors lie: random bytes there could be infinities.
FACTORS = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
    "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}


def main():
    random = np.random.default_rng(20)
    print("# made by python/make_block_figures.py with gguf 0.19.0")
    for name, factors in FACTORS.items():
        elements, size = GGML_QUANT_SIZES[Type[name]]
        count = 2 if elements == 256 else 4
        blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
        for at in factors:
            values = random.normal(0, 0.1, count).astype("<f2")
            blocks[:, at : at + 2] = values.view(np.uint8).reshape(count, 2)
        decoded = dequantize(blocks.reshape(1, -1), Type[name]).astype("<f4")
        print(name, blocks.tobytes().hex(), decoded.tobytes().hex())


main()
