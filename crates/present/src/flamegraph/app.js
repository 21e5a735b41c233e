// The page: state, what the address keeps of it, and what keys, pointer and buttons do.

const byId = (id) => document.getElementById(id);
const LEGEND_FIRST = 12;
const ROWS_FIRST = 40;
const GLIDE_MS = 170;

class Page {
  constructor(head, bytes) {
    this.head = head;
    this.tree = decodeTree(head, bytes);
    this.table = frameTable(head);
    this.whole = this.tree.total[ALL];
    this.painter = new Painter(byId("graph"), this.tree, this.table);
    this.view = { from: 0, to: this.whole };
    this.focus = ALL;
    this.state = { query: "", dsos: new Set(), icicle: false, theme: "light" };
    this.hover = this.selected = -1;
    this.sort = "self";
    this.rows = ROWS_FIRST;
    this.allDsos = false;
    this.dsoWeights = weighDsos(this.tree, this.table, head.dsos);
    chooseHues(head.dsos, this.dsoWeights);
  }

  start() {
    byId("app").hidden = false;
    this.listen();
    this.size();
    this.readAddress();
    this.writeFooter();
  }

  // --- The address: #q=..&zoom=NODE | range=FROM-TO&flip=icicle&theme=dark&dso=PATH ---

  readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    this.state.theme = address.get("theme") ?? (dark ? "dark" : "light");
    if (!TONES[this.state.theme]) this.state.theme = "light";
    this.state.icicle = address.get("flip") === "icicle";
    this.state.query = address.get("q") ?? "";
    const paths = new Set(address.getAll("dso"));
    this.state.dsos = new Set(this.head.dsos.flatMap((dso, index) => (paths.has(dso.path) ? [index] : [])));
    byId("query").value = this.state.query;
    this.applyTheme();
    this.applyMarks();
    this.size();
    this.applyPlace(this.placeOf(address));
    this.scrollToRoot();
  }

  placeOf(address) {
    const node = Number(address.get("zoom") ?? ALL);
    if (Number.isInteger(node) && node > 0 && node < this.tree.count) return this.placeOfNode(node);
    const range = (address.get("range") ?? "").split("-").map(Number);
    if (range.length === 2 && range[0] >= 0 && range[1] > range[0] && range[1] <= 1) {
      return this.placeOfRange(range[0] * this.whole, range[1] * this.whole);
    }
    return this.placeOfNode(ALL);
  }

  placeOfNode(node) {
    const from = this.tree.start[node];
    return { focus: node, exact: true, view: { from, to: from + (this.tree.total[node] || this.whole) } };
  }

  placeOfRange(from, to) {
    const least = this.whole * 1e-7;
    const width = Math.min(this.whole, Math.max(least, to - from));
    const left = Math.min(this.whole - width, Math.max(0, from));
    const view = { from: left, to: left + width };
    return { focus: nodeAround(this.tree, view.from, view.to), exact: width === this.whole, view };
  }

  // Zooming makes a step for the browser's Back; the rest replaces the address.
  writeAddress(step) {
    const address = new URLSearchParams();
    const initial = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    if (this.state.query) address.set("q", this.state.query);
    for (const dso of this.state.dsos) address.append("dso", this.head.dsos[dso].path);
    if (!this.exact) address.set("range", [this.view.from, this.view.to].map((v) => v / this.whole).join("-"));
    else if (this.focus !== ALL) address.set("zoom", this.focus);
    if (this.state.icicle) address.set("flip", "icicle");
    if (this.state.theme !== initial) address.set("theme", this.state.theme);
    const url = `${location.pathname}${location.search}#${address}`;
    try {
      if (step) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // A page opened in a sandbox may not touch its address; everything else works.
    }
  }

  // --- Where the graph is ---

  go(place, step = true) {
    const from = { ...this.view };
    this.applyPlace(place);
    this.writeAddress(step);
    this.glide(from, place.view);
  }

  applyPlace({ focus, exact, view }) {
    this.focus = focus;
    this.exact = exact;
    this.view = view;
    this.shown = view;
    this.rows = ROWS_FIRST;
    this.showPath();
    this.showMatched();
    this.showFunctions();
    this.draw();
  }

  glide(from, to) {
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return this.draw();
    const begun = performance.now();
    this.shown = from;
    const step = (now) => {
      if (this.view !== to) return;
      const t = Math.min(1, Math.max(0, (now - begun) / GLIDE_MS));
      const ease = 1 - (1 - t) ** 3;
      this.shown = t === 1 ? to : { from: mix(from.from, to.from, ease), to: mix(from.to, to.to, ease) };
      this.paint();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  reset() {
    this.state.query = byId("query").value = "";
    this.state.dsos.clear();
    this.selected = -1;
    this.applyMarks();
    this.go(this.placeOfNode(ALL));
  }

  zoomOut() {
    const up = this.exact ? this.tree.parent[this.focus] : this.focus;
    if (up >= 0) this.go(this.placeOfNode(up));
  }

  // --- Marks ---

  applyMarks() {
    const { pattern, error } = compileQuery(this.state.query);
    this.error = error;
    this.searching = pattern !== null;
    this.marked = markFrames(this.table, pattern, this.state.dsos);
    this.holds = this.marked && markNodes(this.tree, this.marked);
    this.showLegend();
  }

  changeMarks() {
    this.applyMarks();
    this.rows = ROWS_FIRST;
    this.showMatched();
    this.showFunctions();
    this.writeAddress(false);
    this.draw();
  }

  search(text) {
    this.state.query = text;
    if (byId("query").value !== text) byId("query").value = text;
    this.changeMarks();
  }

  toggleDso(dso) {
    if (!this.state.dsos.delete(dso)) this.state.dsos.add(dso);
    this.changeMarks();
  }

  nextMatch(step) {
    if (!this.marked) return;
    const { count, frame } = this.tree;
    for (let i = 1, node = Math.max(0, this.selected); i < count; i++) {
      node = (node + step + count) % count;
      if (frame[node] >= 0 && this.marked[frame[node]]) return this.reveal(node);
    }
  }

  // --- Text ---

  nameOf(node) {
    return node === ALL ? "all" : this.table.label[this.tree.frame[node]];
  }

  weightText(value, samples) {
    const counted = plural(samples, "sample");
    return value === samples ? counted : `${amount(value, this.head.unit)}, ${counted}`;
  }

  showPath() {
    const steps = pathSteps(this.tree, this.focus).map((node, index) => {
      if (node < 0) return element("span", { class: "step" }, " … ");
      const attributes = { type: "button", title: this.nameOf(node), onclick: () => this.go(this.placeOfNode(node)) };
      if (node === this.focus) attributes["aria-current"] = "true";
      return element("span", { class: index ? "step" : "first" }, element("button", attributes, bdi(this.nameOf(node))));
    });
    const weight = this.weightText(this.tree.total[this.focus], this.tree.samples[this.focus]);
    const share = this.focus === ALL ? "" : `, ${percent(this.tree.total[this.focus], this.whole)} of all`;
    byId("path").replaceChildren(...steps, element("span", {}, ` ${weight}${share}`));
  }

  showMatched() {
    const box = byId("matched");
    byId("query").setAttribute("aria-invalid", String(Boolean(this.error)));
    byId("reset").hidden = this.focus === ALL && this.exact && !this.marked && !this.error;
    if (this.error) return box.replaceChildren("Not a regular expression");
    if (!this.marked) return box.replaceChildren();
    const found = matchedBelow(this.tree, this.marked, this.focus);
    const where = this.focus === ALL ? "" : ` of ${this.nameOf(this.focus).slice(0, 60)}`;
    box.replaceChildren(
      element("b", {}, percent(found.value, this.tree.total[this.focus])),
      `${where} matched: ${plural(found.frames.size, "function")}, ${plural(found.samples, "sample")}`);
  }

  showLegend() {
    const { dsos } = this.head;
    const used = dsos.map((_, dso) => dso).filter((dso) => this.dsoWeights[dso] > 0 || this.state.dsos.has(dso));
    used.sort((a, b) => this.dsoWeights[b] - this.dsoWeights[a]);
    const shown = this.allDsos ? used : used.slice(0, LEGEND_FIRST);
    const items = shown.map((dso) => legendItem(dsos[dso], percent(this.dsoWeights[dso], this.whole),
      this.state.dsos.has(dso), this.state.theme, () => this.toggleDso(dso)));
    if (shown.length < used.length) items.push(this.moreDsos(used.length - shown.length));
    byId("legend").replaceChildren(...items);
  }

  moreDsos(count) {
    const show = () => {
      this.allDsos = true;
      this.showLegend();
    };
    return element("li", {}, element("button", { type: "button", onclick: show }, `${count} more`));
  }

  showFunctions() {
    const { tree, table, marked } = this;
    if (this.weighed !== this.focus) this.weights = weighFrames(tree, table.count, this.focus);
    this.weighed = this.focus;
    const ranked = rankFrames(this.weights, table, marked, this.sort);
    const whole = tree.total[this.focus];
    const most = this.weights.own.reduce((a, b) => Math.max(a, b), 0);
    const rows = ranked.slice(0, this.rows).map((frame) => functionRow(frame, this.weights, whole, most, table,
      this.head.dsos, this.state.theme, (chosen) => this.chooseFunction(chosen)));
    if (!rows.length) rows.push(element("tr", {}, element("td", { colspan: 5, class: "nothing" }, "No function matches")));
    byId("functions").replaceChildren(...rows);
    byId("more").hidden = ranked.length <= this.rows;
    this.showTableHead(ranked.length);
  }

  showTableHead(count) {
    const scope = this.focus === ALL ? "" : ` in ${this.nameOf(this.focus)}`;
    byId("functions-title").replaceChildren(bdi(`${plural(count, "function")}${scope}`));
    for (const by of ["self", "total"]) {
      if (by === this.sort) byId(`by-${by}`).setAttribute("aria-sort", "descending");
      else byId(`by-${by}`).removeAttribute("aria-sort");
    }
  }

  chooseFunction(frame) {
    const exact = this.table.label[frame].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    this.search(this.state.query === `^${exact}$` ? "" : `^${exact}$`);
    byId("stage").scrollIntoView({ block: "nearest" });
  }

  writeFooter() {
    const parts = [plural(this.tree.count - 1, "call path"), `${plural(this.tree.height - 1, "level")} of calls`];
    const { folded } = this.head;
    if (folded) {
      parts.push(`${plural(folded.nodes, "stack frame")} below ${percent(folded.limit, this.whole)} folded ` +
        `(together ${percent(folded.value, this.whole)})`);
    }
    byId("footer").replaceChildren(`${parts.join(" · ")} · made by oxperf`);
  }

  describe(node) {
    const { tree } = this;
    const share = percent(tree.total[node], this.whole);
    const dso = this.head.dsos[this.table.dso[tree.frame[node]]];
    const own = percent(tree.own[node], this.whole);
    return `${this.nameOf(node)}${dso ? `, ${dso.name}` : ""}: ${share} of all, ${own} itself, ` +
      `${plural(tree.samples[node], "sample")}`;
  }

  // --- The hover box ---

  showTip(hit, x, y) {
    const tip = byId("tip");
    tip.hidden = !hit;
    if (!hit) return;
    tip.replaceChildren(...("rest" in hit ? this.restTip(hit) : this.nodeTip(hit.node)));
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(x + 14, innerWidth - width - 8));
    const top = y + 18 + height > innerHeight - 4 ? Math.max(4, y - height - 12) : y + 18;
    tip.style.transform = `translate(${left}px, ${top}px)`;
  }

  nodeTip(node) {
    const { tree, head } = this;
    const frame = tree.frame[node];
    const dso = head.dsos[this.table.dso[frame]];
    const thread = node === ALL || tree.depth[node] === 1 ? "" : this.nameOf(threadOf(tree, node));
    const where = [dso && `${dso.path}${dso.kernel ? " (kernel)" : ""}`, thread && `thread ${thread}`];
    const up = tree.parent[node];
    const total = tree.total[node];
    const terms = [["Total", this.weightText(total, tree.samples[node]), `${percent(total, this.whole)} of all`]];
    if (up > 0) terms.push(["", "", `${percent(total, tree.total[up])} of its caller`]);
    if (frame >= 0 && this.table.kind[frame] !== KIND.thread) {
      const own = this.weightText(tree.own[node], tree.ownSamples[node]);
      terms.push(["Self", own, `${percent(tree.own[node], this.whole)} of all`]);
    }
    return [
      element("div", { class: "function" }, bdi(frame >= 0 ? this.table.name[frame] : "all")),
      element("div", { class: "where" }, bdi(where.filter(Boolean).join(" · "))),
      tipTerms(terms),
    ];
  }

  restTip({ rest, first, from, to }) {
    return [
      element("div", { class: "function" }, narrowBoxes(this.tree, first)),
      element("div", { class: "where" }, bdi(`called from ${this.nameOf(rest)}; click to spread them out`)),
      tipTerms([["Total", amount(to - from, this.head.unit), `${percent(to - from, this.whole)} of all`]]),
    ];
  }

  // --- Drawing ---

  size() {
    const stage = byId("stage");
    const rows = (this.tree.height + 1) * ROW;
    byId("spacer").style.height = `${rows}px`;
    this.painter.resize(Math.max(1, stage.clientWidth), Math.min(rows, Math.max(1, stage.clientHeight)));
    byId("graph").setAttribute("aria-label", `Flame graph of ${plural(this.tree.samples[ALL], "sample")}. ` +
      "Arrow keys choose a function, Enter zooms. The table below has the same functions as text.");
  }

  scene() {
    return {
      view: this.shown, icicle: this.state.icicle, scroll: byId("stage").scrollTop, colours: this.colours,
      marked: this.marked, holds: this.holds, match: this.matchColour(), hover: this.hover, selected: this.selected,
    };
  }

  // Marked boxes have this colour; those of objects chosen in the legend keep their own.
  matchColour() {
    return this.searching ? this.colours.match : null;
  }

  paint() {
    const begun = performance.now();
    this.painter.paint(this.scene());
    document.body.dataset.paintMs = (performance.now() - begun).toFixed(1);
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.paint();
    });
  }

  applyTheme() {
    document.documentElement.dataset.theme = this.state.theme;
    this.colours = frameColours(this.table, this.head.dsos, this.state.theme);
  }

  changeTheme() {
    this.state.theme = this.state.theme === "dark" ? "light" : "dark";
    this.applyTheme();
    this.showLegend();
    this.showFunctions();
    this.writeAddress(false);
    this.draw();
  }

  flip() {
    this.state.icicle = !this.state.icicle;
    this.writeAddress(false);
    this.scrollToRoot();
    this.draw();
  }

  scrollToRoot() {
    byId("stage").scrollTop = this.state.icicle ? 0 : byId("stage").scrollHeight;
  }

  // --- Choosing with keys ---

  select(node) {
    if (node === undefined || node < 0) return;
    this.selected = node;
    byId("selected").textContent = this.describe(node);
    this.scrollToRow(node);
    this.paint();
    const box = byId("graph").getBoundingClientRect();
    const scale = this.painter.width / (this.view.to - this.view.from);
    const x = Math.max(0, (this.tree.start[node] - this.view.from) * scale);
    this.showTip({ node }, box.left + Math.min(x, box.width - 20), box.top + this.painter.rowTop(this.tree.depth[node], this.scene()) + 6);
  }

  // Chooses a node, zooming out as far as needed to see it.
  reveal(node) {
    const scale = this.painter.width / (this.view.to - this.view.from);
    const inView = contains(this.tree, node, this.view.from, this.view.from) || this.insideView(node);
    if (!inView || this.tree.total[node] * scale < 2) this.go(this.placeOfNode(this.tree.parent[node]), false);
    this.select(node);
  }

  insideView(node) {
    const { start, total } = this.tree;
    return start[node] < this.view.to && start[node] + total[node] > this.view.from;
  }

  scrollToRow(node) {
    const stage = byId("stage");
    const top = this.painter.rowTop(this.tree.depth[node], { ...this.scene(), scroll: 0 });
    if (top < stage.scrollTop) stage.scrollTop = top - ROW;
    if (top + ROW > stage.scrollTop + stage.clientHeight) stage.scrollTop = top + 2 * ROW - stage.clientHeight;
  }

  arrow(key) {
    const { tree } = this;
    const node = this.selected;
    if (node < 0 || !this.insideView(node)) return this.select(this.focus);
    const inwards = this.state.icicle ? "ArrowDown" : "ArrowUp";
    if (key === inwards) return this.select(this.firstChildInView(node));
    if (key === "ArrowUp" || key === "ArrowDown") return this.select(tree.parent[node]);
    this.select(key === "ArrowRight" ? this.nextSibling(node) : this.previousSibling(node));
  }

  firstChildInView(node) {
    for (let child = node + 1; child < this.tree.end[node]; child = this.tree.end[child]) {
      if (this.insideView(child)) return child;
    }
    return -1;
  }

  nextSibling(node) {
    const up = this.tree.parent[node];
    const next = this.tree.end[node];
    return up >= 0 && next < this.tree.end[up] && this.insideView(next) ? next : -1;
  }

  previousSibling(node) {
    const up = this.tree.parent[node];
    let before = -1;
    for (let child = up + 1; up >= 0 && child < node; child = this.tree.end[child]) before = child;
    return before >= 0 && this.insideView(before) ? before : -1;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const typing = event.target.closest("input");
    if (event.key === "Escape") return this.escape(typing);
    if (typing) return event.key === "Enter" && this.nextMatch(event.shiftKey ? -1 : 1);
    const act = this.keyAct(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  escape(typing) {
    if (typing && typing.value) return this.search("");
    typing?.blur();
    this.showTip(null);
    this.reset();
  }

  keyAct(event) {
    const inGraph = event.target === byId("graph") || event.target === document.body;
    if (inGraph && event.key.startsWith("Arrow")) return () => this.arrow(event.key);
    if (inGraph && event.key === "Enter" && this.selected >= 0) return () => this.go(this.placeOfNode(this.selected));
    return {
      "/": () => byId("query").select(),
      "?": () => byId("help").showModal(),
      i: () => this.flip(),
      t: () => this.changeTheme(),
      n: () => this.nextMatch(1),
      N: () => this.nextMatch(-1),
      Backspace: () => this.zoomOut(),
    }[event.key];
  }

  // --- The pointer ---

  hitOf(event) {
    const box = byId("graph").getBoundingClientRect();
    return this.painter.hit(this.scene(), event.clientX - box.left, event.clientY - box.top);
  }

  pointerMove(event) {
    if (this.drag && this.dragTo(event)) return;
    const hit = this.hitOf(event);
    this.hover = hit?.node ?? -1;
    this.showTip(hit, event.clientX, event.clientY);
    this.draw();
  }

  pointerLeave() {
    this.hover = -1;
    byId("tip").hidden = true;
    this.draw();
  }

  // Moves the view with the pointer; a few pixels are still a click.
  dragTo(event) {
    const by = this.drag.x - event.clientX;
    if (!this.drag.moved && Math.abs(by) < 5) return false;
    this.drag.moved = true;
    byId("graph").classList.add("moving");
    byId("tip").hidden = true;
    const { from, to } = this.drag.view;
    const shift = (by * (to - from)) / this.painter.width;
    this.moveView(from + shift, to + shift);
    return true;
  }

  moveView(from, to) {
    const place = this.placeOfRange(from, to);
    this.view = this.shown = place.view;
    this.draw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(place), 150);
  }

  settle(place) {
    this.applyPlace(place);
    this.writeAddress(false);
  }

  click(event) {
    const dragged = this.drag?.moved;
    this.drag = null;
    byId("graph").classList.remove("moving");
    if (dragged) return;
    const hit = this.hitOf(event);
    if (!hit) return;
    this.selected = -1;
    this.go("rest" in hit ? this.placeOfRange(hit.from, hit.to) : this.placeOfNode(hit.node));
  }

  // Plain wheels scroll; with Ctrl they zoom about the pointer, sideways they move.
  wheel(event) {
    const width = this.view.to - this.view.from;
    if (event.ctrlKey) {
      event.preventDefault();
      const at = this.view.from + (event.offsetX / this.painter.width) * width;
      const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240)));
      this.moveView(at - (at - this.view.from) * factor, at + (this.view.to - at) * factor);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const shift = (event.deltaX * width) / this.painter.width;
      this.moveView(this.view.from + shift, this.view.to + shift);
    }
  }

  listen() {
    const graph = byId("graph");
    const on = (target, name, act, options) => target.addEventListener(name, act, options);
    on(graph, "pointerdown", (event) => { if (event.button === 0) this.drag = { x: event.clientX, view: this.view }; });
    on(graph, "pointermove", (event) => this.pointerMove(event));
    on(graph, "pointerleave", () => this.pointerLeave());
    on(graph, "click", (event) => this.click(event));
    on(graph, "wheel", (event) => this.wheel(event), { passive: false });
    on(graph, "blur", () => { byId("tip").hidden = true; });
    on(window, "pointerup", () => setTimeout(() => { this.drag = null; graph.classList.remove("moving"); }));
    on(byId("stage"), "scroll", () => this.draw());
    on(document, "keydown", (event) => this.key(event));
    on(window, "popstate", () => this.readAddress());
    on(window, "hashchange", () => this.readAddress());
    new ResizeObserver(() => { this.size(); this.paint(); }).observe(byId("stage"));
    this.listenToControls(on);
  }

  listenToControls(on) {
    let typing;
    on(byId("query"), "input", (event) => {
      clearTimeout(typing);
      typing = setTimeout(() => this.search(event.target.value), 120);
    });
    on(byId("reset"), "click", () => this.reset());
    on(byId("flip"), "click", () => this.flip());
    on(byId("theme"), "click", () => this.changeTheme());
    on(byId("help-open"), "click", () => byId("help").showModal());
    on(byId("more"), "click", () => { this.rows *= 4; this.showFunctions(); });
    for (const by of ["self", "total"]) {
      on(byId(`by-${by}`), "click", () => { this.sort = by; this.showFunctions(); });
    }
  }
}

const mix = (from, to, share) => from + (to - from) * share;

function fail(error) {
  const box = byId("failure");
  box.hidden = false;
  box.textContent = `This page failed: ${error?.message ?? error}`;
}

function main() {
  const head = JSON.parse(byId("head").textContent);
  if (head.nodes === 0) {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").hidden = byId("flip").hidden = byId("help-open").hidden = true;
    byId("empty").hidden = false;
    return;
  }
  const page = new Page(head, bytesOfBase64(byId("nodes").textContent));
  page.start();
  document.body.dataset.readyMs = performance.now().toFixed(0);
}

window.addEventListener("error", (event) => fail(event.error ?? event.message));
main();
