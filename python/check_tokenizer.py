#!/usr/bin/env python3
"""Compares the engine's tokenizer with Hugging Face tokenizers 0.23.3 on every code point, alone and
in the surroundings that matter to words and normalisation, on pairs of class borders, and on files.

Rare characters merge with nothing, so that their ids do not tell where words end. Each text is
therefore also run through a copy of the tokenizer in which every byte merges, before all else, with
each byte that begins a character.

    pip install tokenizers==0.23.3
    cmake --build --preset release --target tokenizer_tool
    python3 python/check_tokenizer.py build/release/src/text/tokenizer_tool TOKENIZER.json [TEXT...]

Prints each kind of text with its number of differences, and exits with 1 if there are any.
"""
import array
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import Tokenizer

CODE_POINTS = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BATCH = 200000


def engine_ids(tool, path, texts):
    data = b"".join(struct.pack("<I", len(t)) + t for t in (text.encode() for text in texts))
    out = subprocess.run([tool, "encode", path], input=data, stdout=subprocess.PIPE, check=True).stdout
    at, result = 0, []
    while at < len(out):
        (count,) = struct.unpack_from("<I", out, at)
        result.append(array.array("i", out[at + 4:at + 4 + 4 * count]).tolist())
        at += 4 + 4 * count
    if len(result) != len(texts):
        raise SystemExit("the tool stopped early")
    return result


def write_probe(path, probe):
    """The tokenizer of `path` with a vocabulary that shows where words end."""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    other = [b for b in range(256) if b not in printable]
    piece = {**{b: chr(b) for b in printable}, **{b: chr(256 + i) for i, b in enumerate(other)}}
    leads = [b for b in range(256) if b & 0xC0 != 0x80]
    pairs = [(piece[a], piece[b]) for b in leads for a in range(256)]
    document["model"]["vocab"] = {text: i for i, text in enumerate([*piece.values(), *map("".join, pairs)])}
    document["model"]["merges"] = pairs
    document["added_tokens"] = []
    json.dump(document, probe)
    probe.flush()


def border_characters():
    """Both sides of every change of general category or combining class, and the odd ones."""
    found = set("\t\n\v\f\r 'sStTlLrReE\u017f\u0085\u00a0\u180e\u200b\u200d\u2028\u3000\ufeff<|>")
    kind = lambda c: (unicodedata.category(c)[0], unicodedata.combining(c))
    for a, b in zip(CODE_POINTS, CODE_POINTS[1:]):
        if kind(a) != kind(b):
            found.update((a, b))
    return sorted(found)


def random_mixtures(count, characters):
    """Strings of borders, marks, jamo and space of several lengths; seeded."""
    rng = random.Random(20261129)
    marks = [c for c in CODE_POINTS if unicodedata.combining(c)]
    jamo = [chr(c) for c in range(0x1100, 0x1200)] + ["\uac00", "\uac01", "\ud7a3"]
    composed = [c for c in CODE_POINTS if unicodedata.decomposition(c)]
    pools = [characters, marks, jamo, composed, list(" \t\r\n\u00a0\u2028"), list("abcXYZ'09.,<|>")]
    for _ in range(count):
        chosen = rng.choices(pools, k=3)
        yield "".join(rng.choice(rng.choice(chosen)) for _ in range(rng.randrange(1, 24)))


def kinds(files):
    yield "each code point", CODE_POINTS
    yield "after a letter", ("a" + c for c in CODE_POINTS)
    yield "before a letter", (c + "a" for c in CODE_POINTS)
    yield "after a space, before a letter", (" " + c + "a" for c in CODE_POINTS)
    yield "between spaces", ("  " + c + "  " for c in CODE_POINTS)
    yield "after an apostrophe", ("x'" + c + "e" for c in CODE_POINTS)
    yield "before newlines", ("." + c + "\r\n\n" for c in CODE_POINTS)
    yield "twice", (c + c for c in CODE_POINTS)
    yield "before a mark of class 1", ("q" + c + "\u0334" for c in CODE_POINTS)
    yield "after a mark of class 240", ("q\u0345" + c for c in CODE_POINTS)
    yield "before a grave accent", (c + "\u0300" for c in CODE_POINTS)
    borders = border_characters()
    some = random.Random(7).sample(borders, min(len(borders), 700))
    yield "pairs of borders", (a + b for a, b in itertools.product(some, some))
    yield "mixtures", random_mixtures(400000, borders)
    for name in files:
        with open(name, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        yield name, text.splitlines(keepends=True) + [text[:2000000]]


def compare(tool, path, reference, texts):
    """The number of texts, and those whose ids differ."""
    texts, count, differences = iter(texts), 0, []
    while batch := list(itertools.islice(texts, BATCH)):
        ours = engine_ids(tool, path, batch)
        theirs = reference.encode_batch_fast(batch, add_special_tokens=False)
        differences += [t for t, a, b in zip(batch, ours, theirs) if a != b.ids]
        count += len(batch)
    return count, differences


def main():
    tool, path, *files = sys.argv[1:]
    total = 0
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as probe:
        write_probe(path, probe)
        for label, file in ((os.path.basename(path), path), ("words", probe.name)):
            reference = Tokenizer.from_file(file)
            for name, texts in kinds(files):
                count, differences = compare(tool, file, reference, texts)
                print(f"{label}, {name}: {count} texts, {len(differences)} differences", flush=True)
                for text in differences[:5]:
                    print("   ", ascii(text[:60]))
                total += len(differences)
    sys.exit(1 if total else 0)


main()
