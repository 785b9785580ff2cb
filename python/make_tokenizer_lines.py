#!/usr/bin/env python3
"""Writes src/text/tokenizer_lines.bin: lines made to be hard for a tokenizer, with what Hugging Face
tokenizers 0.23.3 makes of them, by models/tiny-dense-mlx-4bit/tokenizer.json.

    pip install tokenizers==0.23.3
    python3 python/make_tokenizer_lines.py

The lines depend on the seed and on Python's Unicode version (14.0 in Python 3.11), not on anything
else. The file is a row of records; every number is a varint (7 bits a byte, low bits first, the high
bit says that more follows):
    byte count, bytes of the line (perhaps broken UTF-8)
    id count, ids                     with added tokens
    word count, byte lengths          of the line as plain text, repaired and normalised
"""
import pathlib
import random
import sys
import unicodedata

import tokenizers
from tokenizers import Tokenizer

VERSION = "0.23.3"
ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "src" / "text" / "tokenizer_lines.bin"

SCRIPTS = [  # first and last code point of what is drawn from
    (0x41, 0x7A), (0xC0, 0x17F), (0x180, 0x24F), (0x250, 0x2AF), (0x370, 0x3FF), (0x400, 0x52F),
    (0x531, 0x587), (0x5D0, 0x5EA), (0x620, 0x6FF), (0x710, 0x74F), (0x780, 0x7BF), (0x7C0, 0x7FF),
    (0x904, 0x97F), (0x980, 0x9FF), (0xA00, 0xA7F), (0xA80, 0xAFF), (0xB00, 0xB7F), (0xB80, 0xBFF),
    (0xC00, 0xC7F), (0xC80, 0xCFF), (0xD00, 0xD7F), (0xD80, 0xDFF), (0xE01, 0xE5B), (0xE80, 0xEDF),
    (0xF00, 0xFDA), (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F),
    (0x13A0, 0x13FF), (0x1400, 0x167F), (0x1680, 0x169C), (0x1780, 0x17F9), (0x1800, 0x18AF),
    (0x1E00, 0x1EFF), (0x1F00, 0x1FFF), (0x2C00, 0x2C5F), (0x2D30, 0x2D7F), (0x3041, 0x3096),
    (0x30A0, 0x30FF), (0x3105, 0x312F), (0x4E00, 0x9FFF), (0xA000, 0xA48C), (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFE70, 0xFEFC), (0xFF01, 0xFFEE), (0x10000, 0x1005D),
    (0x10330, 0x1034A), (0x11103, 0x11146), (0x12000, 0x12399), (0x13000, 0x1342E),
    (0x1D165, 0x1D1E8), (0x1D400, 0x1D7FF), (0x1E900, 0x1E959), (0x1F100, 0x1F1FF),
    (0x20000, 0x2A6DF), (0x2F800, 0x2FA1D)]
SPACES = [chr(c) for c in (0x9, 0xA, 0xB, 0xC, 0xD, 0x20, 0x85, 0xA0, 0x1680, 0x180E, 0x2000, 0x2003,
                           0x200A, 0x200B, 0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF)]
EMOJI = ["\U0001F600", "\U0001F468\u200D\U0001F469\u200D\U0001F467", "\U0001F44D\U0001F3FD", "\u2764\uFE0F",
         "\U0001F1FA\U0001F1F3", "1\uFE0F\u20E3", "\U0001F3F4\u200D\u2620\uFE0F", "\u263A",
         "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
         "\U0001F469\U0001F3FF\u200D\U0001F52C"]
CONTRACTIONS = ["'s", "'S", "'t", "'T", "'re", "'RE", "'Re", "'ve", "'vE", "'m", "'M", "'ll", "'Ll", "'d", "'D",
                "'\u017f", "\u2019s", "'x", "'l", "'r", "'", "''s", "'\u017fe", "'\u0301s", "'\u212a"]
WORDS = ("the of and to in is for model token cache page file function return value Straße naïve café "
         "Größe résumé façade coöperate Ελλάδα Москва Київ שלום مرحبا नमस्ते ภาษาไทย 日本語 中文 한국어 "
         "Việt Nam įžvalga łódź İstanbul ﬁre ＡＢＣ x86_64 snake_case camelCase HTTP2 e.g. U.S.A. don't I'll "
         "WE'RE they'd o'clock rock'n'roll").split()
CODE = ["for (int i = 0; i < n; ++i) {", "    return x->y[3] != nullptr;", "\tif err != nil {\r\n\t\treturn err\r\n\t}",
        "def f(a: int = 0, *b, **c):", "#include <vector>", "SELECT * FROM t WHERE a >= 1.5e-3;", "<div class=\"x\">",
        "{\"key\": [1, 2.50, null, \"\\u00e9\"]}", "a&&b||!c", "/* comment */", "x = [[0]*3 for _ in range(10)]",
        "$(ls -la | grep '^d')", "https://example.org/a/b?c=d&e=%20f#g", "--long-option=value", "::std::move(x)",
        "=====", "-----\n", "}}}\n\n\n", "...", "!!!???", "\\begin{equation}", "0xDEADBEEF", "1_000_000", "@decorator"]
ASSIGNED = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
MARKS = [c for c in ASSIGNED if unicodedata.category(c)[0] == "M"]
NUMBERS = [c for c in ASSIGNED if unicodedata.category(c)[0] == "N"]
COMPOSED = [c for c in ASSIGNED if unicodedata.decomposition(c) and unicodedata.normalize("NFD", c) != c]
SYMBOLS = [c for c in ASSIGNED if unicodedata.category(c)[0] in "PS"]
CONTROLS = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x200E, 0x202E, 0xFFF9)]


class Maker:
    def __init__(self, seed, added):
        self.rng = random.Random(seed)
        self.added = added

    def several(self, pool, most, least=1):
        return "".join(self.rng.choices(pool, k=self.rng.randint(least, most)))

    def script_words(self):
        first, last = self.rng.choice(SCRIPTS)
        word = lambda: "".join(chr(self.rng.randint(first, last)) for _ in range(self.rng.randint(1, 5)))
        return self.rng.choice([" ", "  ", ", ", ".\n", "\u3000", "-"]).join(
            word() for _ in range(self.rng.randint(1, 3)))

    def words(self):
        glue = lambda: self.rng.choice([" ", " ", " ", "  ", "\n", "\t", ", ", "-", "_", "/", ""])
        return "".join(self.rng.choice(WORDS) + glue() for _ in range(self.rng.randint(1, 5)))

    def marks(self):
        """Letters with marks in any order, decomposed or not."""
        letter = lambda: self.rng.choice(["a", "e", "o", "q", "S", "\u00e9", "\u03b1", "\u05e9", "\u0646", "\u0915", "\u0e01", " ", "1", "."])
        text = "".join(letter() + self.several(MARKS, 4, 0) for _ in range(self.rng.randint(1, 5)))
        return unicodedata.normalize(self.rng.choice(["NFD", "NFKD"]), text) if self.rng.random() < 0.3 else text

    def composed(self):
        text = self.several(COMPOSED, 5)
        return self.rng.choice([text, unicodedata.normalize("NFD", text), "x".join(text)])

    def jamo(self):
        pools = [range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3), range(0xAC00, 0xD7A4)]
        return "".join(chr(self.rng.choice(self.rng.choice(pools))) for _ in range(self.rng.randint(1, 7)))

    def spaces(self):
        parts = [self.several(SPACES, 4), self.rng.choice(WORDS), self.several(SPACES, 7), self.several(list(" \n\r\t"), 6),
                 self.rng.choice(["x", "1", "!", ""]), self.several(SPACES, 3, 0)]
        self.rng.shuffle(parts)
        return "".join(parts)

    def contractions(self):
        return "".join(self.rng.choice(["I", "we", "", " ", "1", "\u00e9", "x "]) + self.rng.choice(CONTRACTIONS) +
                       self.rng.choice(["", " ", "s", "\n", "!"]) for _ in range(self.rng.randint(1, 5)))

    def numbers(self):
        return self.rng.choice(["", "x", " "]).join(
            [self.several("0123456789", 16), self.several(NUMBERS, 5, 0), self.several("0123456789.,", 6, 0)])

    def code(self):
        return self.rng.choice(["\n", "\n    ", " ", "\r\n\r\n", ""]).join(self.rng.choices(CODE, k=self.rng.randint(1, 2)))

    def emoji(self):
        return "".join(self.rng.choice(EMOJI + [" ", "a", "\u200D", "\uFE0F"]) for _ in range(self.rng.randint(1, 4)))

    def symbols(self):
        return self.several(SYMBOLS, 6) + self.rng.choice(["", " ", "\n", "\r\n\r\n", "a"]) + self.several(SYMBOLS, 3, 0)

    def controls(self):
        return "".join(self.rng.choice([self.rng.choice(CONTROLS), self.rng.choice(WORDS), " "]) for _ in range(self.rng.randint(1, 6)))

    def anything(self):
        return "".join(chr(c) for c in (self.rng.randrange(0x110000) for _ in range(self.rng.randint(1, 5))) if not 0xD800 <= c < 0xE000)

    def added_tokens(self):
        """Added tokens whole, cut, doubled, and between words and marks."""
        def one():
            token = self.rng.choice(self.added)
            cut = self.rng.randint(1, len(token) - 1)
            return self.rng.choice([token, token, token, token * 2, token[:cut], token[cut:], token.upper(), "<" + token])
        glue = lambda: self.rng.choice(["", "", " ", "\n", "a", "\u0301", "<", "|>", "  ", "x y"])
        return "".join(one() + glue() for _ in range(self.rng.randint(1, 3)))

    def broken(self):
        """Valid text with bytes cut out, doubled, or put in."""
        data = bytearray(self.rng.choice([self.words, self.emoji, self.script_words, self.composed, self.added_tokens])().encode())
        for _ in range(self.rng.randint(1, 3)):
            at = self.rng.randrange(len(data) + 1)
            self.rng.choice([lambda: data.insert(at, self.rng.randrange(128, 256)), lambda: data.__delitem__(slice(at, at + 1)),
                             lambda: data.extend(self.rng.choice([b"\xf0\x9f\x98", b"\xe2\x82", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"])),
                             lambda: data.__setitem__(slice(at, at), bytes([self.rng.randrange(0xC0, 0x100), self.rng.randrange(0x80, 0xC0)]))])()
        return bytes(data)

    def runs(self):
        part = self.rng.choice(["a", " ", "\n", "ab", "'", "\u0301", "7", "\u4e2d", "\t ", "A", "-", "\r\n", "\u00e9", "x "])
        return part * self.rng.randint(12, 24) + self.rng.choice(["", "b", " c"])

    def mixture(self):
        kinds = [self.words, self.script_words, self.emoji, self.spaces, self.numbers, self.contractions, self.symbols, self.marks]
        return "".join(self.rng.choice(kinds)()[:12] for _ in range(3))


def make_lines(added):
    maker = Maker(20261129, added)
    kinds = {maker.words: 1700, maker.script_words: 2600, maker.marks: 1800, maker.composed: 1000, maker.jamo: 800,
             maker.spaces: 1700, maker.contractions: 1500, maker.numbers: 1000, maker.code: 1000, maker.emoji: 1000,
             maker.symbols: 1000, maker.controls: 900, maker.anything: 900, maker.added_tokens: 1900, maker.broken: 1800,
             maker.runs: 300, maker.mixture: 1300}
    lines = [b""] + [token.encode() for token in added] + [b"a" + token.encode() + b" b" for token in added]
    for kind, count in kinds.items():
        for _ in range(count):
            line = kind()
            lines.append(line if isinstance(line, bytes) else line.encode())
    return lines


def varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def main():
    if tokenizers.__version__ != VERSION:
        raise SystemExit(f"tokenizers {tokenizers.__version__} found, {VERSION} wanted")
    tokenizer = Tokenizer.from_file(str(ROOT / "models" / "tiny-dense-mlx-4bit" / "tokenizer.json"))
    added = [token.content for _, token in sorted(tokenizer.get_added_tokens_decoder().items())]
    lines = make_lines(added)
    data = bytearray()
    for line in lines:
        text = line.decode("utf-8", errors="replace")
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        # The words come in the printable alphabet, one character for each byte.
        words = [len(word) for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))]
        data += varint(len(line)) + line
        for numbers in (ids, words):
            data += varint(len(numbers)) + b"".join(map(varint, numbers))
    OUT.write_bytes(data)
    print(f"{len(lines)} lines, {len(set(lines))} distinct, {len(data)} bytes", file=sys.stderr)


main()
