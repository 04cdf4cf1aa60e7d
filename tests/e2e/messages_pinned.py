#!/usr/bin/env python3
"""Counts the assertions of unit tests that pin wording: a text with several words of prose in a row.

    tests/e2e/messages_pinned.py [--words 3] [--list]

Names in quotes or backquotes, paths and numbers are no prose. Much of what is left are texts that are
tested for themselves (tables, progress, scripts); the wording of messages belongs in
tests/golden/messages (see messages.py).
"""

import argparse
import pathlib
import re

TESTS = pathlib.Path(__file__).resolve().parents[1]
ASSERTION = re.compile(r"\b(?:EXPECT|ASSERT)_\w+\(")
# A literal, a parenthesis, or a comment: whatever else there is cannot end a statement.
TOKEN = re.compile(r'R"\((.*?)\)"|"((?:[^"\\]|\\.)*)"|\'(?:[^\'\\]|\\.)\'|//[^\n]*|[()]', re.S)
QUOTED = re.compile(r"`[^`]*`|'[^']*'|\\.")
PROSE = re.compile(r"[A-Za-z]+(?:,? [A-Za-z]+)*")


def words_in_a_row(text, begin):
    """The most words of prose in a row in the literals of the statement whose parenthesis opens before `begin`."""
    depth, at, said, most = 1, begin, "", 0
    for token in TOKEN.finditer(text, begin):
        literal = next((part for part in token.groups() if part is not None), None)
        if literal is not None:
            # Literals with nothing but space between them are one.
            said = said + literal if not text[at : token.start()].strip() else literal
            runs = PROSE.findall(QUOTED.sub("0", said))
            most = max([most, *(len(run.split()) for run in runs)])
        else:
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0:
                break
        at = token.end()
    return most


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--words", type=int, default=3, help="so many in a row count as prose")
    options.add_argument("--list", action="store_true", help="print the places")
    options = options.parse_args()
    total = pinned = files = 0
    for file in sorted(TESTS.rglob("*.cpp")):
        text = file.read_text(encoding="utf-8")
        found = list(ASSERTION.finditer(text))
        total += len(found)
        places = [m.start() for m in found if words_in_a_row(text, m.end()) >= options.words]
        pinned += len(places)
        files += bool(places)
        for place in places if options.list else []:
            print(f"{file.relative_to(TESTS.parent)}:{text.count(chr(10), 0, place) + 1}")
    print(f"{pinned} of {total} assertions, in {files} files, hold {options.words} or more words in a row")


main()
