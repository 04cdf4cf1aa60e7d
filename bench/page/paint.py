"""Paint times of a report's learning curves in headless Chromium, beside a plain uPlot page of the same points.

    python3 bench/page/paint.py PAGE.html --uplot uPlot.iife.min.js [--rounds 7] [--force]

PAGE.html is one of `depthgrid report`. The other page holds uPlot, the points of PAGE's single cells and what draws
them at the same size: no legend, no cursor, no filters. A load is cold: a browser that has just started, with an empty
profile. Loads take turns. The same is measured on both sides, in ms from the start of the navigation:

first paint   first contentful paint, as the browser reports it
drawn         all curves are in the pixels of the canvas (one was read back) and the frame with them is over
filtered      from a change of what is shown (the curves of one seed leave) to the next such frame

uPlot is not part of the project: dist/uPlot.iife.min.js of its release, or of its package.
"""

import argparse
import json
import re
import statistics
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "tests/e2e")]
import chromium  # noqa: E402
import machine  # noqa: E402

# Both pages: after the frame, every canvas has been read, so what was drawn is in it.
FRAME = """(() => new Promise((done) => requestAnimationFrame(() => { const channel = new MessageChannel();
  channel.port1.onmessage = () => { for (const one of document.querySelectorAll('canvas'))
    one.getContext('2d').getImageData(0, 0, 1, 1); done(performance.now()); }; channel.port2.postMessage(0); })))()"""
WATCH = f"document.addEventListener('DOMContentLoaded', () => {{ window.drawn = {FRAME}; }});"
FILTER = """(() => { const start = performance.now(); %s; return (%s).then((end) => end - start); })()"""
UNCHECK = """[...document.querySelectorAll('.curves-filters fieldset')].find((one) =>
  one.querySelector('legend').textContent === 'seed').querySelector('input').click()"""
PLAIN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>curves</title></head><body><div id="plot"></div>
<script type="application/json" id="data">{data}</script>
<script>{library}</script>
<script>
const raw = JSON.parse(document.getElementById("data").textContent);
const colours = ["#0072b2", "#d55e00", "#009e73", "#b8588d", "#a86f00", "#2e8bc0", "#858000", "#444444"];
const plot = new uPlot({{width: {width}, height: {height}, legend: {{show: false}}, cursor: {{show: false}},
  scales: {{x: {{time: false}}}},
  series: [{{}}, ...raw.arms.map((arm) => ({{stroke: colours[arm % 8], width: 1.5, points: {{show: false}}}}))]}},
  [raw.x, ...raw.ys], document.getElementById("plot"));
function leave() {{
  const out = raw.seeds.map((seed, i) => i).filter((i) => raw.seeds[i] === raw.seeds[0]);
  plot.batch(() => out.forEach((i) => plot.setSeries(i + 1, {{show: false}})));
}}
</script></body></html>
"""


def plain_page(page, library, size):
    """A uPlot page of the curves of a report's page, with one x for all of them."""
    raw = json.loads(re.search(r'<script type="application/json" id="curves-data">(.*?)</script>', page, re.S)[1])
    curves = raw["curves"]
    assert all(curve["x"] == curves[0]["x"] for curve in curves), "the curves have different steps"
    data = {"x": raw["grids"][curves[0]["x"]]} | {of + "s": [c[of] for c in curves] for of in ("y", "arm", "seed")}
    text = PLAIN.format(data=json.dumps(data, separators=(",", ":")), library=library, width=size[0], height=size[1])
    return text, len(curves), len(data["x"])


def load(address, change):
    """One cold load. @return first paint, drawn, filtered in ms, and what the console complained of."""
    with chromium.Chromium() as browser:
        tab = browser.tab()
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        tab.load(address)
        drawn = tab.value("window.drawn")
        tab.settle()
        said = tab.said()
        first = tab.value("(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: NaN}).startTime")
        return first, drawn, tab.value(FILTER % (change, FRAME)), said


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("page", type=Path)
    options.add_argument("--uplot", type=Path, required=True, help="dist/uPlot.iife.min.js")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--force", action="store_true", help="measure on a busy machine, too")
    options = options.parse_args()
    machine.require_quiet(force=options.force)
    ours = options.page.resolve().as_uri() + "#curves?view=cells"
    with chromium.Chromium() as browser:
        tab, product = browser.tab(), browser.product
        tab.load(ours)
        size = tab.value("((one) => [one.clientWidth, one.clientHeight])(document.querySelector('.curves-canvas'))")
    with tempfile.TemporaryDirectory() as folder:
        text, curves, points = plain_page(options.page.read_text(), options.uplot.read_text(), size)
        theirs = Path(folder, "uplot.html")
        theirs.write_text(text)
        sides = {"depthgrid": (ours, UNCHECK), "uPlot": (theirs.as_uri(), "leave()")}
        times = {side: [] for side in sides}
        for number in range(options.rounds):
            for side in list(sides)[:: 1 if number % 2 == 0 else -1]:
                *row, said = load(*sides[side])
                if said:
                    print(f"{side}: console: {said}", file=sys.stderr)
                times[side].append(row)
    print(
        f"{curves} curves of {points} points, {size[0]} × {size[1]} pixels, {product}, {options.rounds} cold loads "
        f"each, pressure {machine.pressure():.0f} %"
    )
    print("\n| ms | depthgrid | uPlot | depthgrid / uPlot |\n|---|---|---|---|")
    for column, what in enumerate(("first paint", "drawn", "filtered")):
        of = {side: [row[column] for row in rows] for side, rows in times.items()}
        ratios = [a / b for a, b in zip(of["depthgrid"], of["uPlot"], strict=True)]
        spread = [
            f"{statistics.median(v):.{digits}f} ({min(v):.{digits}f} … {max(v):.{digits}f})"
            for v, digits in ((of["depthgrid"], 0), (of["uPlot"], 0), (ratios, 2))
        ]
        print(f"| {what} | " + " | ".join(spread) + " |")


if __name__ == "__main__":
    main()
