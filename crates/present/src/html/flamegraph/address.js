// What the address keeps: #q=..&zoom=NODE | range=FROM-TO&dso=PATH&flip=icicle&theme=dark, so that a copied address shows
// the same.

Object.assign(Page.prototype, {
  readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    this.state.theme = address.get("theme") ?? (dark ? "dark" : "light");
    if (!TONES[this.state.theme]) this.state.theme = "light";
    this.state.icicle = address.get("flip") === "icicle";
    this.state.query = address.get("q") ?? "";
    this.readMore(address);
    const paths = new Set(address.getAll("dso"));
    this.state.dsos = new Set(this.head.dsos.flatMap((dso, index) => (paths.has(dso.path) ? [index] : [])));
    byId("query").value = this.state.query;
    this.applyTheme();
    this.applyMarks();
    this.size();
    this.applyPlace(this.placeOf(address));
    this.scrollToRoot();
  },

  placeOf(address) {
    const node = this.nodeOf(Number(address.get("zoom") ?? ALL));
    if (node !== ALL) return this.placeOfNode(node);
    const range = (address.get("range") ?? "").split("-").map(Number);
    if (range.length === 2 && range[0] >= 0 && range[1] > range[0] && range[1] <= 1) {
      return this.placeOfRange(range[0] * this.whole, range[1] * this.whole);
    }
    return this.placeOfNode(ALL);
  },

  placeOfNode(node) {
    const from = this.tree.start[node];
    return { focus: node, exact: true, view: { from, to: from + (this.tree.total[node] || this.whole || 1) } };
  },

  placeOfRange(from, to) {
    const least = this.whole * 1e-7;
    const width = Math.min(this.whole, Math.max(least, to - from));
    const left = Math.min(this.whole - width, Math.max(0, from));
    const view = { from: left, to: left + width };
    return { focus: nodeAround(this.tree, view.from, view.to), exact: width === this.whole, view };
  },

  // Zooming makes a step for the browser's Back; the rest replaces the address.
  writeAddress(step) {
    const address = new URLSearchParams();
    const initial = window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    if (this.state.query) address.set("q", this.state.query);
    for (const dso of this.state.dsos) address.append("dso", this.head.dsos[dso].path);
    if (!this.exact) address.set("range", [this.view.from, this.view.to].map((v) => v / this.whole).join("-"));
    else if (this.focus !== ALL) address.set("zoom", this.keyOf(this.focus));
    if (this.state.icicle) address.set("flip", "icicle");
    if (this.state.theme !== initial) address.set("theme", this.state.theme);
    this.writeMore(address);
    const url = `${location.pathname}${location.search}#${address}`;
    try {
      if (step) history.pushState(null, "", url);
      else history.replaceState(null, "", url);
    } catch {
      // A page opened in a sandbox may not touch its address; everything else works.
    }
  },
});
