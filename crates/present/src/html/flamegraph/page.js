// The page: its state, where the graph is, what is marked, and when it is drawn.
// What the address keeps, what is told in words and what keys and pointer do stands in files of its own.

const byId = (id) => document.getElementById(id);
const LEGEND_FIRST = 12;
const ROWS_FIRST = 40;
const GLIDE_MS = 170;

const mix = (from, to, share) => from + (to - from) * share;

class Page {
  constructor(head, bytes) {
    this.state = { query: "", dsos: new Set(), icicle: false, theme: "light" };
    this.sort = { by: "self", rising: false };
    this.rows = ROWS_FIRST;
    this.allDsos = false;
    this.load(head, bytes);
  }

  // Takes another profile.
  load(head, bytes) {
    this.head = head;
    this.table = frameTable(head);
    const tree = decodeTree(head, bytes);
    // Sums that were made elsewhere have no samples.
    this.counted = tree.samples[ALL] > 0 || !(tree.total[ALL] > 0);
    byId("app").classList.toggle("uncounted", !this.counted);
    this.setTree(tree);
    chooseHues(head.dsos, this.dsoWeights);
  }

  // Takes another tree of the same frames. Where the graph is has to be said next.
  setTree(tree) {
    this.tree = tree;
    this.whole = tree.total[ALL];
    this.painter = new Painter(byId("graph"), tree, this.table);
    this.view = this.shown = { from: 0, to: this.whole || 1 };
    this.focus = ALL;
    this.hover = this.selected = this.weighed = -1;
    this.dsoWeights = weighDsos(tree, this.table, this.head.dsos);
  }

  // What the address calls a node, and back. A tree that is a part of another has numbers of its own.
  keyOf(node) {
    return node;
  }

  nodeOf(key) {
    return Number.isInteger(key) && key > 0 && key < this.tree.count ? key : ALL;
  }

  // What a page that shows more keeps in the address beside.
  readMore() {}

  writeMore() {}

  start() {
    byId("app").hidden = false;
    this.listen();
    this.size();
    this.readAddress();
    this.writeFooter();
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

  // --- Drawing ---

  size() {
    const stage = byId("stage");
    const rows = (this.tree.height + 1) * ROW;
    byId("spacer").style.height = `${rows}px`;
    this.painter.resize(Math.max(1, stage.clientWidth), Math.min(rows, Math.max(1, stage.clientHeight)));
    byId("graph").setAttribute("aria-label", `Flame graph${this.andSamples(this.tree.samples[ALL])}. ` +
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
}
