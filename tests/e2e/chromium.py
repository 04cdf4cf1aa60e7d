"""Headless Chromium for tests and measurements, driven over its own pipe (--remote-debugging-pipe).

The protocol is that of the developer tools, https://chromedevtools.github.io/devtools-protocol: JSON objects, each
ended by a zero byte. So there is no port, no driver whose version must fit the browser's, and no package.
"""
import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chrome")
# The last one: nothing reaches another host, neither a page nor the browser itself.
FLAGS = [*"""--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run --lang=en-US
--disable-background-networking --disable-component-update --disable-default-apps --disable-extensions --disable-sync --mute-audio
--disable-features=Translate,MediaRouter,OptimizationHints --metrics-recording-only --force-color-profile=srgb
--disable-renderer-backgrounding""".split(), "--host-resolver-rules=MAP * ~NOTFOUND"]
LIMIT = 60  # seconds for one answer: other tests run beside this one
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
        "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}


def program():
    """The path of a Chromium or a Chrome: $CHROMIUM, else the first one in $PATH; None without. A snap sees no temporary
    files of others, so it is none."""
    found = [path for path in map(shutil.which, NAMES) if path and Path(path).resolve().name != "snap"]
    return os.environ.get("CHROMIUM") or (found[0] if found else None)


class Chromium:
    """A browser with an empty profile. `with Chromium() as browser: tab = browser.tab()`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="depthgrid-chromium.", ignore_cleanup_errors=True)
        theirs, self.out = os.pipe()
        self.answers, ours = os.pipe()
        # A browser of this kind reads from descriptor 3 and writes to 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{theirs} 4>&{ours}', "chromium"]
        self.log = Path(self.folder.name, "log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*shell, program(), *FLAGS, f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-pipe", "about:blank"],
                pass_fds=(theirs, ours), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=os.environ | {"HOME": self.folder.name, "XDG_CONFIG_HOME": self.folder.name, "XDG_CACHE_HOME": self.folder.name})
        os.close(theirs)
        os.close(ours)
        self.rest, self.number, self.events = b"", 0, []
        self.product = self.call("Browser.getVersion")["product"]  # "HeadlessChrome/150.0.7871.100"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, TimeoutError, EOFError):
            self.call("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        with contextlib.suppress(ProcessLookupError):  # its children, should they have outlived it
            os.killpg(self.process.pid, signal.SIGKILL)
        os.close(self.out)
        os.close(self.answers)
        self.folder.cleanup()

    def read(self, until):
        """The next message, or None at that time."""
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(0, until - time.monotonic()))[0]:
                return None
            more = os.read(self.answers, 1 << 20)
            if not more:
                raise EOFError(f"the browser has ended:\n{self.log.read_text(errors='replace')[-2000:]}")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        until = time.monotonic() + LIMIT
        while (answer := self.read(until)) is not None:
            if answer.get("id") != self.number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]
        raise TimeoutError(f"{method}: no answer in {LIMIT} s")

    def tab(self, width=1280, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Tab(self, target, session, width, height)


class Tab:
    """A page in a browser, and what it has said and asked for since it was loaded."""

    def __init__(self, browser, target, session, width, height):
        self.browser, self.target, self.session = browser, target, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.size(width, height)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        self.call("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def media(self, scheme="light", kind=""):
        """What the page is told of its reader: prefers-color-scheme, and "print" for `@media print`."""
        self.call("Emulation.setEmulatedMedia", media=kind, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def load(self, address):
        """Anew, even if only the fragment differs; returns when it has loaded."""
        self.call("Page.navigate", url="about:blank")
        self.browser.events.clear()
        error = self.call("Page.navigate", url=address).get("errorText")
        if error:
            raise RuntimeError(f"{address}: {error}")
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, expression):
        """Of a JavaScript expression, awaited if it is a promise; what it throws is a RuntimeError."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression[:200]}: {json.dumps(answer['exceptionDetails'])[:800]}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=LIMIT):
        until = time.monotonic() + seconds
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > until:
                raise TimeoutError(f"not in {seconds} s: {expression}")
            time.sleep(0.01)

    def settle(self):
        """After two frames: what a change schedules has been painted."""
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def press(self, key, shift=False):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS.get(key, ord(key.upper()[0])),
                 "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def said(self):
        """Complaints since the page was loaded: of the console, of the browser (a policy that was violated) and exceptions."""
        self.settle()
        out = []
        for event in self.browser.events:
            what, how = event["method"], event["params"]
            if event.get("sessionId") != self.session:
                continue
            if what == "Runtime.exceptionThrown":
                out.append(json.dumps(how["exceptionDetails"].get("exception", how["exceptionDetails"]))[:600])
            elif what == "Runtime.consoleAPICalled" and how["type"] in ("error", "warning", "assert"):
                out.append(f"{how['type']}: {json.dumps(how['args'])[:600]}")
            elif what == "Log.entryAdded" and how["entry"]["level"] in ("error", "warning"):
                out.append(f"{how['entry']['source']}: {how['entry']['text'][:600]}")
        return out

    def requests(self):
        """Addresses that were asked for since the page was loaded, its own among them."""
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event["method"] == "Network.requestWillBeSent" and event.get("sessionId") == self.session]

    def picture(self, path, whole=False):
        """A screenshot as PNG, of all the page if `whole`."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(data["data"]))

    def paper(self, path):
        """The page as it is printed, as PDF."""
        Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
