"""A headless Chromium, spoken to over a pipe: no ports, no packages."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
]


class Browser:
    """One browser with one page. Everything that goes wrong in the page is kept in `complaints`."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp()
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        # The browser reads commands from descriptor 3 and answers on 4. Copies above both keep either from being
        # closed by the other's move.
        def place_pipes():
            commands, answers = os.dup2(to_browser, 103), os.dup2(from_browser, 104)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=place_pipes, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.complaints = []
        self.requests = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        """Ends the browser and removes its profile."""
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired, RuntimeError):
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **params):
        """Sends a command and gives its answer; what arrives before it is noted."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.read_end, 1 << 16)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console: {params['args']}")
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {params['message']}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def size(self, width, height, scale=1, mobile=False):
        """Sets the window's inside."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=mobile)

    def prefer(self, theme):
        """Sets what the system prefers: dark or light."""
        features = [{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, url):
        """Loads a page anew and waits until it is ready."""
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")
        self.settle()

    def wait(self, condition):
        """Waits for an expression to be true."""
        for _ in range(1000):
            if self.value(condition):
                return
            time.sleep(0.02)
        raise RuntimeError(f"never true: {condition}")

    def settle(self):
        """Lets two frames pass: what was asked to be drawn is drawn."""
        frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        self.call("Runtime.evaluate", expression=frames, awaitPromise=True)

    def value(self, expression):
        """The value of an expression in the page."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def move(self, x, y):
        """Moves the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settle()

    def click(self, x, y):
        """Clicks with the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, by):
        """Drags sideways."""
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for step in (0.5, 1):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + by * step, y=y, button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + by, y=y, button="left", clickCount=1)
        time.sleep(0.3)
        self.settle()

    def wheel(self, x, y, delta):
        """Turns the wheel with Ctrl held."""
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta, modifiers=2)
        time.sleep(0.3)
        self.settle()

    def key(self, key, text=None):
        """Presses a key."""
        params = {"key": key, "windowsVirtualKeyCode": {"Enter": 13, "Backspace": 8, "Escape": 27}.get(key, 0)}
        if text:
            params["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)
        self.settle()

    def type(self, text):
        """Types text and gives the page the time that it waits for more."""
        self.call("Input.insertText", text=text)
        time.sleep(0.25)
        self.settle()

    def shot(self, path):
        """Writes what is seen as a PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
