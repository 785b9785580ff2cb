"""Speed beside llama.cpp and mlx-lm: same shapes, same threads, in turns (bench/peers/compare.sh prepares it).

  compare.py --lockstep BIN --llama-bench BIN --mlx-python PYTHON [--threads N] [--rounds N] [--depth N...]
             [--prefill N...] [--tokens N] -- MODEL...

A MODEL.gguf is read by lockstep and llama-bench, a folder (MLX) by lockstep and mlx-lm. llama-bench's flags are
searched first, one run each: flash attention on and off, batches of 128 and 512 rows; the best of each case are
printed and used. Then every round measures each case once a side, each after a warm-up of its own, the sides in
turns. A ratio is ours over theirs, the median of the rounds' pairs with the lowest and the highest; one whose range
holds 1 reads "equal". On a busy machine raise the priority of the calling shell, which both sides inherit.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys

MLX = """
import sys, time
import mlx.core as mx
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model
from pathlib import Path
folder, length, depth, tokens = sys.argv[1], *map(int, sys.argv[2:])
mx.set_default_device(mx.cpu)
model, config = load_model(Path(folder))
vocabulary = config.get("text_config", config)["vocab_size"]
def ids(count):
    return mx.random.randint(0, min(vocabulary, 1000), (1, count))
def read(count):
    cache = make_prompt_cache(model)
    for begin in range(0, count, 512):
        mx.eval(model(ids(min(512, count - begin)), cache=cache)[:, -1])
    return cache
def prompt():
    start = time.perf_counter()
    read(length)
    return length / (time.perf_counter() - start)
def reply():
    cache = read(max(1, depth))
    start = time.perf_counter()
    for _ in range(tokens):
        mx.eval(model(ids(1), cache=cache)[:, -1])
    return tokens / (time.perf_counter() - start)
case = prompt if length else reply
case()
print(case())
"""


def output_of(command, threads):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


class Case:
    def __init__(self, prefill=0, depth=0):
        self.prefill, self.depth = prefill, depth
        self.name = f"prompt of {prefill}" if prefill else f"reply at {depth}"


def lockstep_rate(args, model, case):
    command = [args.lockstep, "bench", model, "--threads", args.threads, "--repeat", 1, "--json", "--no-mtp"]
    if case.prefill:
        # One reply token, whose time is not used.
        report = output_of(command + ["--prefill", case.prefill, "--depth", 0, "--tokens", 1], args.threads)
        return json.loads(report)["prefill"][0]["tokens_per_second"]["median"]
    report = output_of(command + ["--prefill", 1, "--depth", case.depth, "--tokens", args.tokens], args.threads)
    return json.loads(report)["decode"][0]["tokens_per_second"]["median"]


def llama_rate(args, model, case, flags):
    command = [args.llama_bench, "-m", model, "-t", args.threads, "-r", 1, "-o", "json", "-ngl", 0]
    command += ["-p", case.prefill, "-n", 0] if case.prefill else ["-p", 0, "-n", args.tokens, "-d", case.depth]
    return json.loads(output_of(command + list(flags), args.threads))[0]["avg_ts"]


def mlx_rate(args, model, case):
    command = [args.mlx_python, "-c", MLX, model, case.prefill, case.depth, args.tokens]
    return float(output_of(command, args.threads).split()[-1])


def best_llama_flags(args, model, case):
    def flags(attention, rows):
        return ("-fa", attention, "-b", 512, "-ub", rows)
    choices = [flags(a, r) for a, r in itertools.product((0, 1), (128, 512) if case.prefill else (512,))]
    return max(choices, key=lambda choice: llama_rate(args, model, case, choice))


def row(name, ours, theirs):
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    middle = statistics.median(ratios)
    verdict = "equal" if ratios[0] <= 1 <= ratios[-1] else f"{middle:.2f}"
    return (f"| {name} | {statistics.median(ours):.1f} | {statistics.median(theirs):.1f} "
            f"| {verdict} ({ratios[0]:.2f} to {ratios[-1]:.2f}) |")


def compare(args, model):
    is_gguf = model.suffix == ".gguf"
    peer = "llama.cpp" if is_gguf else "mlx-lm"
    rows = []
    cases = [Case(prefill=n) for n in args.prefill] + [Case(depth=n) for n in args.depth]
    for case in cases:
        flags = best_llama_flags(args, model, case) if is_gguf else ()
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(lockstep_rate(args, model, case))
            theirs.append(llama_rate(args, model, case, flags) if is_gguf else mlx_rate(args, model, case))
        said = f" ({' '.join(map(str, flags))})" if flags else ""
        rows.append(row(f"{model.name}, {case.name}{said}", ours, theirs))
        print(rows[-1], file=sys.stderr, flush=True)
    print(f"\n| {model.name}, {args.threads} threads, {args.rounds} rounds | lockstep, tokens/s | {peer} | ratio |")
    print("|---|---|---|---|", *rows, sep="\n", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lockstep", required=True)
    parser.add_argument("--llama-bench")
    parser.add_argument("--mlx-python")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--prefill", type=int, nargs="*", default=[512])
    parser.add_argument("--depth", type=int, nargs="*", default=[0])
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    args = parser.parse_args()
    for model in args.models:
        compare(args, model)


main()
