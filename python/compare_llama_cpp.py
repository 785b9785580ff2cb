"""Logits of GGUF models here and in llama.cpp, for the same token ids.

    python -m venv VENV; VENV/bin/pip install gguf==0.19.0 numpy
    cmake --build --preset release --target lockstep lockstep_logits
    VENV/bin/python python/compare_llama_cpp.py BUILD LLAMA WORK > docs/comparisons/llama-cpp.txt

BUILD holds lockstep and bench/lockstep_logits; LLAMA holds llama-quantize, llama_logits
(bench/llama_cpp/llama_logits.cc, linked with libllama) and llama.cpp's libraries; WORK is scratch.
scripts/compare_llama_cpp.sh builds all of it from llama-cpp-python's source package and calls this.

What may differ. The F32 file: the same float32 products in another order, and a bound of 1e-5 of the
logits' root mean square. Elsewhere llama.cpp rounds the activations at every product: to F16 and BF16
in files of these types (relative rounding error 2^-12 and 2^-9 over sqrt 3), to int8 in groups of 32
where weights have blocks of 32, of 256 where they have blocks of 256 (a group's largest value over
127 sqrt 12; for normal values it is 2.4 and 2.95 times the root mean square, so 0.55 % and 0.67 %).
This engine in int8 rounds per 32 as well. These errors are small and independent, so that what
arrives at the logits is a gain times the rounding error; the gain is the model's own and is measured
with the BF16 file, whose rounding is known, and includes routers that choose other experts. The
bound is 1.5 times the gain times the roundings of both sides, added as independent. BF16 must be
within 3 times what F16 predicts (a factor of 8), and F16 below 0.5 %. A wrong transform (norms, head
order, signs, scales) gives errors near 100 %.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

COUNT = 64
FLOAT_BOUND, F16_BOUND = 1e-5, 5e-3
F16_ROUNDING, BF16_ROUNDING = 2**-12 / 3**0.5, 2**-9 / 3**0.5
GROUP_32, GROUP_256 = 2.4 / 127 / 12**0.5, 2.95 / 127 / 12**0.5
SHAPES = ["micro-r1", "micro-r3", "micro-moe16"]
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "IQ4_NL"]
# Rows of 256 values and more; other tensors of the shape fall back to blocks of 32.
SUPER_TYPES = ["Q2_K", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "IQ4_XS"]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def error_of(got, want):
    got, want = got.astype(np.float64), want.astype(np.float64)
    return np.sqrt(((got - want) ** 2).mean() / (want**2).mean())


def bound_of(kind, precision, errors):
    """`errors` are those at full precision so far, by type."""
    if kind in ("F32", "F16"):
        bf16_cache = 0.0 if precision == "full" else 2**-9  # int8 comes with a bf16 cache
        return (FLOAT_BOUND if kind == "F32" else F16_BOUND) + bf16_cache
    if kind == "BF16":
        return 3 * errors["F16"] * BF16_ROUNDING / F16_ROUNDING
    theirs = GROUP_256 if kind in SUPER_TYPES else GROUP_32
    ours = GROUP_32 if precision == "int8" else 0.0
    return 1.5 * errors["BF16"] / BF16_ROUNDING * (theirs**2 + ours**2) ** 0.5


def main():
    build, llama, work = (Path(argument).resolve() for argument in sys.argv[1:4])
    work.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).resolve().parent
    failures = 0
    print("Logits here and in llama.cpp: root mean square of the difference over that of llama.cpp's,")
    print(f"{COUNT} ids, and rows with the same likeliest id. Made by python/compare_llama_cpp.py;")
    print("llama.cpp of llama-cpp-python 0.3.36 on CPU, float32 cache, no flash attention.")
    print("The bounds are derived in the script.")
    print()
    print(f"{'shape':<14}{'type':<9}{'full':>10}{'bound':>10}{'top-1':>8}{'int8':>10}{'bound':>10}{'top-1':>8}")
    for shape in SHAPES:
        folder, source = work / shape, work / f"{shape}.gguf"
        run(build / "lockstep", "synth", shape, folder, "--format", "bf16")
        run(sys.executable, here / "make_gguf.py", folder, source, "--type", "f32")
        errors = {}
        for kind in TYPES + SUPER_TYPES:
            model = work / f"{shape}-{kind}.gguf"
            if kind == "F32":
                model = source
            else:
                run(llama / "llama-quantize", *([] if kind in SUPER_TYPES else ["--pure"]), source, model, kind)
            run(llama / "llama_logits", model, COUNT, work / "llama.bin")
            want = np.fromfile(work / "llama.bin", "<f4").reshape(COUNT, -1)
            line = f"{shape:<14}{kind:<9}"
            for precision in ["full", "int8"]:
                run(build / "bench" / "lockstep_logits", model, precision, COUNT, work / "ours.bin")
                got = np.fromfile(work / "ours.bin", "<f4").reshape(COUNT, -1)
                error = error_of(got, want)
                same = int((got.argmax(1) == want.argmax(1)).sum())
                if precision == "full":
                    errors[kind] = error
                bound = bound_of(kind, precision, errors)
                line += f"{error:>10.2e}{bound:>10.1e}{same:>5}/{COUNT}"
                failed = not error <= bound
                failures += failed
                line += "  BEYOND THE BOUND" if failed else ""
            print(line, flush=True)
            if model != source:
                model.unlink()
    print(f"\n{'all within the bounds' if failures == 0 else f'{failures} beyond the bounds'}")
    sys.exit(failures != 0)


main()
