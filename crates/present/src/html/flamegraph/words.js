// What the page tells in words: the call path, what matched, the tables and the hover box.

const COLUMNS = ["self", "total", "samples", "name", "object"];

Object.assign(Page.prototype, {
  nameOf(node) {
    return node === ALL ? "all" : this.table.label[this.tree.frame[node]];
  },

  weightText(value, samples) {
    if (!this.counted) return amount(value, this.head.unit);
    const counted = plural(samples, "sample");
    return value === samples ? counted : `${amount(value, this.head.unit)}, ${counted}`;
  },

  andSamples(count) {
    return this.counted ? `, ${plural(count, "sample")}` : "";
  },

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
  },

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
      `${where} matched: ${plural(found.frames.size, "function")}${this.andSamples(found.samples)}`);
  },

  showLegend() {
    const { dsos } = this.head;
    const used = dsos.map((_, dso) => dso).filter((dso) => this.dsoWeights[dso] > 0 || this.state.dsos.has(dso));
    used.sort((a, b) => this.dsoWeights[b] - this.dsoWeights[a]);
    const shown = this.allDsos ? used : used.slice(0, LEGEND_FIRST);
    const items = shown.map((dso) => legendItem(dsos[dso], percent(this.dsoWeights[dso], this.whole),
      this.state.dsos.has(dso), this.state.theme, () => this.toggleDso(dso)));
    if (shown.length < used.length) items.push(this.moreDsos(used.length - shown.length));
    byId("legend").replaceChildren(...items);
  },

  moreDsos(count) {
    const show = () => {
      this.allDsos = true;
      this.showLegend();
    };
    return element("li", {}, element("button", { type: "button", onclick: show }, `${count} more`));
  },

  // What the table tells of each function: its weights below the focus, and their shares.
  weigh() {
    return weighFrames(this.tree, this.table.count, this.focus);
  },

  share(part) {
    return percent(part, this.tree.total[this.focus]);
  },

  showFunctions() {
    const { table, marked } = this;
    if (this.weighed !== this.focus) this.weights = this.weigh();
    this.weighed = this.focus;
    const ranked = rankFrames(this.weights, table, marked, this.sort, this.head.dsos);
    const share = (part) => this.share(part);
    const most = this.weights.own.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const rows = ranked.slice(0, this.rows).map((frame) => functionRow(frame, this.weights, share, most, table,
      this.head.dsos, this.state.theme, (chosen) => this.chooseFunction(chosen)));
    if (!rows.length) rows.push(element("tr", {}, element("td", { colspan: 5, class: "nothing" }, "No function matches")));
    byId("functions").replaceChildren(...rows);
    byId("more").hidden = ranked.length <= this.rows;
    this.showTableHead(ranked.length);
  },

  showTableHead(count) {
    const scope = this.focus === ALL ? "" : ` in ${this.nameOf(this.focus)}`;
    byId("functions-title").replaceChildren(bdi(`${plural(count, "function")}${scope}`));
    for (const by of COLUMNS) {
      const order = this.sort.rising ? "ascending" : "descending";
      if (by === this.sort.by) byId(`by-${by}`).setAttribute("aria-sort", order);
      else byId(`by-${by}`).removeAttribute("aria-sort");
    }
  },

  // Names begin with A, numbers with the largest; the same column again turns around.
  sortBy(by) {
    const text = by === "name" || by === "object";
    this.sort = { by, rising: this.sort.by === by ? !this.sort.rising : text };
    this.showFunctions();
  },

  chooseFunction(frame) {
    const exact = this.table.label[frame].replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    this.search(this.state.query === `^${exact}$` ? "" : `^${exact}$`);
    byId("stage").scrollIntoView({ block: "nearest" });
  },

  writeFooter() {
    const parts = [plural(this.tree.count - 1, "call path"), `${plural(this.tree.height - 1, "level")} of calls`];
    const { folded } = this.head;
    if (folded) {
      parts.push(`${plural(folded.nodes, "stack frame")} below ${percent(folded.limit, this.whole)} folded ` +
        `(together ${percent(folded.value, this.whole)})`);
    }
    byId("footer").replaceChildren(`${parts.join(" · ")} · made by oxperf`);
  },

  describe(node) {
    const { tree } = this;
    const share = percent(tree.total[node], this.whole);
    const dso = this.head.dsos[this.table.dso[tree.frame[node]]];
    const own = percent(tree.own[node], this.whole);
    return `${this.nameOf(node)}${dso ? `, ${dso.name}` : ""}: ${share} of all, ${own} itself` +
      this.andSamples(tree.samples[node]);
  },

  showTip(hit, x, y) {
    placeTip(hit && ("rest" in hit ? this.restTip(hit) : this.nodeTip(hit.node)), x, y);
  },

  nodeTip(node) {
    const { tree, head } = this;
    const frame = tree.frame[node];
    const dso = head.dsos[this.table.dso[frame]];
    const thread = node === ALL || tree.depth[node] === 1 ? "" : this.nameOf(threadOf(tree, node));
    const where = [dso && `${dso.path}${dso.kernel ? " (kernel)" : ""}`, thread && `thread ${thread}`];
    return [
      element("div", { class: "function" }, bdi(frame >= 0 ? this.table.name[frame] : "all")),
      element("div", { class: "where" }, bdi(where.filter(Boolean).join(" · "))),
      tipTerms(this.terms(node)),
    ];
  },

  // What the hover box tells of a node's weight.
  terms(node) {
    const { tree } = this;
    const frame = tree.frame[node];
    const up = tree.parent[node];
    const total = tree.total[node];
    const terms = [["Total", this.weightText(total, tree.samples[node]), `${percent(total, this.whole)} of all`]];
    if (up > 0) terms.push(["", "", `${percent(total, tree.total[up])} of its caller`]);
    if (frame >= 0 && this.table.kind[frame] !== KIND.thread) {
      const own = this.weightText(tree.own[node], tree.ownSamples[node]);
      terms.push(["Self", own, `${percent(tree.own[node], this.whole)} of all`]);
    }
    return terms;
  },

  restTip({ rest, first, from, to }) {
    return [
      element("div", { class: "function" }, narrowBoxes(this.tree, first)),
      element("div", { class: "where" }, bdi(`called from ${this.nameOf(rest)}; click to spread them out`)),
      tipTerms([["Total", amount(to - from, this.head.unit), `${percent(to - from, this.whole)} of all`]]),
    ];
  },
});
