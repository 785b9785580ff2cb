#!/usr/bin/env python3
"""Holds the sources to the module table of docs/architecture.md.

A file of src/MODULE/ may include its own module and the modules listed for it here, nothing else of
src/. Public headers never include CUDA headers. Prints each breach and exits 1 if there is one.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"

ALLOWED = {
    "base": set(),
    "formats": {"base"},
    "device": {"base"},
    "text": {"base"},
    "checkpoint": {"base", "formats"},
    "kernels": {"base", "formats", "device"},
    "model": {"base", "formats", "device", "checkpoint", "kernels"},
    "sampling": {"base", "device", "kernels"},
    "runtime": {"base", "device", "model", "sampling"},
    "server": {"base", "text", "sampling", "runtime"},
    "verify": {"base", "formats", "device", "text", "checkpoint", "kernels", "model", "sampling", "runtime"},
    "bench": {"base", "formats", "device", "text", "checkpoint", "kernels", "model", "sampling", "runtime"},
}
ALLOWED["apps"] = set(ALLOWED) - {"apps"}

# Tests may reach one step further: a synthetic checkpoint is the shortest way to a model.
TEST_EXTRA = {
    "model": {"sampling", "text"},
    "runtime": {"checkpoint", "kernels"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]')
SUFFIXES = {".h", ".cc", ".cu", ".cuh"}


def breaches(path: pathlib.Path) -> list[str]:
    module = path.relative_to(SOURCE).parts[0]
    allowed = ALLOWED[module] | {module}
    if path.stem.endswith("_test"):
        allowed |= TEST_EXTRA.get(module, set())
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        bracket, target = match.groups()
        first = target.split("/")[0]
        if bracket == '"' and first not in ALLOWED:
            found.append(f'{path}:{number}: "{target}" does not start with a module of src/')
        elif bracket == '"' and first not in allowed:
            found.append(f"{path}:{number}: {module} may not include {first}")
        elif path.suffix == ".h" and re.match(r"(cuda|cublas|nv)\w*", target):
            found.append(f"{path}:{number}: a header must not depend on the CUDA toolkit")
    return found


def main() -> int:
    files = sorted(p for p in SOURCE.rglob("*") if p.suffix in SUFFIXES)
    unknown = sorted({p.relative_to(SOURCE).parts[0] for p in files} - set(ALLOWED))
    found = [f"src/{name}: not a module of the table" for name in unknown]
    for path in files:
        if path.relative_to(SOURCE).parts[0] in ALLOWED:
            found += breaches(path)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
