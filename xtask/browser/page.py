"""One report of a real recording: page.py BROWSER FILE. It must open, be drawn, and show a part where one is chosen."""

import os
import sys

import report
from browser import Browser
from checks import Checks


def main():
    program, path = sys.argv[1:3]
    folder, name = os.path.split(os.path.abspath(path))
    browser = Browser(program)
    checks = Checks(browser, folder, None)
    try:
        browser.prefer("light")
        browser.size(1400, 1000)
        checks.open(name.removesuffix(".html"))
        for canvas in ("graph", "overview", "lanes"):
            checks.expect(f"{canvas} is drawn", checks.pixels(canvas), lambda colours: colours > 2)
        whole = report.samples(checks)
        report.brush(checks, by=-400)
        checks.expect("a stretch has a part of the samples", report.samples(checks), lambda part: part < whole)
    finally:
        browser.close()
    sys.exit(checks.failed > 0)


main()
