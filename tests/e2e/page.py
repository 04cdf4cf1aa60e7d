#!/usr/bin/env python3
"""The page of `report` in headless Chromium: what a person sees of it, with a mouse, a keyboard, a phone and on paper.

page.py BUILD_FOLDER

Skipped (77) without a Chromium or a Chrome: scripts/setup.sh installs one, $CHROMIUM names another. The sweep has markup
and characters that reorder a line in every text that its author chooses; each check is also made of a copy of the page in
which what it looks for is broken.
"""
import json
import re
import sys
import tempfile
import time
from pathlib import Path

import chromium
from comparison import AUDITS, Place, fail
from page_checks import Checks, axe_source

EVIL = "</script></style><script>window.owned=1;alert('owned')</script><img src=x onerror=alert(1)> \u202e reversed"
KEYS = ["text", "</script><script>alert(2)</script>", "a\u202eb<img src=x onerror=alert(3)>"]
SWEEP = f"""name: grid
description: {json.dumps(EVIL)}
model: {{family: time_indexed, d_model: 8, n_layers: 2, n_heads: 2, time_features: {{frequencies: 4}}}}
data: {{corpus: file, path: CORPUS, tokenizer: byte, seq_len: 8}}
train: {{steps: 8, batch_size: 4, lr: 0.01}}
eval: {{every: 2, windows: 4, final_windows: 8}}
checkpoint: {{every: null}}
audit: {{{", ".join(name + ": off" for name in AUDITS.split())}}}
parameters:
  model.modulation.hidden: [4, 8]
  data.text_key: {json.dumps(KEYS)}
include:
  - {{tag: gpt, model.family: standard}}
  - {{tag: boom, train.lr: 1.0e9}}
seeds: 2
"""
ARMS, CURVES = 8, 16
# What can be seen of a view, with its picture to the pixel.
VIEW = """(() => { const all = (what) => [...document.querySelectorAll(what)]; return JSON.stringify({
  summary: all('.curves-summary')[0].textContent,
  legend: all('.curves-legend li:not([hidden])').map((one) => one.textContent),
  pressed: all('.curves-legend button[aria-pressed=true]').map((one) => one.textContent),
  controls: all('#curves-live input, #curves-live select').map((one) => [one.value, one.checked, one.disabled]),
  theme: all('button.theme')[0].textContent, label: all('.curves-canvas')[0].getAttribute('aria-label'),
  colours: getComputedStyle(document.documentElement).backgroundColor,
  picture: all('.curves-canvas')[0].toDataURL()}); })()"""


def shown(tab):
    tab.settle()
    summary = tab.value("document.querySelector('.curves-summary').textContent")
    entries = tab.value("document.querySelectorAll('.curves-legend li:not([hidden])').length")
    return int(re.match(r"(\d+) of", summary)[1]), entries


def box_of(tab, level):
    """Clicks the box of a level in the filters."""
    begins = json.dumps(level + "(")  # the number of its curves stands behind it
    tab.value(f"[...document.querySelectorAll('.levels label')].find((one) => one.textContent.startsWith({begins})).click()")


def same_view_again(checks, address):
    """What the address of a view shows in a window of its own."""
    tab = checks.tab
    tab.value("new Promise((done) => setTimeout(done, 300))")  # the address is written a while after the last change
    before, sent = tab.value(VIEW), tab.value("location.href")
    assert sent.startswith(address + "#curves?"), sent
    checks.show(sent)
    assert tab.value(VIEW) == before, f"another view after a fresh load of {sent}"
    checks.quiet()
    return sent


def filtered(checks, address):
    tab = checks.tab
    checks.show(address)
    assert shown(tab) == (CURVES, ARMS), shown(tab)
    whole = tab.value(VIEW)
    tab.value("document.querySelector('.curves-filters summary').click()")
    box_of(tab, "diverged")
    assert shown(tab) == (CURVES - 2, ARMS - 1), shown(tab)
    box_of(tab, "1")  # seed 1
    assert shown(tab) == (CURVES / 2 - 1, ARMS - 1), shown(tab)
    assert tab.value(VIEW) != whole
    tab.value("document.querySelector('input[type=search]').focus()")
    tab.call("Input.insertText", text="</SCRIPT>")
    assert shown(tab) == (2, 2), shown(tab)
    tab.value("document.querySelector('input[value=cells]').click()")
    tab.value("[...document.querySelectorAll('.choice')].find((one) => one.textContent === 'log y').click()")
    tab.value("document.querySelector('.curves-legend li:not([hidden]) button').click()")
    tab.value("document.querySelector('button.theme').click()")
    tab.settle()
    sent = same_view_again(checks, address)
    tab.value("[...document.querySelectorAll('.levels+.curves-buttons button')].filter((b) => b.textContent === 'none')[0].click()")
    assert shown(tab) == (0, 0), shown(tab)
    tab.value("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Show all curves').click()")
    assert shown(tab) == (CURVES, ARMS), shown(tab)
    tab.value("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Last half').click()")
    tab.wait("location.hash.includes('x0=')")
    assert "y0=" not in tab.value("location.hash") and tab.value(VIEW) != whole, tab.value("location.hash")
    tab.value("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Reset zoom').click()")
    tab.wait("!location.hash.includes('x0=')")
    # An address that nobody has sent.
    for words in ("view=__proto__&arm=constructor&only.seed=9&ema=1e999&x0=nan&metric=<img>&q=%FF%00", "&&=&;" + "x" * 60000):
        checks.show(f"{address}#curves?{words}")
        checks.quiet()
        assert shown(tab)[1] in (0, ARMS), words
    checks.show(f"{address}#cost")
    assert tab.value("scrollY > 100 && location.hash === '#cost'"), "an anchor of the page is left alone"
    return sent


def themed(checks, address):
    tab, dark = checks.tab, "getComputedStyle(document.documentElement).backgroundColor"
    corner = ("(() => { const c = document.querySelector('.curves-canvas'), p = c.getContext('2d').getImageData(2, 2, 1, 1).data;"
              "return `rgb(${p[0]}, ${p[1]}, ${p[2]})`; })()")
    colours = []
    for scheme in ("light", "dark"):
        checks.show(address, scheme)
        colours.append(tab.value(dark))
        assert tab.value(corner) == colours[-1], "the plot has the colour of the page"
    assert colours[0] != colours[1]
    tab.media("light")  # while the page is open
    tab.settle()
    assert tab.value(dark) == tab.value(corner) == colours[0]
    for name, colour in (("light", 0), ("dark", 1), ("auto", 0)):
        tab.value("document.querySelector('button.theme').focus()")
        tab.press("Enter" if name == "light" else " ")
        tab.settle()
        found = [tab.value("document.querySelector('button.theme').textContent"), tab.value(dark), tab.value(corner)]
        assert found == [f"Theme: {name}", colours[colour], colours[colour]], found


def typed(checks, address):
    """Keys act as on any page; those of the plot as it says below it."""
    tab = checks.tab
    checks.show(address + "#curves?q=e")  # with open filters
    checks.tabbed()
    checks.show(address)
    checks.tabbed()
    readout, focus = "document.querySelector('.curves-readout').textContent", "document.querySelector({}).focus()"
    tab.value(focus.format("'.curves-filters summary'"))
    tab.press("Enter")
    assert tab.value("document.querySelector('.curves-filters').open")
    tab.value(focus.format("'.levels input'"))
    tab.press(" ")
    assert shown(tab)[0] < CURVES
    tab.press(" ")
    assert shown(tab)[0] == CURVES
    tab.value(focus.format("'input[value=arms]'"))
    tab.press("ArrowRight")
    assert tab.value("document.querySelector('input[value=cells]').checked")
    tab.settle()
    tab.value(focus.format("'.curves-canvas'"))
    texts = []
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "Home", "End"):
        tab.press(key)
        tab.settle()
        texts.append(tab.value(readout))
    assert all(text.startswith("arm ") and "· seed " in text for text in texts) and len(set(texts)) >= 4, texts
    tab.press("Enter")
    tab.press("+")
    tab.settle()
    assert tab.value("document.querySelectorAll('.curves-legend [aria-pressed=true]').length") == 1
    tab.wait("location.hash.includes('arm=') && location.hash.includes('x0=')", 5)
    tab.press("Escape")
    tab.wait("!location.hash.includes('arm=') && !location.hash.includes('x0=')", 5)
    assert tab.value("document.querySelectorAll('.curves-legend [aria-pressed=true]').length") == 0
    tab.press("Tab")
    assert not tab.value("document.activeElement.matches('.curves-canvas')"), "the plot keeps the focus"
    checks.quiet()


def must_fail(check, what, pattern, *words):
    try:
        check(*words)
    except AssertionError as error:
        assert re.search(pattern, str(error)), f"a page with {what} fails {check.__name__}() by something else: {error}"
        return
    fail(f"a page with {what} passes {check.__name__}()")


def broken(checks, folder, text):
    """Each check sees what it is there for: what is broken, how, what the check says, and its words."""
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert free != text
    c = checks
    for number, (what, begin, old, new, check, pattern, *words) in enumerate([
            ("a script of its own", text, "</body>", "<script>window.fine=1</script></body>", c.quiet, "Content Security Policy"),
            ("an error", free, "start();\n</script>", "start();\nstarted();\n</script>", c.quiet, "started is not defined"),
            ("a picture from elsewhere", free, "</body>", "<img src=//example.org/x.png alt=x></body>", c.quiet, "ERR_"),
            ("grey letters", free, "</style>", ".note{color:#999!important}</style>", c.accessible, "color-contrast",
             ["color-contrast"]),
            ("pale numbers", free, "</style>", "svg text{fill:#888!important}</style>", c.accessible, r"\[\[[1-4]\.", ["label"]),
            ("a field without a name", free, 'make("label", {class: "field"}', 'make("div", {class: "field"}', c.accessible, "label",
             ["label"]),
            ("a wide line", free, "<main>", "<main><nobr>" + "x " * 99, c.narrow, r"\d\d\d, "),
            ("hidden focus", free, "</style>", ":focus-visible{outline:none!important}</style>", c.tabbed, "'outline': 0"),
            ("keys that skip", free, "<nav", "<a href='#x' tabindex='3'>x</a><nav", c.tabbed, "order of the page"),
            ("an element that no key reaches", free, "<summary>", "<summary tabindex='-1'>", c.tabbed, "summary"),
            ("controls on paper", free, "nav,button.theme,", "", c.paper, "controls on paper")]):
        assert begin.count(old) >= 1, what
        page = folder / f"broken{number}.html"
        page.write_text(begin.replace(old, new, 1))
        checks.show(page.as_uri(), width=360 if check == checks.narrow else 1280)
        must_fail(check, what, pattern, *words)


def main():
    if chromium.program() is None:
        print("page: skipped: no Chromium here, or only a snap: scripts/setup.sh installs one where it may, CHROMIUM=PATH names one")
        sys.exit(77)
    seconds = []
    with tempfile.TemporaryDirectory() as name:
        folder, start = Path(name).resolve(), time.monotonic()

        def step(what):
            seconds.append(f"{what} {time.monotonic() - start:.1f}")

        place = Place(sys.argv[1], folder)
        (folder / "corpus.jsonl").write_text("\n".join(
            json.dumps({key: " ".join(["stone", "river", "field", "tower"][(i * 7 + j * j) % 4] for j in range(12)) for key in KEYS})
            for i in range(300)))
        (folder / "grid.yaml").write_text(SWEEP.replace("CORPUS", str(folder / "corpus.jsonl")))
        place("run", "grid.yaml", "--quiet")
        place("report", "results/grid", "-o", "page.html")
        page = folder / "page.html"
        step("trained at")
        with chromium.Chromium() as browser:
            checks = Checks(browser.tab(), axe_source())
            for scheme, width, height in (("light", 1280, 900), ("dark", 1280, 900), ("light", 360, 740), ("dark", 360, 740)):
                checks.show(page.as_uri(), scheme, width, height)
                checks.quiet()
                if width == 360:
                    checks.narrow()
                checks.accessible()
            step("axe")
            themed(checks, page.as_uri())
            step("themes")
            filtered(checks, page.as_uri())
            step("filters")
            typed(checks, page.as_uri())
            step("keys")
            checks.show(page.as_uri(), "dark")
            checks.paper()
            step("paper")
            broken(checks, folder, page.read_text())
            step("broken pages")
    print(f"page: in {browser.product}; " + ", ".join(seconds) + " s")


if __name__ == "__main__":
    main()
