// Keys: choosing functions without a pointer, and a letter for each button.

Object.assign(Page.prototype, {
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
  },

  // Chooses a node, zooming out as far as needed to see it.
  reveal(node) {
    const scale = this.painter.width / (this.view.to - this.view.from);
    if (!this.insideView(node) || this.tree.total[node] * scale < 2) this.go(this.placeOfNode(this.tree.parent[node]), false);
    this.select(node);
  },

  insideView(node) {
    const { start, total } = this.tree;
    return start[node] < this.view.to && start[node] + total[node] > this.view.from;
  },

  scrollToRow(node) {
    const stage = byId("stage");
    const top = this.painter.rowTop(this.tree.depth[node], { ...this.scene(), scroll: 0 });
    if (top < stage.scrollTop) stage.scrollTop = top - ROW;
    if (top + ROW > stage.scrollTop + stage.clientHeight) stage.scrollTop = top + 2 * ROW - stage.clientHeight;
  },

  arrow(key) {
    const { tree } = this;
    const node = this.selected;
    if (node < 0 || !this.insideView(node)) return this.select(this.focus);
    const inwards = this.state.icicle ? "ArrowDown" : "ArrowUp";
    if (key === inwards) return this.select(this.firstChildInView(node));
    if (key === "ArrowUp" || key === "ArrowDown") return this.select(tree.parent[node]);
    this.select(key === "ArrowRight" ? this.nextSibling(node) : this.previousSibling(node));
  },

  firstChildInView(node) {
    for (let child = node + 1; child < this.tree.end[node]; child = this.tree.end[child]) {
      if (this.insideView(child)) return child;
    }
    return -1;
  },

  nextSibling(node) {
    const up = this.tree.parent[node];
    const next = this.tree.end[node];
    return up >= 0 && next < this.tree.end[up] && this.insideView(next) ? next : -1;
  },

  previousSibling(node) {
    const up = this.tree.parent[node];
    let before = -1;
    for (let child = up + 1; up >= 0 && child < node; child = this.tree.end[child]) before = child;
    return before >= 0 && this.insideView(before) ? before : -1;
  },

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    const typing = event.target.closest("input");
    if (event.key === "Escape") return this.escape(typing);
    if (typing) return event.key === "Enter" && this.nextMatch(event.shiftKey ? -1 : 1);
    const act = this.keyAct(event);
    if (!act) return;
    event.preventDefault();
    act();
  },

  escape(typing) {
    if (typing && typing.value) return this.search("");
    typing?.blur();
    this.showTip(null);
    this.reset();
  },

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
  },
});
