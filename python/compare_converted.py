"""What `lockstep convert` writes, in the programs that the layouts come from: llama.cpp and mlx-lm.

    scripts/compare_llama_cpp.sh SOURCE WORK compare_converted.py > docs/comparisons/converted.txt

Synthetic models in bf16 are converted, and 64 token ids go through the engine and through the other
program on the same files; and every tensor of the F32 files is compared, bit by bit, with what
python/make_gguf.py, which shares no code with the converter, makes of the same model with the `gguf`
package.

The bounds for GGUF are those of python/compare_llama_cpp.py, with the gain of each model's own BF16
file. mlx-lm computes in bf16 throughout: its error against the engine's float32 on a bf16 model that
both read is measured first, and the files that we wrote must stay within 1.5 times that. A wrong
transform gives errors near 100 %.
"""

import json
import subprocess
import sys
from pathlib import Path

import gguf
import numpy as np

COUNT = 64
FLOAT_BOUND, F16_BOUND = 1e-5, 5e-3
F16_ROUNDING, BF16_ROUNDING = 2**-12 / 3**0.5, 2**-9 / 3**0.5
GROUP_32, GROUP_256 = 2.4 / 127 / 12**0.5, 2.95 / 127 / 12**0.5
SHAPES = ["micro-r1", "micro-r3", "micro-moe16"]
MLX = [(2, 32), (3, 64), (4, 64), (4, 128), (5, 32), (6, 64), (8, 128)]


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def error_of(got, want):
    got, want = got.astype(np.float64), want.astype(np.float64)
    return np.sqrt(((got - want) ** 2).mean() / (want**2).mean())


def read_logits(path):
    return np.fromfile(path, "<f4").reshape(COUNT, -1)


class Bench:
    def __init__(self, build, llama, work):
        self.build, self.llama, self.work, self.failures = build, llama, work, 0

    def convert(self, source, name, *arguments):
        out = self.work / name
        run(self.build / "lockstep", "convert", source, out, *arguments)
        return out

    def ours(self, model):
        run(self.build / "bench" / "lockstep_logits", model, "full", COUNT, self.work / "ours.bin")
        return read_logits(self.work / "ours.bin")

    def report(self, shape, kind, got, want, bound):
        error = error_of(got, want)
        same = int((got.argmax(1) == want.argmax(1)).sum())
        failed = not error <= bound
        self.failures += failed
        print(f"{shape:<14}{kind:<14}{error:>10.2e}{bound:>10.1e}{same:>5}/{COUNT}"
              f"{'  BEYOND THE BOUND' if failed else ''}", flush=True)
        return error


def gguf_bound(kind, errors):
    if kind == "f32":
        return FLOAT_BOUND
    if kind == "f16":
        return F16_BOUND
    if kind == "bf16":
        return 3 * errors["f16"] * BF16_ROUNDING / F16_ROUNDING
    theirs = GROUP_256 if kind == "q4_k" else GROUP_32
    return 1.5 * errors["bf16"] / BF16_ROUNDING * theirs


def compare_gguf(bench, shape, source):
    errors = {}
    for kind in ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_k"]:
        model = bench.convert(source, f"{shape}-{kind}.gguf", "--to", "gguf", "--type", kind)
        run(bench.llama / "llama_logits", model, COUNT, bench.work / "llama.bin")
        errors[kind] = bench.report(shape, f"gguf {kind}", bench.ours(model),
                                    read_logits(bench.work / "llama.bin"), gguf_bound(kind, errors))


def compare_tensors(bench, shape, source):
    theirs = bench.work / f"{shape}-reference.gguf"
    run(sys.executable, Path(__file__).with_name("make_gguf.py"), source, theirs, "--type", "f32")
    want = {t.name: t for t in gguf.GGUFReader(theirs).tensors}
    got = {t.name: t for t in gguf.GGUFReader(bench.work / f"{shape}-f32.gguf").tensors}
    wrong = sorted(set(want) ^ set(got))
    near = 0
    for name in want.keys() & got.keys():
        a, b = np.asarray(want[name].data), np.asarray(got[name].data)
        if list(want[name].shape) != list(got[name].shape):
            wrong.append(name)
        elif not np.array_equal(a, b):
            # numpy's exp is not ours: -exp(A_log) may differ by a unit in the last place.
            near += 1
            if not (name.endswith("ssm_a") and np.abs(a - b).max() <= np.spacing(np.abs(a)).max()):
                wrong.append(name)
    bench.failures += len(wrong)
    print(f"{shape:<14}{len(want)} tensors, {len(want) - near} equal bit by bit, {near} ssm_a within a unit in the "
          f"last place{', WRONG: ' + ', '.join(wrong) if wrong else ''}", flush=True)


def mlx_logits(folder):
    import mlx.core as mx
    from mlx_lm.utils import load_model

    model, config = load_model(folder)
    vocab = config.get("text_config", config)["vocab_size"]
    ids = [(1 + 7 * i) % vocab for i in range(COUNT)]
    return np.array(model(mx.array([ids]))[0].astype(mx.float32))


def compare_mlx(bench, shape, source):
    own = bench.work / f"{shape}-synthetic-mlx"
    run(bench.build / "lockstep", "synth", shape, own)
    base = error_of(mlx_logits(own), bench.ours(own))
    print(f"{shape:<14}{'mlx, not ours':<14}{base:>10.2e}          (4-bit, written by synth)")
    for bits, group in MLX:
        if "moe" in shape and group > 64:
            continue  # experts of 64 inputs stay bf16 then, which mlx's expert products on CPU do not take
        folder = bench.convert(source, f"{shape}-mlx-{bits}-{group}", "--to", "mlx", "--bits", bits,
                               "--group-size", group)
        bench.report(shape, f"mlx {bits}g{group}", mlx_logits(folder), bench.ours(folder), 1.5 * base)


def compare_round_trip(bench, shape, source):
    back = bench.convert(bench.work / f"{shape}-f32.gguf", f"{shape}-back", "--to", "bf16")
    bench.report(shape, "gguf to bf16", bench.ours(back), bench.ours(source), FLOAT_BOUND)
    same = all((source / n).read_bytes() == (back / n).read_bytes() for n in ["chat_template.jinja"])
    a, b = (json.loads((f / "tokenizer.json").read_text())["model"]["vocab"] for f in (source, back))
    bench.failures += not (same and a == b)
    print(f"{shape:<14}chat template {'equal' if same else 'DIFFERS'}, vocabulary {'equal' if a == b else 'DIFFERS'}")


def main():
    build, llama, work = (Path(argument).resolve() for argument in sys.argv[1:4])
    work.mkdir(parents=True, exist_ok=True)
    bench = Bench(build, llama, work)
    print("Converted models here (full precision) and in the programs that the layouts come from: root mean square")
    print(f"of the difference of the logits over that of the other's, {COUNT} ids; rows with the same likeliest id.")
    print("Made by python/compare_converted.py, which derives the bounds; llama.cpp of llama-cpp-python 0.3.36.")
    print()
    print(f"{'shape':<14}{'layout':<14}{'error':>10}{'bound':>10}{'top-1':>8}")
    for shape in SHAPES:
        source = work / f"{shape}-source"
        run(build / "lockstep", "synth", shape, source, "--format", "bf16")
        compare_gguf(bench, shape, source)
        compare_tensors(bench, shape, source)
        compare_round_trip(bench, shape, source)
        compare_mlx(bench, shape, source)
    print(f"\n{'all within the bounds' if bench.failures == 0 else f'{bench.failures} failures'}")
    sys.exit(bench.failures != 0)


main()
