"""Rows of a check: each with a planned time, all under one deadline, each known as soon as it is done."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 2.0
"""A row may take so many times what was planned for it, while the deadline allows it."""
LOG_BYTES = 200_000
"""Of a row's output; the end is kept."""


class Failed(Exception):
    """A row that shows a fault; lines below it, or the end of its output."""

    def __init__(self, text: str, lines: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.lines = lines


class NotRun(Exception):
    """A row that cannot be run here."""


@dataclass(frozen=True)
class Row:
    name: str
    planned: float  # seconds
    run: Callable[[], Found]
    needs: str = ""  # a row that must have passed


@dataclass(frozen=True)
class Found:
    """What a row shows: a line, lines below it, and numbers for the JSON file."""

    text: str
    lines: Sequence[str] = ()
    numbers: dict = field(default_factory=dict)


def members_of(session: int) -> list[int]:
    """Processes of a session that are alive."""
    members = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()  # state, parent, group, session
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(int(folder.name))
    return members


def kill_session(session: int) -> None:
    """With SIGKILL all processes of a session: programs put their children into groups of their own."""
    for _ in range(20):  # one that was just being born is found the next time
        members = members_of(session)
        if not members:
            return
        for member in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        time.sleep(0.01)


class Table:
    """Runs rows one after another and writes NAME.txt, NAME.jsonl and NAME.log into a folder."""

    def __init__(self, name: str, folder: Path, seconds: float, work: Path) -> None:
        self.end = time.monotonic() + seconds
        self.work = work
        self.passed: dict[str, bool] = {}
        self._limit = self.end
        self._text, self._json, self._log = (folder / f"{name}.{x}" for x in ("txt", "jsonl", "log"))
        for path in (self._text, self._json, self._log):
            path.write_text("")

    def say(self, text: str) -> None:
        print(text, flush=True)
        with self._text.open("a") as file:
            file.write(text + "\n")

    def run(self, rows: Sequence[Row]) -> int:
        """@return how many rows failed or were not reached."""
        bad = 0
        for row in rows:
            began = time.monotonic()
            left = self.end - began
            state, found = "ok", Found("")
            self._limit = began + min(left, PATIENCE * row.planned + 5)
            self._output = self._last = b""
            try:
                if left < 1:
                    state = "NOT REACHED"
                elif row.needs and not self.passed.get(row.needs, False):
                    state, found = "not run", Found(f"{row.needs} did not pass")
                else:
                    found = row.run()
            except NotRun as why:
                state, found = "not run", Found(str(why))
            except Failed as why:
                state, found = "FAILED", Found(str(why), why.lines or self.last_words())
            except Exception as error:  # a fault of the check itself must not end the other rows
                state, found = "FAILED", Found(f"{type(error).__name__}: {error}", self.last_words())
            self.passed[row.name] = state == "ok"
            bad += state in ("FAILED", "NOT REACHED")
            seconds = time.monotonic() - began
            self.say(f"{row.name:<26} {state:<11} {seconds:4.0f} s of {row.planned:3.0f}  {found.text}".rstrip())
            for line in found.lines:
                self.say(f"   | {line}")
            with self._json.open("a") as file:
                facts = {"row": row.name, "state": state, "planned_s": row.planned, "seconds": round(seconds, 2)}
                file.write(json.dumps({**facts, "found": found.text, **found.numbers}) + "\n")
            with self._log.open("ab") as file:
                file.write(f"\n==== {row.name}: {state}\n".encode() + self._output[-LOG_BYTES:])
        return bad

    def seconds_left(self) -> float:
        """Of the row that runs."""
        return self._limit - time.monotonic()

    def last_words(self) -> list[str]:
        """Of the last command: its errors, else what it printed."""
        return self._last.decode(errors="replace").splitlines()[-12:]

    def start(self, command: Sequence[str | Path], **variables: str) -> subprocess.Popen:
        """A process in a session of its own, whose output goes to files."""
        self._files = [(self.work / name).open("w+b") for name in ("output", "errors")]
        output, errors = self._files
        try:
            return subprocess.Popen(
                [str(x) for x in command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                cwd=self.work, env={**os.environ, **variables}, start_new_session=True,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise Failed(f"{error.filename} is not there") from error

    def finish(self, process: subprocess.Popen) -> tuple[int, str]:
        """Waits, at most until the row's limit; then the whole session is killed.

        @return code and standard output.
        """
        late = False
        try:
            process.wait(max(self.seconds_left(), 0.1))
        except subprocess.TimeoutExpired:
            late = True
            kill_session(process.pid)
            process.wait()
        self._output += b"$ " + " ".join(map(str, process.args)).encode() + b"\n"  # type: ignore[arg-type]
        texts = []
        for file in self._files:
            file.seek(0)
            texts.append(file.read())
            file.close()
            self._output += texts[-1]
        self._last = texts[1].strip() or texts[0]
        if late:
            raise Failed("stopped at its limit")
        return process.returncode, texts[0].decode(errors="replace")

    def call(self, command: Sequence[str | Path], fine: Sequence[int] = (0,), **variables: str) -> str:
        """The standard output of a command. @throws Failed unless it ends with a code of `fine`."""
        code, output = self.finish(self.start(command, **variables))
        if code not in fine:
            raise Failed(f"exit code {code}")
        return output

    @property
    def output(self) -> str:
        """All that the row's commands have printed so far, errors too."""
        return self._output.decode(errors="replace")
