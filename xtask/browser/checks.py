"""Checks on one page after another, counted."""

import os

TEXT = "document.getElementById('{}').textContent"


class Checks:
    """Runs checks on one browser and counts those that fail."""

    def __init__(self, browser, pages, shots):
        self.browser, self.pages, self.shots = browser, pages, shots
        self.failed = 0

    def expect(self, what, seen, wanted):
        """One check: `wanted` is a value or a test of it."""
        good = wanted(seen) if callable(wanted) else seen == wanted
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {what}" + ("" if good else f": {seen!r}"))

    def open(self, page, address=""):
        """Opens a page; it must be quiet and ask for nothing but itself."""
        url = f"file://{self.pages}/{page}.html"
        self.browser.open(url + address)
        self.quiet(f"{page}{address}")

    def quiet(self, where):
        """No error, warning, dialog or foreign request so far."""
        self.browser.settle()
        foreign = [url for url in self.browser.requests if not url.startswith(("file:", "about:", "data:"))]
        self.expect(f"{where}: nothing to complain about", self.browser.complaints + foreign, [])

    def shot(self, name):
        """Keeps what is seen, when asked to."""
        if self.shots:
            self.browser.shot(os.path.join(self.shots, f"{name}.png"))

    def text(self, part):
        """Text of an element."""
        return self.browser.value(TEXT.format(part))

    def hash(self):
        """The address behind the #."""
        return self.browser.value("location.hash")

    def middle(self, row):
        """A point of the graph: middle of the page, `row` rows above its lower edge."""
        box = "document.getElementById('stage').getBoundingClientRect()"
        return self.browser.value(f"{box}.left + {box}.width / 3"), self.browser.value(f"{box}.bottom") - 10 - 20 * row

    def pixels(self, canvas="graph"):
        """How many colours a drawing has: 1 means that nothing was drawn."""
        return self.browser.value("""(() => {
            const graph = document.getElementById('CANVAS');
            const seen = graph.getContext('2d').getImageData(0, 0, graph.width, graph.height).data;
            return new Set(new Uint32Array(seen.buffer)).size;
        })()""".replace("CANVAS", canvas))
