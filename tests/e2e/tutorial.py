"""Runs the commands of a page and compares what they print with what the page shows.

tutorial.py PAGE PROGRAM_FOLDER: in the current folder. Blocks fenced as ```console hold commands
(after "$ ") and their output on stdout; a block ```yaml whose first line is "# NAME" is written to
NAME. With DEPTHGRID_UPDATE=1 the outputs are written into the page.

Another machine takes other times and another kind of processor rounds otherwise, which training
amplifies up to the spread over seeds. So durations and amounts of memory are not compared, nor is a
generated text; numbers with a point are equal within 3 % and .02, those of trained cells within
3 % and .1; of a comparison only those before its intervals, as what follows from the spread over
seeds (p, verdict, seeds needed) varies as it does; and where an interval of the page excludes zero
clearly, by a quarter of its length, the printed one does so on the same side: a nearer end crosses
zero with another rounding. Everything else must be equal.
"""

import os
import re
import subprocess
import sys

NUMBER = re.compile(r"<?[-−+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")
INTERVAL = re.compile(r"\[([-+][\d.]+), ([-+][\d.]+)\]")
TRAINED = re.compile(r"^depthgrid (results|compare|eval) ")
COMPARED = re.compile(r"^depthgrid compare |--until-ci ")
VERDICT = re.compile(r"(differs|undecided|no effect beyond #)$")
AMOUNT = re.compile(r"(?:\d[\d,.]*(?:e[-+]?\d+)? ?(?:h|min|s|ms|µs|[kKMG]i?B|B)\b ?)+")


def side(line, margin=0.0):
    """+1 or -1 if the line's interval lies on that side of zero, by more than `margin` of its length; else 0."""
    found = INTERVAL.search(line)
    low, high = (float(end) for end in found.groups()) if found else (0, 0)
    beyond = margin * (high - low)
    return (low > beyond) - (high < -beyond)


def same_line(shown, printed, slack, compared=False):
    """True if two lines differ at most in spaces, in the last digits of numbers and by `slack`.

    compared: numbers from the first interval on, and those of a line without one, may be any.
    """
    if side(shown, margin=0.25) not in (0, side(printed)):
        return False
    a, b = (AMOUNT.sub("~ ", " ".join(line.split())) for line in (shown, printed))
    texts = [NUMBER.sub("#", line) for line in (a, b)]
    if compared:
        texts = [VERDICT.sub("verdict", text) for text in texts]
    if texts[0] != texts[1]:
        return False
    last = max(a.find("["), 0) if compared else len(a)
    for x, y in zip(NUMBER.finditer(a), NUMBER.finditer(b)):
        if x[0] == y[0] or x.start() >= last:
            continue
        u, v = (float(m[0].replace(",", "").replace("−", "-").lstrip("<")) for m in (x, y))
        if "." not in x[0] or abs(u - v) > 0.03 * max(abs(u), abs(v)) + slack:
            return False
    return True


def run(command, env):
    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    if done.returncode != 0:
        sys.exit(f"FAILED: {command}\nended with {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    page, programs = sys.argv[1:3]
    env = dict(os.environ, PATH=programs + ":" + os.environ["PATH"])
    update = env.get("DEPTHGRID_UPDATE") == "1"
    text = open(page, encoding="utf-8").read()
    faults = []

    def block(match):
        kind, body = match[1], match[2]
        if kind == "yaml" and body.startswith("# "):
            name = body.split("\n", 1)[0][2:].strip()
            open(name, "w", encoding="utf-8").write(body)
        if kind != "console":
            return match[0]
        made = []
        for part in re.split(r"(?m)^\$ ", body)[1:]:
            lines = part.rstrip("\n").split("\n")
            words = 1
            while lines[words - 1].endswith("\\"):
                words += 1
            command, shown = "\n".join(lines[:words]), lines[words:]
            printed = run(command, env).rstrip("\n").split("\n")
            printed = [line.rstrip() for line in printed] if printed != [""] else []
            made.append("$ " + "\n".join([command] + printed) + "\n")
            if len(shown) != len(printed) and " generate " not in command:
                faults.append(f"{command}\nprints {len(printed)} lines, the page shows {len(shown)}:\n"
                              + "\n".join(printed))
            if " generate " in command:
                continue
            slack = 0.1 if TRAINED.search(command) else 0.02
            compared = bool(COMPARED.search(command))
            faults.extend(f"{command}\n  page:    {a}\n  printed: {b}"
                          for a, b in zip(shown, printed) if not same_line(a, b, slack, compared))
        return f"```console\n{''.join(made)}```"

    new = re.sub(r"(?ms)^```(\w+)\n(.*?)^```", block, text)
    if update:
        open(page, "w", encoding="utf-8").write(new)
    elif faults:
        sys.exit("FAILED: the page does not show what is printed (DEPTHGRID_UPDATE=1 renews it)\n"
                 + "\n".join(faults))


main()
