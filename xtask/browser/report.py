"""Checks of the report's page."""

FRAME_LIMIT_MS = 60
LOAD_LIMIT_MS = 6000
PART_LIMIT_MS = 1500
PLOT = 0.6


def number(checks, key):
    """A figure that the page keeps about itself."""
    return float(checks.browser.value(f"document.body.dataset.{key}"))


def point(checks, canvas, share, y):
    """A point of a time line's canvas: a share of its width, and so many pixels below its top."""
    box = f"document.getElementById('{canvas}').getBoundingClientRect()"
    left, width, top = (checks.browser.value(f"{box}.{side}") for side in ("left", "width", "top"))
    return left + width * share, top + y


def brush(checks, canvas="overview", y=20, by=200):
    """Drags over a part of the time line."""
    x, y = point(checks, canvas, PLOT, y)
    checks.browser.drag(x, y, by)
    checks.browser.settle()


def samples(checks):
    """The number of samples that the path above the graph tells."""
    words = checks.text("path").replace(",", "").split()
    return int(words[[word.startswith("sample") for word in words].index(True) - 1])


def opens(checks):
    """Reports of every size are drawn."""
    checks.open("report-empty")
    checks.expect("an empty report says so", checks.browser.value("document.getElementById('empty').hidden"), False)
    for page in ("report-small", "report-events", "report-million", "report-hostile"):
        checks.open(page)
        checks.expect(f"{page}: the graph is drawn", checks.pixels("graph"), lambda colours: colours > 2)
        checks.expect(f"{page}: the overview is drawn", checks.pixels("overview"), lambda colours: colours > 2)
        checks.expect(f"{page}: rows are drawn", checks.pixels("lanes"), lambda colours: colours > 2)
        checks.shot(page)
    elements = checks.browser.value("document.querySelectorAll('img, b b').length")
    checks.expect("no element came from a name", elements, 0)


def speed(checks):
    """A million samples on half a million nodes."""
    checks.open("report-million")
    ready = number(checks, "readyMs")
    checks.expect(f"report-million: ready after {ready:.0f} ms", ready, lambda ms: ms < LOAD_LIMIT_MS)
    brush(checks, by=-300)
    part = number(checks, "partMs")
    checks.expect(f"report-million: a part of the time after {part:.0f} ms", part, lambda ms: ms < PART_LIMIT_MS)
    paint = number(checks, "paintMs")
    checks.expect(f"report-million: frame {paint:.1f} ms", paint, lambda ms: ms < FRAME_LIMIT_MS)
    checks.shot("report-million-part")


def brushing(checks):
    """Time, threads and CPUs choose what all of the page shows."""
    checks.open("report-small")
    whole = samples(checks)
    brush(checks)
    part = samples(checks)
    checks.expect("a stretch has a part of the samples", part, lambda count: 0 < count < whole)
    checks.expect("the stretch is in the address", checks.hash(), lambda text: "time=" in text)
    checks.expect("the stretch is told", checks.text("picked"), lambda text: " to " in text)
    checks.shot("report-brushed")
    address = checks.hash()
    checks.open("report-small", address)
    checks.expect("the address shows the same", samples(checks), part)
    checks.browser.click(*point(checks, "overview", PLOT + 0.3, 20))
    checks.expect("a click beside shows all", samples(checks), whole)
    checks.browser.click(*point(checks, "lanes", 0.03, 8))
    one = samples(checks)
    checks.expect("a row's name chooses a thread", one, lambda count: 0 < count < whole)
    checks.expect("the thread is told", checks.text("picked"), lambda text: "worker-0 1000" in text)
    checks.browser.click(*point(checks, "lanes", 0.03, 28))
    checks.expect("a second thread comes to it", samples(checks), lambda count: count > one)
    checks.shot("report-threads")
    checks.browser.value("document.getElementById('unpick').click()")
    checks.expect("all of it", (samples(checks), checks.hash()), (whole, ""))
    checks.browser.value("document.getElementById('rows-cpus').click()")
    checks.browser.click(*point(checks, "lanes", 0.03, 28))
    checks.expect("a CPU is in the address", checks.hash(), lambda text: "cpu=1" in text and "rows=cpus" in text)
    checks.expect("a CPU has a part", samples(checks), lambda count: 0 < count < whole)
    sums = checks.browser.value("""[...document.querySelectorAll('#functions td.samples')]
        .reduce((sum, cell) => sum + Number(cell.textContent.replace(/,/g, '')), 0)""")
    checks.expect("the table's samples are among them", sums, lambda count: 0 < count <= samples(checks))
    checks.quiet("brushing")


def keyboard(checks):
    """The same without a pointer."""
    checks.open("report-small")
    browser = checks.browser
    whole = samples(checks)
    browser.value("document.getElementById('overview').focus()")
    browser.key("ArrowRight")
    checks.expect("an arrow chooses a stretch", checks.hash(), "#time=0-204")
    browser.key("ArrowRight")
    checks.expect("and moves it", checks.hash(), "#time=51-255")
    browser.key("Delete")
    checks.expect("Delete chooses all", (samples(checks), checks.hash()), (whole, ""))
    browser.value("document.getElementById('lanes').focus()")
    browser.key("ArrowDown")
    browser.key("Enter")
    checks.expect("Enter chooses a row", checks.hash(), lambda text: "thread=1000" in text)
    checks.expect("the row is said", checks.text("lane"), lambda text: "worker-0, thread 1000" in text)
    browser.key("Delete")
    browser.value("document.activeElement.blur()")
    browser.key("p", "p")
    checks.expect("p shows CPUs", checks.hash(), "#rows=cpus")
    browser.key("c", "c")
    checks.expect("c shows the call tree", browser.value("document.getElementById('panel-calls').hidden"), False)
    before = browser.value("document.querySelectorAll('#calls-rows .call').length")
    browser.value("document.getElementById('calls').focus()")
    browser.key("ArrowDown")
    browser.key("ArrowRight")
    after = browser.value("document.querySelectorAll('#calls-rows .call').length")
    checks.expect("a row opens", after, lambda rows: rows > before)
    browser.key("e", "e")
    checks.shot("report-calls")
    browser.key("ArrowLeft")
    browser.key("w", "w")
    checks.expect("and all close", browser.value("document.querySelectorAll('#calls-rows .call').length"), before)
    browser.key("/")
    browser.type("alloc")
    marked = "document.querySelectorAll('#calls-rows .call').length"
    checks.expect("a search filters the tree", browser.value(marked), lambda rows: 0 < rows <= before)
    checks.quiet("keyboard")


def table(checks):
    """Functions by any column, either way round."""
    checks.open("report-small")
    browser = checks.browser
    column = "[...document.querySelectorAll('#functions td.{} ')].map((cell) => cell.textContent)"
    browser.value("document.querySelector('#by-name button').click()")
    names = browser.value(column.format("name"))
    checks.expect("functions by name", names, sorted(names))
    browser.value("document.querySelector('#by-name button').click()")
    names = browser.value(column.format("name"))
    checks.expect("and the other way round", names, sorted(names, reverse=True))
    browser.value("document.querySelector('#by-samples button').click()")
    counts = [int(count.replace(",", "")) for count in browser.value(column.format("samples"))]
    checks.expect("functions by samples", counts, sorted(counts, reverse=True))


def events(checks):
    """Several events: the first with samples, then the chosen one."""
    checks.open("report-events")
    checks.expect("the first event with samples", checks.text("path"), lambda text: "900 samples" in text)
    checks.open("report-events", "#event=2")
    checks.expect("the chosen event", checks.text("path"), lambda text: "20,000 samples" in text)
    checks.expect("it is offered", checks.browser.value("document.getElementById('event').value"), "2")


def looks(checks):
    """Dark and narrow."""
    checks.browser.prefer("dark")
    checks.open("report-million", "#time=500-900&tab=calls")
    checks.shot("report-dark")
    checks.browser.prefer("light")
    checks.browser.size(400, 800, 2, True)
    checks.open("report-small", "#tab=calls")
    checks.expect("the report fits a screen of 400", checks.browser.value("document.documentElement.scrollWidth"), 400)
    checks.shot("report-narrow")
    checks.browser.size(1400, 1000)


PARTS = (opens, speed, brushing, keyboard, table, events, looks)
