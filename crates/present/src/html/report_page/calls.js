// The call tree as rows that open. Rows are made as they are looked at: a tree of any size scrolls alike.

const CALL = 24;
const DEEPEST_INDENT = 40;
const HEAVY = 0.5;

class Calls {
  constructor(page) {
    this.page = page;
    this.open = new Set();
    this.at = 0;
    this.rows = [];
  }

  listen() {
    const box = byId("calls");
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("keydown", (event) => this.key(event));
    byId("calls-open").addEventListener("click", () => this.openHeaviest());
    byId("calls-close").addEventListener("click", () => this.closeAll());
    new ResizeObserver(() => this.draw()).observe(box);
  }

  node() {
    return this.rows[this.at] ?? this.page.focus;
  }

  isOpen(node) {
    return this.open.has(this.page.keyOf(node));
  }

  // Finds the rows anew; the chosen one stays chosen.
  update() {
    const key = this.rows.length ? this.chosenKey : undefined;
    this.rows = this.visible();
    const kept = this.rows.findIndex((node) => this.page.keyOf(node) === key);
    this.choose(Math.max(0, kept), false);
    byId("calls-spacer").style.height = `${this.rows.length * CALL}px`;
    this.draw();
  }

  visible() {
    const { tree, holds, focus } = this.page;
    const rows = [];
    const stack = [focus];
    while (stack.length) {
      const node = stack.pop();
      rows.push(node);
      if (node !== focus && !this.isOpen(node)) continue;
      const children = [];
      for (let child = node + 1; child < tree.end[node]; child = tree.end[child]) {
        if (!holds || holds[child]) children.push(child);
      }
      while (children.length) stack.push(children.pop());
    }
    return rows;
  }

  draw() {
    const box = byId("calls");
    const first = Math.max(0, Math.floor(box.scrollTop / CALL) - 4);
    const last = Math.min(this.rows.length, Math.ceil((box.scrollTop + box.clientHeight) / CALL) + 4);
    const drawn = [];
    for (let index = first; index < last; index++) drawn.push(this.row(index));
    byId("calls-rows").style.transform = `translateY(${first * CALL}px)`;
    byId("calls-rows").replaceChildren(...drawn);
  }

  row(index) {
    const { page } = this;
    const { tree, table, head } = page;
    const node = this.rows[index];
    const frame = tree.frame[node];
    const whole = tree.total[page.focus];
    const dso = head.dsos[table.dso[frame]];
    const level = tree.depth[node] - tree.depth[page.focus];
    const opens = this.opens(node);
    const open = node === page.focus || this.isOpen(node);
    const total = element("span", { class: "number share" }, percent(tree.total[node], whole));
    total.style.setProperty("--share", `${whole > 0 ? (100 * tree.total[node]) / whole : 0}%`);
    const mark = element("b", { "aria-hidden": "true" }, opens ? (open ? "▾" : "▸") : "");
    const name = element("span", { class: "name", title: page.nameOf(node) }, mark, bdi(page.nameOf(node)));
    name.style.setProperty("--level", Math.min(level, DEEPEST_INDENT));
    const object = element("span", { class: "object", title: dso?.path });
    if (dso) object.append(swatch(dsoColour(dso, page.state.theme)), bdi(dso.name));
    const made = element("div", {
      class: `call${page.marked && frame >= 0 && page.marked[frame] ? " marked" : ""}`, role: "treeitem", id: `call-${index}`,
      "aria-level": level + 1, "aria-selected": String(index === this.at), "aria-expanded": opens ? String(open) : null,
    }, total, element("span", { class: "number" }, percent(tree.own[node], whole)),
    element("span", { class: "number samples" }, grouped(tree.samples[node])), name, object);
    made.addEventListener("click", (event) => this.click(index, event));
    made.addEventListener("dblclick", () => page.go(page.placeOfNode(node)));
    return made;
  }

  opens(node) {
    const { tree, holds } = this.page;
    if (tree.end[node] <= node + 1) return false;
    return !holds || anyHolds(tree, holds, node, node + 1);
  }

  click(index, event) {
    const again = index === this.at;
    this.choose(index);
    if (event.target.closest("b") || again) this.toggle(this.rows[index]);
    else this.draw();
  }

  choose(index, scroll = true) {
    this.at = Math.max(0, Math.min(this.rows.length - 1, index));
    this.chosenKey = this.page.keyOf(this.rows[this.at]);
    byId("calls").setAttribute("aria-activedescendant", `call-${this.at}`);
    if (!scroll) return;
    const box = byId("calls");
    const top = this.at * CALL;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + CALL > box.scrollTop + box.clientHeight) box.scrollTop = top + CALL - box.clientHeight;
  }

  toggle(node) {
    if (node === this.page.focus || !this.opens(node)) return this.draw();
    const key = this.page.keyOf(node);
    if (!this.open.delete(key)) this.open.add(key);
    this.update();
  }

  closeAll() {
    this.open.clear();
    this.update();
  }

  // Opens the heaviest call below the chosen row, and on while one call has most of its caller's weight.
  openHeaviest() {
    const { tree } = this.page;
    let node = this.node();
    for (;;) {
      this.open.add(this.page.keyOf(node));
      const child = node + 1;
      if (child >= tree.end[node]) break;
      const heavy = tree.total[child] >= HEAVY * tree.total[node];
      node = child;
      if (!heavy) break;
    }
    this.update();
    this.choose(this.rows.indexOf(node) < 0 ? this.at : this.rows.indexOf(node));
    this.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.keyAct(event.key);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  keyAct(key) {
    const node = this.node();
    const page = Math.max(1, Math.floor(byId("calls").clientHeight / CALL) - 1);
    const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -this.rows.length, End: this.rows.length }[key];
    if (by) return () => { this.choose(this.at + by); this.draw(); };
    if (key === "Enter") return () => this.page.go(this.page.placeOfNode(node));
    if (key === " ") return () => this.toggle(node);
    if (key === "ArrowRight" && this.opens(node)) return () => this.inwards(node);
    if (key === "ArrowLeft") return () => this.outwards(node);
    return null;
  }

  inwards(node) {
    if (node !== this.page.focus && !this.isOpen(node)) return this.toggle(node);
    this.choose(this.at + 1);
    this.draw();
  }

  outwards(node) {
    if (node !== this.page.focus && this.isOpen(node)) return this.toggle(node);
    const up = this.rows.indexOf(this.page.tree.parent[node]);
    if (up >= 0) this.choose(up);
    this.draw();
  }
}
