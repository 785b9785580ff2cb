#!/usr/bin/env python3
"""Plants defects in the source, one at a time, and checks that a gate turns red on each.

  scripts/check_mutants.py [--only TEXT]... [--list] [--preset NAME] [--jobs N] [FILE]...

FILE: tables of mutants; default: every tests/mutants/*.toml. --only keeps the mutants whose name holds TEXT.

A table holds defaults and a list, whose entries may override them:

  program = "src/kernels/kernels_test"       of the build folder; also the name of its target, after the last "/"
  arguments = ["--gtest_filter=Add.*"]       may name {source}, the tree, and {build}, the build folder
  seconds = 600                              a run that takes longer is no verdict

  [[mutant]]
  name = "add.subtracts"                     unique in all tables
  file = "src/kernels/add/cpu.cc"
  find = "x + y"                             stands in the file exactly once
  replace = "x - y"
  expect = "[  FAILED  ] Add.Sums"           stands in what the red gate prints

A mutant counts as killed only if the gate was green before, the program was really built anew with the defect (its
bytes differ), the gate then ended with exit code 1 and printed `expect`, the file was restored (by checksum) and the
gate, built again, was green. A mutant that does not compile, a run that does not start, crashes or takes too long is
not killed.

It works on a copy of the committed tree in build/mutants, so an interruption damages nothing; a tree with changes
that are not committed is refused, because the verdict would be about something else.

Exit code: 0 all killed, 1 one was not, 2 usage, 3 a prerequisite is missing.
"""

import argparse
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys
import time
import tomllib

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
SCRATCH = REPOSITORY / "build" / "mutants"
RED = 1  # the exit code of a gate that found something


class Unready(Exception):
    """A prerequisite is missing."""


class Survivor(Exception):
    """Why a mutant does not count as killed."""


@dataclasses.dataclass(frozen=True)
class Gate:
    program: str
    arguments: tuple[str, ...]
    seconds: float


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    find: str
    replace: str
    expect: str
    gate: Gate


def read_table(path):
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Unready(f"{path}: {error}") from error
    entries = table.pop("mutant", [])
    for entry in entries:
        fields = {"arguments": [], "seconds": 600.0} | table | entry
        try:
            gate = Gate(fields.pop("program"), tuple(fields.pop("arguments")), fields.pop("seconds"))
            yield Mutant(**fields, gate=gate)
        except (KeyError, TypeError) as error:
            raise Unready(f"{path}: mutant {entry.get('name', '?')}: {error}") from error


def git(*arguments):
    return subprocess.run(["git", "-C", REPOSITORY, *arguments], check=True, capture_output=True, text=True).stdout


def copy_tree(to):
    """Makes `to` hold the committed files, touching only those that differ, so that builds stay incremental."""
    changes = git("status", "--porcelain").splitlines()
    if changes:
        raise Unready(f"{len(changes)} files have changes that are not committed: {changes[0].strip()}")
    names = [name for name in git("ls-files", "-z").split("\0") if name]
    for name in names:
        source, copy = REPOSITORY / name, to / name
        content = source.read_bytes()
        if copy.is_file() and copy.read_bytes() == content:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)
        copy.chmod(source.stat().st_mode)
    kept = {pathlib.Path(name) for name in names}
    for path in to.rglob("*"):
        relative = path.relative_to(to)
        if path.is_file() and relative.parts[0] != "build" and relative not in kept:
            path.unlink()


class Workshop:
    """The copy of the tree and its build."""

    def __init__(self, preset, jobs):
        self.source = SCRATCH
        self.build = SCRATCH / "build" / preset
        self.preset = preset
        self.jobs = jobs
        self.green = set()  # gates seen green on the tree as committed

    def prepare(self):
        copy_tree(self.source)
        command = ["cmake", "--preset", self.preset]
        done = subprocess.run(command, cwd=self.source, capture_output=True, text=True)
        if done.returncode != 0:
            raise Unready(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")

    def compile(self, gate):
        """Builds the gate's program. Returns what the compiler said where it failed, else its checksum."""
        target = gate.program.rsplit("/", 1)[-1]
        command = ["cmake", "--build", self.build, "--target", target, "--parallel", str(self.jobs)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return None, done.stdout + done.stderr
        return checksum(self.build / gate.program), ""

    def run(self, gate):
        """(exit code, all output); the code is None where the run took too long."""
        names = {"source": self.source, "build": self.build}
        command = [self.build / gate.program, *(a.format(**names) for a in gate.arguments)]
        try:
            done = subprocess.run(command, cwd=self.source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, timeout=gate.seconds, check=False)
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout.decode(errors="replace")

    def require_green(self, gate):
        """Returns the checksum of the program built from the tree as committed, which the gate finds green."""
        digest, failure = self.compile(gate)
        if digest is None:
            raise Unready(f"{gate.program} does not build from the tree as committed:\n{failure}")
        if gate not in self.green:
            code, output = self.run(gate)
            if code != 0:
                raise Unready(f"{gate.program} {' '.join(gate.arguments)} is not green without a defect "
                              f"({exit_name(code)}):\n{tail(output)}")
            self.green.add(gate)
        return digest


def checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def exit_name(code):
    return "took too long" if code is None else f"exit code {code}"


def tail(text, lines=20):
    return "\n".join(text.splitlines()[-lines:])


def try_mutant(shop, mutant):
    """Returns the line of the gate's output that answers `expect`; raises Survivor."""
    path = shop.source / mutant.file
    if not path.is_file():
        raise Survivor(f"there is no {mutant.file}")
    original = path.read_text()
    count = original.count(mutant.find)
    if count != 1:
        raise Survivor(f"its text stands {count} times in {mutant.file}, want once: {mutant.find!r}")
    before = checksum(path)
    sound = shop.require_green(mutant.gate)
    try:
        path.write_text(original.replace(mutant.find, mutant.replace))
        broken, failure = shop.compile(mutant.gate)
        if broken is None:
            raise Survivor(f"it does not compile:\n{tail(failure)}")
        if broken == sound:
            raise Survivor(f"{mutant.gate.program} has the same bytes as without it")
        code, output = shop.run(mutant.gate)
    finally:
        path.write_text(original)
    if checksum(path) != before:
        raise Survivor(f"{mutant.file} was not restored")
    if code != RED:
        raise Survivor(f"got {exit_name(code)}, want {RED} and {mutant.expect!r}\n{tail(output)}")
    answer = next((line.strip()[:120] for line in output.splitlines() if mutant.expect in line), None)
    if answer is None:
        raise Survivor(f"the gate is red, but does not say {mutant.expect!r}\n{tail(output)}")
    shop.green.discard(mutant.gate)
    shop.require_green(mutant.gate)
    return answer


def check(shop, mutants):
    killed = 0
    for mutant in mutants:
        start = time.monotonic()
        try:
            answer = try_mutant(shop, mutant)
            killed += 1
            print(f"mutant {mutant.name}: RED (got {answer!r}, want {mutant.expect!r}, "
                  f"{time.monotonic() - start:.0f} s)", flush=True)
        except Survivor as reason:
            print(f"mutant {mutant.name}: NOT KILLED: {reason}", flush=True)
    print(f"{killed} of {len(mutants)} mutants killed")
    return 0 if killed == len(mutants) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--preset", default="release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def select_mutants(files, only):
    mutants = [m for file in files for m in read_table(file)]
    names = [m.name for m in mutants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Unready(f"two mutants have the name {twice[0]}")
    chosen = [m for m in mutants if not only or any(text in m.name for text in only)]
    if not chosen:
        raise Unready(f"none of {len(mutants)} mutants is chosen")
    return sorted(chosen, key=lambda m: (m.gate.program, m.file))


def main():
    arguments = parse_arguments()
    try:
        files = arguments.files or sorted((REPOSITORY / "tests" / "mutants").glob("*.toml"))
        mutants = select_mutants(files, arguments.only)
        if arguments.list:
            print("\n".join(f"{m.name}  {m.file}" for m in mutants))
            return 0
        SCRATCH.mkdir(parents=True, exist_ok=True)
        with open(SCRATCH.with_suffix(".lock"), "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise Unready(f"another run uses {SCRATCH}") from error
            shop = Workshop(arguments.preset, arguments.jobs)
            shop.prepare()
            return check(shop, mutants)
    except Unready as reason:
        print(f"check_mutants: {reason}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
