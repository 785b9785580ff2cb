#!/usr/bin/env python3
"""Checks how a build was compiled and what its objects link, because both can change bits.

  scripts/check_objects.py BUILD_DIR

flags      every compile command ends with contraction off, none has a fast-math flag, and flags that select
           instructions stand only in objects of an instruction set (docs/numerics.md, rules 4 and 6)
libm       objects of the modules that compute logits, states and tokens call no function of the C library whose
           result it does not define to the last bit (rule 5); fma and fmaf, which it does, only in the scalar
           objects, where no instruction can be assumed
weak       objects of an instruction set define no weak symbol that the linker could choose for a processor
           without it (rule 29); release builds only
banned     no object of an instruction set holds an instruction whose result differs between processors or that
           rounds in its own way: reciprocal and root estimates, bf16 conversions and products, tiles, and
           switching the floating-point mode (rules 4 and 7)

Exit code: 0 green, 1 red, 2 usage, 3 a prerequisite is missing.
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys

COMPUTING_MODULES = ("src/kernels/", "src/model/", "src/sampling/")
FAST_MATH = re.compile(
    r"-Ofast|-f(fast-math|unsafe-math-optimizations|finite-math-only|associative-math|reciprocal-math|"
    r"no-signed-zeros|no-rounding-math|cx-limited-range|no-trapping-math)"
)
INSTRUCTIONS = re.compile(r"-m(?!64$|tune=|no-)\w+")
ISA = re.compile(r"-DLOCKSTEP_ISA=(\w+)")
LIBM = re.compile(
    r"(a?(sin|cos|tan)h?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|logb|pow|cbrt|hypot|erfc?|[lt]gamma|"
    r"fmod|remainder)[fl]?"
)
FMA = re.compile(r"fma[fl]?")
BANNED = re.compile(
    r"v?rcp(14|28)?[ps]s|v?rsqrt(14|28)?[ps]s|vcvtne2?ps2bf16\w*|vdpbf16ps|tdp\w+|v?ldmxcsr|"
    r"frecpe|frsqrte|bfdot|bfmmla|bfcvtn?2?"
)
DISASSEMBLED = re.compile(r"^\s+[0-9a-f]+:\s+(?:(?:data16|rep|lock|notrack)\s+)*([a-z]\w*)")
WEAK = "WVu"


def symbols(path, *options):
    """(type, name) of the symbols that nm lists."""
    text = subprocess.run(["nm", *options, path], check=True, capture_output=True, text=True).stdout
    rows = (line.split() for line in text.splitlines())
    return [(row[-2], row[-1].split("@")[0]) for row in rows if len(row) >= 2]


def flag_faults(arguments, isa):
    contraction = [a for a in arguments if a.startswith("-ffp-contract")]
    if contraction[-1:] != ["-ffp-contract=off"]:
        yield "is compiled without -ffp-contract=off"
    for argument in arguments:
        if FAST_MATH.fullmatch(argument):
            yield f"is compiled with {argument}"
        if INSTRUCTIONS.fullmatch(argument.split("=")[0]) and isa is None:
            yield f"is compiled with {argument}, but is no object of an instruction set"


def libm_faults(path, isa):
    for _, name in symbols(path, "-u"):
        if LIBM.fullmatch(name):
            yield f"calls {name} of the C library"
        if FMA.fullmatch(name) and isa != "scalar":
            yield f"calls {name}, which only scalar objects may"


def weak_faults(path):
    for kind, name in symbols(path, "--defined-only"):
        if kind in WEAK:
            yield f"defines the weak symbol {name}"


def banned_faults(path):
    command = ["objdump", "--disassemble", "--no-show-raw-insn", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {m.group(1) for line in text.splitlines() if (m := DISASSEMBLED.match(line))}
    if not found:
        yield "holds no instruction that objdump can read"
    for name in sorted(found):
        if BANNED.fullmatch(name):
            yield f"holds the instruction {name}"


def main():
    if len(sys.argv) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1])
    try:
        commands = json.loads((build / "compile_commands.json").read_text())
        cache = (build / "CMakeCache.txt").read_text()
    except OSError as error:
        print(f"check_objects: {error}; configure the build first", file=sys.stderr)
        return 3
    release = "CMAKE_BUILD_TYPE:STRING=Release" in cache
    repository = pathlib.Path(__file__).resolve().parent.parent

    faults = []
    checked = {"flags": 0, "libm": 0, "weak": 0, "banned": 0}
    for command in commands:
        arguments = shlex.split(command["command"])
        if not command["file"].endswith((".cc", ".cpp", ".c")):
            continue
        isa = next((m.group(1) for a in arguments if (m := ISA.fullmatch(a))), None)
        output = arguments[arguments.index("-o") + 1]
        path = pathlib.Path(command["directory"]) / output
        source = pathlib.Path(command["file"]).relative_to(repository)
        found = {"flags": flag_faults(arguments, isa)}
        is_test = "_test.dir/" in output
        if path.exists() and not is_test and source.as_posix().startswith(COMPUTING_MODULES):
            found["libm"] = libm_faults(path, isa)
        if path.exists() and isa is not None and release:
            found["weak"] = weak_faults(path)
            found["banned"] = banned_faults(path)
        for clause, sentences in found.items():
            checked[clause] += 1
            faults += [(clause, f"{source} ({isa or 'baseline'}) {sentence}") for sentence in sentences]

    for clause, count in checked.items():
        bad = [sentence for kind, sentence in faults if kind == clause]
        for sentence in bad:
            print(f"  {sentence}")
        verdict = "RED" if bad else "PASS" if count else "nothing to check"
        if clause in ("weak", "banned") and not release:
            verdict = "skipped, not a release build"
        print(f"clause {clause}: {verdict} ({count} objects, {len(bad)} faults)")
    if faults:
        return 1
    return 0 if checked["flags"] and checked["libm"] and (checked["weak"] or not release) else 3


if __name__ == "__main__":
    sys.exit(main())
