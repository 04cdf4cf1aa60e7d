"""How the released GPT-2 tokeniser (encoder.py) cuts texts and numbers them.

  gpt2_pieces.py FOLDER > gpt2_pieces.txt   FOLDER holds the released encoder.json and vocab.bpe

A line is a text: its pieces in hexadecimal, `|`, its ids. The pattern is matched by the package
regex 2026.11.19, which encoder.py imports; merging is written apart from the program, after
encoder.py: all places of the lowest pair at once, again and again.
"""

import json
import pathlib
import random
import sys

import regex

PATTERN = regex.compile(
    r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
)
# Characters that the classes of older or other tables would take for something else, beside common ones.
ODD = (
    "\u180e\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
    "\xaa\xb2\xbc\xad\u0345\u0301\u0558\u0660\u0e33\u1c89\u2160\u2188\u3007\u4e00\uac00\ua7dd\uff11"
    "\U00010d40\U00011bf0\U0001f600\U0001d7ce\U0002ebf0\U000323b0\U0003d000\U000e0001\U0010ffff\ufffd"
)
COMMON = "aabcesdtvmlrABÉßøжд東12340 9'''.,;!?-_\"()<|>@#\\/    \n\n\t\r\v\f"


def texts() -> list[str]:
    random.seed(20261127)
    fixed = [
        "Don't they'll we've I'm you're he'd it's 'S 'LL 'tis ''s !'s 1's \t's",
        "a  b   c\n\nd \n e\t\tf \t g   ",
        " lead", "trail ", " ", "  ", "\n", " \n", "\n ", "\ta", "\n\na", " \u180ea\u180e b", "\u180e", "<|endoftext|>",
        "x = 1234567890 + 0.5e-10; // naïve café №5 ½ ²³ Ⅷ",
        "The quick brown fox jumps over the lazy dog. " * 3,
        "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" "=" * 70 + " " * 70 + "0" * 70,
    ]  # fmt: skip
    drawn = ["".join(random.choices(COMMON + ODD, k=random.randint(1, 24))) for _ in range(300)]
    spread = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    drawn += ["".join(random.choices(spread, k=12)) + " a" for _ in range(40)]
    drawn += ["".join(random.choices("abcdeinorst", k=random.randint(20, 90))) for _ in range(20)]
    return fixed + drawn


def byte_characters() -> list[str]:
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in own]
    return [chr(b if b in own else 256 + rest.index(b)) for b in range(256)]


def merged(word: list[str], ranks: dict[tuple[str, str], int]) -> list[str]:
    while True:
        pairs = [pair for pair in zip(word, word[1:], strict=False) if pair in ranks]
        if not pairs:
            return word
        first, second = min(pairs, key=ranks.__getitem__)
        out: list[str] = []
        at = 0
        while at < len(word):
            both = word[at : at + 2] == [first, second]
            out.append(first + second if both else word[at])
            at += 2 if both else 1
        word = out


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    encoder = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    lines = (folder / "vocab.bpe").read_text(encoding="utf-8").split("\n")[1:-1]
    ranks = {tuple(line.split()): rank for rank, line in enumerate(lines)}
    characters = byte_characters()
    for text in texts():
        pieces = [piece.encode() for piece in PATTERN.findall(text)]
        assert b"".join(pieces) == text.encode()
        words = [merged([characters[b] for b in piece], ranks) for piece in pieces]
        print(*(piece.hex() for piece in pieces), "|", *(encoder[token] for word in words for token in word))


main()
