#!/usr/bin/env python3
"""What the programs say to a wrong command line, file or store, and how they end: the whole of it.

    .venv/bin/python tests/e2e/messages.py --build build/release [--update] [VERB...]

tests/golden/messages/VERB.txt holds the cases of a verb, each with the answer that is expected:

    # why it is wrong                begins a case, which has an empty folder of its own
    in a finished store              what else lies there: a place of messages_places.py
    sweep.yaml:                      a file; its text is indented by four blanks
        name: wrong
    bytes.txt (escaped):             the same with \\t, \\xff and so on
    $ depthgrid validate sweep.yaml  a command (no shell; VARIABLE=value before it, `2>&1` behind it:
        the text of stderr           and of stdout)
    [2]                              exit code

Places, versions, times and numbers of processes are replaced by words before texts are compared.
--update writes the answers anew: read the difference before you commit it. Elsewhere tests look for
the place, the value, the exit code and the name that is suggested, not for the wording.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import messages_places

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden/messages"
SECONDS = 60
INDENT = "    "


class Case:
    """A case as its lines in the file: `parts` are (kind, head, lines)."""

    def __init__(self, title):
        self.title = title
        self.place = None
        self.parts = []  # ("text", name, lines), ("command", words, lines + [code])


def parsed(text, name):
    """The comment before the first case, and the cases."""
    head, cases = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("# "):
            cases.append(Case(line[2:]))
        elif not cases:
            head.append(line)
        elif line.startswith("in "):
            cases[-1].place = line[3:]
        elif line.startswith("$ "):
            cases[-1].parts.append(("command", line[2:], []))
        elif line.startswith("[") and cases[-1].parts:
            cases[-1].parts[-1][2].append(line)
        elif line.startswith(INDENT) or not line:
            if cases[-1].parts:
                cases[-1].parts[-1][2].append(line.removeprefix(INDENT))
        elif line.endswith(":"):
            cases[-1].parts.append(("text", line[:-1], []))
        else:
            sys.exit(f"{name}:{number}: not understood: {line}")
    for case in cases:
        for _, _, lines in case.parts:
            while lines and not lines[-1]:
                lines.pop()
    return head, cases


def written(head, cases):
    lines = list(head)
    for case in cases:
        if lines and lines[-1]:
            lines.append("")
        lines.append(f"# {case.title}")
        if case.place:
            lines.append(f"in {case.place}")
        for kind, name, content in case.parts:
            lines.append(f"{name}:" if kind == "text" else f"$ {name}")
            code = content[-1:] if kind == "command" and content and content[-1].startswith("[") else []
            lines += [(INDENT + line).rstrip() for line in content[: len(content) - len(code)]] + code
    return "\n".join(lines) + "\n"


class Runner:
    def __init__(self, build, scratch):
        self.build = build
        self.scratch = scratch
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(scratch), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
            "XDG_CACHE_HOME": str(scratch / "cache"), "TMPDIR": str(scratch / "tmp"),
        }  # fmt: skip
        for name in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        (scratch / "tmp").mkdir()
        version = self.printed("--version").split()[1]
        self.verbs = [name for name in re.findall(r"^  (\w+) ", self.printed("help"), re.M) if name != "help"]
        sources = GOLDEN.parents[2]
        self.words = [
            (re.compile(re.escape(str(build))), "BUILD"),
            (re.compile(re.escape(str(sources))), "SOURCES"),
            (re.compile(re.escape(version)), "VERSION"),
            (re.compile(r"depthgrid\.\w{6}/"), "depthgrid.NAME/"),
            (re.compile(r"\bnearest of \d+ are\b"), "nearest of N are"),
            (re.compile(re.escape(self.printed("help"))), "(the list of verbs)\n"),
            (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
            (re.compile(r"\((\w+/)*\w+\.[ch]pp:\d+\)"), "(SOURCE)"),
            (re.compile(r"\b(process|pid) \d+"), r"\1 PID"),
            (re.compile(r"\b\d+(\.\d+)? (TB|GB|MB|TiB|GiB|MiB) (of|free|available)"), r"SIZE \3"),
            (re.compile(r"\b\d+(\.\d+)? [KM]iB, (\d+ cells)"), r"SIZE, \2"),
        ]

    def printed(self, word):
        return subprocess.run([self.build / "depthgrid", word], capture_output=True, text=True, check=True).stdout

    def normal(self, text, folder):
        text = text.replace(str(folder), "HERE")
        for pattern, word in self.words:
            text = pattern.sub(word, text)
        return text.replace(str(self.scratch), "SCRATCH")

    def call(self, command, folder):
        """Lines of the answer, and the exit code in brackets."""
        command, both = command.removesuffix(" 2>&1"), command.endswith(" 2>&1")
        words = shlex.split(command)
        env = dict(self.env)
        while re.match(r"[A-Z_]+=", words[0]):
            name, value = words.pop(0).split("=", 1)
            env[name] = value.replace("HERE", str(folder))
        alone = folder / "bin" / words[0]  # of the place "without the worker"
        words[0] = str(alone if alone.exists() else self.build / words[0])
        try:
            answer = subprocess.run(
                words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if both else subprocess.PIPE, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [f"[no end within {SECONDS} s]"]
        said = (answer.stdout if both else answer.stderr).decode("utf-8", "replace")
        lines = [line.rstrip() for line in self.normal(said, folder).split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        return [*lines, f"[{answer.returncode}]"]

    def answered(self, case):
        """The case with the answers of this build."""
        out = Case(case.title)
        out.place = case.place
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            folder = pathlib.Path(name)
            messages_places.make(case.place, folder, self)
            for kind, head, lines in case.parts:
                if kind == "command":
                    lines = self.call(head, folder)
                else:
                    file = folder / head.removesuffix(" (escaped)")
                    file.parent.mkdir(parents=True, exist_ok=True)
                    text = "\n".join(lines) + ("\n" if lines else "")
                    raw = text.encode()
                    if head.endswith(" (escaped)"):
                        raw = raw.decode("unicode_escape").encode("latin-1")
                    file.write_bytes(raw)
                out.parts.append((kind, head, lines))
        return out


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--build", type=pathlib.Path, required=True)
    words.add_argument("--update", action="store_true", help="write the answers anew")
    words.add_argument("verbs", nargs="*", help="only these")
    options = words.parse_args()
    files = [GOLDEN / f"{verb}.txt" for verb in options.verbs] or sorted(GOLDEN.glob("*.txt"))
    different = total = 0
    with tempfile.TemporaryDirectory(prefix="depthgrid-messages.") as scratch:
        runner = Runner(options.build.resolve(), pathlib.Path(scratch))
        missing = [verb for verb in runner.verbs if not (GOLDEN / f"{verb}.txt").exists()]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            begun = []
            for file in files:
                old = file.read_text(encoding="utf-8")
                head, cases = parsed(old, file.name)
                begun.append((file, old, head, [pool.submit(runner.answered, case) for case in cases]))
            for file, old, head, answers in begun:
                new = written(head, [answer.result() for answer in answers])
                total += len(answers)
                if new == old:
                    continue
                if options.update:
                    file.write_text(new, encoding="utf-8")
                    continue
                different += 1
                sys.stdout.writelines(difflib.unified_diff(
                    old.splitlines(True), new.splitlines(True), f"{file.name}, expected", f"{file.name}, said"))  # fmt: skip
    print(f"messages: {total} cases of {len(files)} files, {different} files differ")
    if different:
        print("if the new texts are meant: tests/e2e/messages.py --update, and read the difference")
    for verb in missing:
        print(f"{verb}: its messages are in no file: write tests/golden/messages/{verb}.txt")
    sys.exit(1 if different or missing else 0)


if __name__ == "__main__":
    main()
