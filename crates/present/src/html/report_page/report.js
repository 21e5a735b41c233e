// The report: a flame graph's page whose tree is the part of the recording that its time line chooses.

const SLOW_MS = 40;
const REST_MS = 140;

class Report extends Page {
  // Takes an event: its tree, its samples over time, and what shows them.
  load(head, bytes) {
    super.load(head, bytes);
    this.base = this.tree;
    this.cells = decodeCells(head.timeline, head.mean, bytesOfBase64(byId(`cells-${head.index}`).textContent));
    this.timeline = new Timeline(head.timeline, this.cells, this.base.bySamples, (done) => this.pickChanged(done));
    this.calls = new Calls(this);
    this.partCost = 0;
  }

  start() {
    this.tab ??= "functions";
    super.start();
    this.listenToTabs();
  }

  keyOf(node) {
    return this.tree.origin ? this.tree.origin[node] : node;
  }

  // The node of a key or, where that has no samples now, of its nearest caller that has.
  nodeOf(key) {
    if (!Number.isInteger(key) || key <= 0 || key >= this.base.count) return ALL;
    let node = key;
    if (!this.tree.place) return node;
    while (this.tree.place[node] < 0) node = this.base.parent[node];
    return this.tree.place[node];
  }

  // --- The part that is shown ---

  // While something is dragged, a large tree follows only at rests.
  pickChanged(done) {
    clearTimeout(this.partTimer);
    if (done) return this.showPart();
    if (this.partCost > SLOW_MS) this.partTimer = setTimeout(() => this.showPart(), REST_MS);
    else this.partTimer ||= requestAnimationFrame(() => { this.partTimer = 0; this.showPart(); });
  }

  showPart() {
    const key = this.exact ? this.keyOf(this.focus) : ALL;
    this.takePart();
    this.applyMarks();
    this.size();
    this.applyPlace(this.placeOfNode(this.nodeOf(key)));
    this.scrollToRoot();
    this.writeAddress(false);
  }

  takePart() {
    const begun = performance.now();
    this.setTree(this.timeline.picksAll() ? this.base : partOfTree(this.base, this.cells, this.timeline.selection()));
    this.partCost = performance.now() - begun;
    document.body.dataset.partMs = this.partCost.toFixed(1);
  }

  // --- The address: event, time=FROM-TO (stretches), thread, cpu, rows, tab ---

  readMore(address) {
    const { timeline } = this;
    const { pick, line } = timeline;
    const [from, to] = (address.get("time") ?? "").split("-").map(Number);
    const whole = !(from >= 0 && to > from && to <= line.stretches);
    Object.assign(pick, whole ? { from: 0, to: line.stretches } : { from: Math.floor(from), to: Math.ceil(to) });
    const known = (names, key) => new Set(address.getAll(key).map(Number).filter((value) => names.includes(value)));
    const threads = known(line.threads.tid, "thread");
    pick.threads = new Set(line.threads.tid.flatMap((tid, thread) => (threads.has(tid) ? [thread] : [])));
    pick.cpus = known(line.lanes.cpu, "cpu");
    const rows = address.get("rows") === "cpus" ? "cpus" : "threads";
    if (rows !== timeline.by) timeline.setRows(rows);
    timeline.summed = null;
    this.tab = address.get("tab") === "calls" ? "calls" : "functions";
    this.takePart();
  }

  writeMore(address) {
    const { timeline } = this;
    const { pick, line } = timeline;
    if (this.head.index > 0) address.set("event", this.head.index);
    if (timeline.picksTime()) address.set("time", `${pick.from}-${pick.to}`);
    for (const thread of pick.threads) address.append("thread", line.threads.tid[thread]);
    for (const cpu of pick.cpus) address.append("cpu", cpu);
    if (timeline.by === "cpus") address.set("rows", "cpus");
    if (this.tab === "calls") address.set("tab", "calls");
  }

  readAddress() {
    super.readAddress();
    this.timeline.draw();
  }

  applyTheme() {
    super.applyTheme();
    this.timeline.draw();
  }

  // --- Text ---

  showTab(tab) {
    this.tab = tab;
    this.showFunctions();
    this.writeAddress(false);
  }

  showFunctions() {
    for (const tab of ["functions", "calls"]) {
      byId(`panel-${tab}`).hidden = tab !== this.tab;
      byId(`tab-${tab}`).setAttribute("aria-selected", String(tab === this.tab));
    }
    if (this.tab === "calls") this.calls.update();
    else super.showFunctions();
  }

  listenToTabs() {
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("tab-functions", () => this.showTab("functions"));
    on("tab-calls", () => this.showTab("calls"));
    on("rows-threads", () => this.showRows("threads"));
    on("rows-cpus", () => this.showRows("cpus"));
    on("unpick", () => this.timeline.clear());
    this.timeline.listen();
    this.calls.listen();
  }

  showRows(by) {
    this.timeline.setRows(by);
    this.writeAddress(false);
  }

  keyAct(event) {
    return super.keyAct(event) ?? {
      f: () => this.showTab("functions"),
      c: () => this.showTab("calls"),
      e: () => this.tab === "calls" && this.calls.openHeaviest(),
      w: () => this.tab === "calls" && this.calls.closeAll(),
      p: () => this.showRows(this.timeline.by === "cpus" ? "threads" : "cpus"),
      Delete: () => this.timeline.clear(),
    }[event.key];
  }
}
