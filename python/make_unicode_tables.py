#!/usr/bin/env python3
"""Writes src/text/unicode_tables.cc.

The tables say what the reference, Hugging Face tokenizers 0.23.3, takes each code point for, and are
asked from it: its pattern engine (Oniguruma) follows Unicode 16.0, its NFC Unicode 9.0, and its
\\w of added tokens the Rust regex crate. A table from any one Unicode version would differ from it.
Canonical combining classes and single decompositions are taken from Python's unicodedata, for the
code points that the reference knows: both never change once assigned.

    pip install tokenizers==0.23.3
    python3 python/make_unicode_tables.py
"""
import pathlib
import unicodedata

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

VERSION = "0.23.3"
OUT = pathlib.Path(__file__).resolve().parent.parent / "src" / "text" / "unicode_tables.cc"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
LETTER, MARK, NUMBER, SPACE, WORD = 1, 2, 4, 8, 16


def matching(pattern):
    """The code points that `pattern` matches alone."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return {c for c in CODE_POINTS if not split.pre_tokenize_str(chr(c))}


def word_characters():
    """The code points that hold off an added token with single_word beside them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.add_tokens([AddedToken("@", single_word=True, normalized=False)])
    return {c for c in CODE_POINTS if c != 0x40 and not tokenizer.encode("@" + chr(c)).ids}


def class_of_code_points():
    classes = [0] * 0x110000
    bits = [(matching(r"\p{L}"), LETTER), (matching(r"\p{M}"), MARK), (matching(r"\p{N}"), NUMBER),
            (matching(r"\s"), SPACE), (word_characters(), WORD)]
    for members, bit in bits:
        for c in members:
            classes[c] |= bit
    return classes


def combining_classes(nfd):
    """Combining class of each mark that the reference reorders (it knows no later ones)."""
    classes = [0] * 0x110000
    for c in CODE_POINTS:
        ccc = unicodedata.combining(chr(c))
        if ccc == 0 or nfd(chr(c)) != chr(c):
            continue
        before, after = ("q\u0345" + chr(c), "q" + chr(c) + "\u0334")  # classes 240 and 1
        moved = nfd(before) != before or nfd(after) != after
        classes[c] = ccc if moved else 0
    # Marks that decompose (U+0340, U+0344 ...) keep the class: the quick check looks at them whole.
    for c in CODE_POINTS:
        if nfd(chr(c)) != chr(c):
            classes[c] = unicodedata.combining(chr(c))
    return classes


def decompositions(nfd, nfc):
    rows = []
    for c in CODE_POINTS:
        if nfd(chr(c)) == chr(c) or 0xAC00 <= c < 0xD7A4:  # Hangul syllables are arithmetic
            continue
        parts = [int(part, 16) for part in unicodedata.decomposition(chr(c)).split()]
        rows.append((c, parts[0], parts[1] if len(parts) == 2 else 0, int(nfc(chr(c)) == chr(c))))
    return rows


def ranges(values):
    """Runs of equal values other than zero, as (first, last, value)."""
    rows = []
    for c, value in enumerate(values):
        if value and rows and rows[-1][1] == c - 1 and rows[-1][2] == value:
            rows[-1][1] = c
        elif value:
            rows.append([c, c, value])
    return rows


def table(kind, name, rows, hexadecimal):
    cells = ["{" + ", ".join(f"0x{v:X}" if i < hexadecimal else str(v) for i, v in enumerate(row)) + "},"
             for row in rows]
    lines, line = [], "   "
    for cell in cells:
        if len(line) + 1 + len(cell) > 100:
            lines.append(line)
            line = "   "
        line += " " + cell
    lines.append(line)
    body = "\n".join(lines)
    return f"constexpr {kind} k{name}[] = {{\n{body}\n}};\n"


def main():
    if tokenizers.__version__ != VERSION:
        raise SystemExit(f"tokenizers {tokenizers.__version__} found, {VERSION} wanted")
    nfd, nfc = normalizers.NFD().normalize_str, normalizers.NFC().normalize_str
    text = f"""// Made by python/make_unicode_tables.py from tokenizers {VERSION}; do not edit.
// clang-format off
#include "text/unicode_tables.h"

namespace lockstep {{
namespace {{

{table("ClassRange", "Classes", ranges(class_of_code_points()), 2)}
{table("CombiningRange", "Combining", ranges(combining_classes(nfd)), 2)}
{table("Decomposition", "Decompositions", decompositions(nfd, nfc), 3)}
}}  // namespace

std::span<const ClassRange> class_ranges() {{ return kClasses; }}
std::span<const CombiningRange> combining_ranges() {{ return kCombining; }}
std::span<const Decomposition> canonical_decompositions() {{ return kDecompositions; }}

}}  // namespace lockstep
"""
    OUT.write_text(text)


main()
