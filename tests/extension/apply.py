"""Copies a checkout, adds extensions to the copy and counts the files that each needs.

apply.py SOURCES COPY EXTENSION...: an extension is a folder below tests/extension with new files in
`new/` (at their places in the tree) and insertions in `rows`; CONTRIBUTING.md has a table of counts
by its name. Files that are already correct are left alone, so that a second build is
short. Fails, naming every problem, if an anchor does not occur exactly once, or if a count differs.

The file `rows`:
    == core/train/a.cpp          a file that is touched
    after TEXT, before TEXT      the one line that is TEXT; lines `+...` are put there
    replace TEXT                 the one place where TEXT stands ...
    with TEXT                    ... becomes this
    generate WORDS               the file is what `depthgrid WORDS` prints; written by try.sh
"""

import re
import sys
from pathlib import Path

UNWATCHED = {"build", "results", "data", ".git", ".venv", ".cache", ".bench", ".ruff_cache"}


def sources(root):
    """{path: bytes} of everything but what is built, installed or recorded."""
    found = {}
    for top in sorted(root.iterdir()):
        if top.name in UNWATCHED or top.name.startswith("build"):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def counts(page):
    """{name: (new, touched)} of the table in CONTRIBUTING.md: | `name` | ... | new | touched |"""
    rows = re.findall(r"^\| `([a-z_]+)` \|.*\| (\d+) \| (\d+) \|$", page, re.M)
    return {name: (int(new), int(touched)) for name, new, touched in rows}


class Extension:
    def __init__(self, folder):
        self.name = folder.name
        new = folder / "new"
        self.new = {str(p.relative_to(new)): p.read_bytes() for p in sorted(new.rglob("*")) if p.is_file()}
        self.rows = (folder / "rows").read_text()
        self.touched, self.generated, self.problems = set(), [], []

    def apply(self, tree):
        for path, data in self.new.items():
            if path in tree:
                self.problems.append(f"{path} is already there")
            tree[path] = data
        for part in re.split(r"^== ", self.rows, flags=re.M)[1:]:
            path, _, steps = part.partition("\n")
            self.touched.add(path)
            if path not in tree:
                self.problems.append(f"{path} is not there")
                continue
            text = self.edited(path, tree[path].decode(), steps.rstrip("\n").split("\n"))
            tree[path] = text.encode()

    def edited(self, path, text, steps):
        at = old = None
        for step in steps:
            word, _, rest = step.partition(" ")
            if step.startswith("+"):
                if at is not None:
                    text = text[:at] + step[1:] + "\n" + text[at:]
                    at += len(step)
            elif word == "after":
                at = self.once(path, "\n" + text, "\n" + rest + "\n")
                at = None if at is None else at + len(rest) + 1
            elif word == "before":
                at = self.once(path, "\n" + text, "\n" + rest + "\n")
            elif word == "replace":
                at, old = None, rest
            elif word == "with":
                begin = self.once(path, text, old)
                if begin is not None:
                    text = text[:begin] + rest + text[begin + len(old) :]
            elif word == "generate":
                self.generated.append((path, rest))
            elif step:
                self.problems.append(f"{self.name}/rows: '{step}' is no step")
        return text

    def once(self, path, text, wanted):
        if text.count(wanted) != 1:
            self.problems.append(f"{path}: {text.count(wanted)} places with '{wanted.strip()}', not one")
            return None
        return text.index(wanted)


def main():
    root, copy = Path(sys.argv[1]), Path(sys.argv[2])
    tree = sources(root)
    stated = counts(tree["CONTRIBUTING.md"].decode())
    problems = []
    generated = ""
    for name in sys.argv[3:]:
        extension = Extension(root / "tests/extension" / name)
        extension.apply(tree)
        problems += [f"{name}: {p}" for p in extension.problems]
        needed = (len(extension.new), len(extension.touched))
        print(f"{name}: {needed[0]} new files, {needed[1]} touched; CONTRIBUTING.md says {stated.get(name)}")
        if stated.get(name) != needed:
            problems.append(f"{name}: needs {needed}, CONTRIBUTING.md says {stated.get(name)}")
        generated += "".join(f"{path} {words}\n" for path, words in extension.generated)
    if problems:
        sys.exit("\n".join(problems))
    for path in [p for p in sources(copy) if p not in tree] if copy.exists() else []:
        (copy / path).unlink()
    for path, data in tree.items():
        to = copy / path
        if not to.exists() or to.read_bytes() != data:
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
        mode = (root / path).stat().st_mode if (root / path).exists() else 0o644
        to.chmod(mode)
    (copy.parent / "generated").write_text("".join(sorted(set(generated.splitlines(True)))))


main()
