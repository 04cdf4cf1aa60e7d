"""Checks of a page that a browser shows, for page.py: each raises an AssertionError that says what it saw."""
import importlib.util
import json
from pathlib import Path

from comparison import fail

# Of each text in a picture, which axe leaves out: its contrast to the page, or to the cell of a heat map that it lies
# on; least first.
CONTRASTS = """(() => { const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const page = getComputedStyle(document.documentElement).backgroundColor;
  const behind = (text) => { const cell = text.parentElement.querySelector(':scope > rect.cell');
    return light(cell === null ? page : getComputedStyle(cell).fill); };
  const of = (text) => { const own = light(getComputedStyle(text).fill), other = behind(text);
    return (Math.max(own, other) + 0.05) / (Math.min(own, other) + 0.05); };
  return [...document.querySelectorAll('svg text')].map((one) => [of(one), one.textContent])
    .sort((a, b) => a[0] - b[0]); })()"""
# What the focus is on: its number in the order of the document, and whether it can be seen.
FOCUS = """(() => { const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
  return {number: [...document.querySelectorAll('*')].indexOf(e), body: e === document.body,
    name: `${e.tagName} ${e.className} ${e.getAttribute('aria-label') || e.textContent.slice(0, 40)}`,
    outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
    sight: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.width > 0}; })()"""
# All that the Tab key must reach; of radio buttons one.
STOPS = """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((e) => !e.disabled && e.checkVisibility() && !(e.type === 'radio' && !e.checked))
  .map((e) => [...document.querySelectorAll('*')].indexOf(e))"""


def axe_source():
    """axe-core, as axe-playwright-python brings it; of that package nothing else is used."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None:
        fail("axe-playwright-python is not installed: scripts/setup.sh")
    return Path(found.submodule_search_locations[0], "axe.min.js").read_text()


class Checks:
    """Each is made of the page that `tab` shows, and raises an AssertionError."""

    def __init__(self, tab, axe):
        self.tab, self.axe = tab, axe

    def show(self, address, scheme="light", width=1280, height=900):
        self.tab.size(width, height, mobile=width < 600)
        self.tab.media(scheme)
        self.tab.load(address)
        self.tab.settle()

    def quiet(self):
        """Nothing is complained of, nothing but the page is asked for, and nothing of the store became markup."""
        said, page = self.tab.said(), self.tab.value("location.href.split('#')[0]")
        assert not said, said
        assert [one.split("#")[0] for one in self.tab.requests()] == [page], self.tab.requests()
        assert self.tab.value("window.owned === undefined && document.scripts.length === 2 && document.images.length === 0")
        assert not [one for one in self.tab.browser.events if one["method"] == "Page.javascriptDialogOpening"]
        assert self.tab.value("document.body.textContent.includes('<img src=x onerror=alert(1)>')"), "the text is text"
        assert not self.tab.value("/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText + document.title)")

    def accessible(self, rules=None):
        """axe-core finds no violation, also in what is folded away; pictures have the contrast of texts."""
        # What was never in sight has an estimated height, and axe takes what is clipped there for covered.
        self.tab.value("""(async () => { for (const one of document.querySelectorAll('section')) { one.scrollIntoView({block: 'end'});
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); } scrollTo(0, 0); })()""")
        self.tab.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        self.tab.value(self.axe + ";0")
        which = f"runOnly: {json.dumps(rules)}" if rules else "rules: {'target-size': {enabled: true}}"
        found = self.tab.value(f"axe.run(document, {{resultTypes: ['violations'], {which}}}).then((all) => all.violations.map("
                               "(one) => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]))")
        assert not found, found
        least = self.tab.value(CONTRASTS)[:3]
        assert least[0][0] >= 4.5, least

    def narrow(self):
        """No scrolling aside: what is wider scrolls by itself."""
        wide = self.tab.value("[document.documentElement.scrollWidth, innerWidth, screen.width]")
        assert max(wide) <= self.tab.value("screen.width") == 360, wide
        assert self.tab.value("document.querySelector('.scroll').scrollWidth > document.querySelector('.scroll').clientWidth")

    def tabbed(self):
        """From its beginning the Tab key goes through all controls in the order of the page; each shows that it has the
        focus."""
        wanted, seen = self.tab.value(STOPS), []
        for _ in range(len(wanted) + 40):
            self.tab.press("Tab")
            now = self.tab.value(FOCUS)
            if now["body"] or (seen and now["number"] == seen[0]):
                break
            assert now["outline"] >= 2 and now["sight"], now
            seen.append(now["number"])
        assert seen == sorted(seen), "not in the order of the page"
        missed = [self.tab.value(f"document.querySelectorAll('*')[{n}].outerHTML.slice(0, 150)") for n in set(wanted) - set(seen)]
        assert len(wanted) > 30 and not missed, missed

    def paper(self):
        """Without controls; folded tables are there, folded text for machines is not."""
        self.tab.value("document.getElementById('missing').insertAdjacentHTML('beforeend', '<details id=folded><summary>s</summary>"
                       "<div class=scroll><table><tr><td>folded</td></tr></table></div></details>')")
        self.tab.media(kind="print")
        shown = ("[...document.querySelectorAll({})].filter((e) => e.checkVisibility({{contentVisibilityAuto: true}})"
                 " && e.getBoundingClientRect().height > 0).length")
        controls = self.tab.value(shown.format("'button.theme, nav, #curves-live input, #curves-live select, .curves-help, pre'"))
        assert controls == 0, f"{controls} controls on paper"
        for what in ("#folded td", ".curves-canvas", ".curves-summary", ".curves-legend li", "#answer svg", "#answer table"):
            assert self.tab.value(shown.format(json.dumps(what))) > 0, f"not on paper: {what}"
        assert self.tab.value(CONTRASTS)[0][0] >= 4.5, "texts of pictures on paper"
        assert self.tab.value("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
        self.tab.media()
