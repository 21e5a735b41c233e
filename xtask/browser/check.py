"""Checks of the flame graph and the report in a browser: check.py BROWSER PAGES [--shots DIRECTORY]."""

import os
import sys

import report
from browser import Browser
from checks import Checks

FRAME_LIMIT_MS = 60
LOAD_LIMIT_MS = 4000


def sizes(checks):
    """From no sample to a million."""
    checks.open("empty")
    checks.expect("an empty profile says so", checks.browser.value("document.getElementById('empty').hidden"), False)
    checks.shot("empty")
    for page in ("one", "hundred", "thousands", "million", "flat", "deep"):
        checks.open(page)
        checks.expect(f"{page}: something is drawn", checks.pixels(), lambda colours: colours > 2)
        checks.shot(page)


def speed(checks):
    """Half a million nodes."""
    checks.open("million")
    ready = float(checks.browser.value("document.body.dataset.readyMs"))
    checks.expect(f"million: ready after {ready:.0f} ms", ready, lambda ms: ms < LOAD_LIMIT_MS)
    slowest = 0
    x, y = checks.middle(30)
    for step in range(12):
        checks.browser.wheel(x, y, -240 if step < 6 else 240)
        slowest = max(slowest, float(checks.browser.value("document.body.dataset.paintMs")))
    checks.expect(f"million: slowest frame {slowest:.1f} ms", slowest, lambda ms: ms < FRAME_LIMIT_MS)
    checks.open("million", "#q=alloc")
    paint = float(checks.browser.value("document.body.dataset.paintMs"))
    checks.expect(f"million: frame with a search {paint:.1f} ms", paint, lambda ms: ms < FRAME_LIMIT_MS)


def pointing(checks):
    """Hover, zoom, drag, wheel and back."""
    checks.open("thousands")
    browser = checks.browser
    x, y = checks.middle(4)
    browser.move(x, y)
    checks.expect("hovering tells the weight", checks.text("tip"), lambda text: "of all" in text and "Self" in text)
    checks.shot("hover")
    browser.click(x, y)
    checks.expect("a click zooms", checks.hash(), lambda text: text.startswith("#zoom="))
    checks.shot("zoomed")
    browser.drag(x, y, -200)
    checks.expect("dragging moves", checks.hash(), lambda text: text.startswith("#range="))
    browser.value("history.back()")
    browser.wait("location.hash === ''")
    checks.expect("back shows all", checks.text("path"), lambda text: text.startswith("all"))
    browser.wheel(x, y, -240)
    checks.expect("the wheel zooms with Ctrl", checks.hash(), lambda text: text.startswith("#range="))
    browser.click(browser.value("document.querySelector('#legend button').getBoundingClientRect().left") + 20,
                  browser.value("document.querySelector('#legend button').getBoundingClientRect().top") + 10)
    checks.expect("the legend marks", checks.text("matched"), lambda text: "matched" in text)
    checks.shot("legend")
    checks.quiet("pointing")


def keys(checks):
    """Everything without a pointer."""
    checks.open("thousands")
    browser = checks.browser
    browser.key("/")
    browser.type("visit|alloc")
    checks.expect("search tells what it matched", checks.text("matched"), lambda text: "%" in text and "function" in text)
    checks.expect("search is in the address", checks.hash(), "#q=visit%7Calloc")
    checks.shot("search")
    browser.key("Enter")
    checks.expect("Enter goes to a match", checks.text("selected"), lambda text: "visit" in text or "alloc" in text)
    browser.key("Escape")
    checks.expect("Escape empties the search", checks.text("matched"), "")
    browser.key("Escape")
    browser.value("document.getElementById('graph').focus()")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
        browser.key(key)
    checks.expect("arrows and Enter zoom", checks.hash(), lambda text: text.startswith("#zoom="))
    before = checks.hash()
    browser.key("Backspace")
    checks.expect("Backspace zooms out", checks.hash(), lambda text: text != before)
    browser.key("i", "i")
    checks.expect("i flips", checks.hash(), lambda text: "flip=icicle" in text)
    checks.shot("flipped")
    browser.key("t", "t")
    checks.expect("t changes the theme", browser.value("document.documentElement.dataset.theme"), "dark")
    browser.key("Escape")
    browser.key("/")
    browser.type("(")
    checks.expect("a broken expression is told", checks.text("matched"), "Not a regular expression")
    checks.quiet("keys")


def names(checks):
    """Names that try to leave their place."""
    checks.open("hostile")
    browser = checks.browser
    checks.expect("no element came from a name", browser.value("document.querySelectorAll('img, b b').length"), 0)
    checks.expect("the title is text", browser.value("document.title"), lambda text: text.startswith("</script>"))
    for third in range(6):
        browser.move(90 + 150 * third, checks.middle(2)[1])
    browser.click(*checks.middle(2))
    checks.expect("the name stands in the path", checks.text("path"), lambda text: "<" in text or "quoted" in text)
    checks.quiet("hostile after pointing")
    checks.shot("hostile")


def looks(checks):
    """Dark, narrow and sharp screens."""
    checks.browser.prefer("dark")
    checks.open("thousands", "#q=%5Evisit")
    checks.expect("dark as the system", checks.browser.value("document.documentElement.dataset.theme"), "dark")
    checks.shot("dark-search")
    checks.open("million")
    checks.shot("dark-million")
    checks.browser.prefer("light")
    checks.browser.size(400, 800, 2, True)
    for page in ("thousands", "hostile", "empty"):
        checks.open(page)
        wide = checks.browser.value("document.documentElement.scrollWidth")
        checks.expect(f"{page}: fits a screen of 400", wide, 400)
        checks.shot(f"narrow-{page}")
    checks.open("thousands", "#zoom=40")
    checks.browser.value("document.getElementById('functions').scrollIntoView()")
    checks.shot("narrow-table")


def main():
    program, pages = sys.argv[1:3]
    shots = sys.argv[4] if sys.argv[3:4] == ["--shots"] else None
    if shots:
        os.makedirs(shots, exist_ok=True)
    browser = Browser(program)
    checks = Checks(browser, os.path.abspath(pages), shots)
    try:
        browser.prefer("light")
        for part in (*report.PARTS, sizes, speed, pointing, keys, names, looks):
            if part is not looks:
                browser.size(1400, 1000)
            part(checks)
    finally:
        browser.close()
    print(f"{checks.failed} checks failed")
    sys.exit(checks.failed > 0)


main()
