"""Classes of characters that GPT-2's published pattern asks for: white space, letters, numbers.

  unicode_classes.py table   prints core/data/tokenizers/unicode_classes.inc, from the package
                             unicodedata2 18.0.0 (the standard's UnicodeData.txt)
  unicode_classes.py digest  prints what gpt2_pieces_test.cpp expects, from the package regex
                             2026.11.19, which the published encoder.py imports: number of characters
                             of each class and the SHA-256 of the classes of U+0000 to U+10FFFF, a
                             byte each
"""

import hashlib
import sys
from collections.abc import Iterator

LAST = 0x10FFFF
# The property White_Space (PropList.txt), which is what \s means to regex.
SPACES = [(0x9, 0xD), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
          (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)]  # fmt: skip


def ranges(begins: str) -> Iterator[tuple[int, int]]:
    """First and last code point of each run whose general category begins with that letter."""
    import unicodedata2

    first = None
    for code in range(LAST + 2):
        inside = code <= LAST and unicodedata2.category(chr(code)).startswith(begins)
        if inside and first is None:
            first = code
        if not inside and first is not None:
            yield first, code - 1
            first = None


def table() -> None:
    import unicodedata2

    print(f"// First and last code point of each range, Unicode {unicodedata2.unidata_version}. Made by")
    print("// tests/golden/unicode_classes.py; a newer table is another way of cutting text into tokens.")
    print("// clang-format off")
    for name, found in ("Spaces", SPACES), ("Letters", ranges("L")), ("Numbers", ranges("N")):
        print(f"\nconstexpr CodeRange k{name}[] = {{")
        line = "   "
        for first, last in found:
            entry = f" {{0x{first:X}, 0x{last:X}}},"
            if len(line + entry) > 100:
                print(line)
                line = "   "
            line += entry
        print(f"{line}\n}};")


def digest() -> None:
    import regex

    classes = bytearray(LAST + 1)
    for number, pattern in enumerate((r"\s", r"\p{L}", r"\p{N}"), 1):
        matches = regex.compile(pattern).match
        for code in range(LAST + 1):
            if matches(chr(code)):
                classes[code] = number
    print(*(classes.count(number) for number in (1, 2, 3)), hashlib.sha256(classes).hexdigest())


{"table": table, "digest": digest}[sys.argv[1]]()
