// The time line: an overview of all that is chosen, a row a thread or CPU below it, and the stretch of time chosen over
// both. What is chosen stands in `pick`; the page learns of a change through `changed`.

const OVERVIEW = 44;
const AXIS = 20;
const LANE = 20;
const EDGE = 6;
const KEY_STEPS = 40;
const SHARES_FROM = 160;

class Timeline {
  constructor(line, cells, bySamples, changed) {
    this.line = line;
    this.cells = cells;
    this.bySamples = bySamples;
    this.changed = changed;
    this.timed = line.start !== null && line.stretches > 1;
    this.pick = { from: 0, to: line.stretches, threads: new Set(), cpus: new Set() };
    this.at = this.hover = -1;
    this.setRows("threads");
  }

  setRows(by) {
    this.by = by;
    this.rows = new Rows(this.line, this.cells, by, this.bySamples);
    this.at = -1;
    if (this.width) this.size();
  }

  // --- What is chosen ---

  picksTime() {
    return this.pick.from > 0 || this.pick.to < this.line.stretches;
  }

  picksAll() {
    return !this.picksTime() && !this.pick.threads.size && !this.pick.cpus.size;
  }

  // For each lane whether it is chosen; null when all are.
  laneOn() {
    const { threads, cpus } = this.pick;
    if (!threads.size && !cpus.size) return null;
    const { thread, cpu } = this.line.lanes;
    return Uint8Array.from(thread, (id, lane) =>
      ((!threads.size || threads.has(id)) && (!cpus.size || cpus.has(cpu[lane])) ? 1 : 0));
  }

  selection() {
    return { from: this.pick.from, to: this.pick.to, laneOn: this.laneOn() };
  }

  pickTime(from, to, done = true) {
    const { stretches } = this.line;
    const left = Math.max(0, Math.min(stretches - 1, Math.floor(Math.min(from, to))));
    this.pick.from = left;
    this.pick.to = Math.max(left + 1, Math.min(stretches, Math.ceil(Math.max(from, to))));
    this.draw();
    this.changed(done);
  }

  toggle(row) {
    const picked = this.pick[this.by];
    if (!picked.delete(row.key)) picked.add(row.key);
    this.summed = null;
    this.draw();
    this.changed(true);
  }

  clear() {
    Object.assign(this.pick, { from: 0, to: this.line.stretches });
    this.pick.threads.clear();
    this.pick.cpus.clear();
    this.summed = null;
    this.draw();
    this.changed(true);
  }

  // --- Where things are ---

  size() {
    this.width = Math.max(1, byId("lanes-stage").clientWidth);
    this.left = Math.round(Math.min(220, this.width * 0.3));
    const plot = this.width - this.left;
    this.rows.resize(plot);
    this.summed = null;
    const height = this.rows.list.length * LANE;
    byId("lanes-spacer").style.height = `${height}px`;
    const shown = Math.max(1, Math.min(height, byId("lanes-stage").clientHeight));
    this.overview = fitCanvas(byId("overview"), this.width, OVERVIEW + AXIS);
    this.lanes = fitCanvas(byId("lanes"), this.width, shown);
    this.shownHeight = shown;
    this.draw();
  }

  xOf(stretch) {
    return this.left + (stretch / this.line.stretches) * (this.width - this.left);
  }

  stretchAt(x) {
    return ((x - this.left) / (this.width - this.left)) * this.line.stretches;
  }

  rowAt(y) {
    return this.rows.list[Math.floor((y + byId("lanes-stage").scrollTop) / LANE)];
  }

  // Time of a stretch's beginning since the first sample, in nanoseconds.
  sinceStart(stretch) {
    return stretch * this.line.stretch;
  }

  // --- Drawing ---

  draw() {
    if (!this.width) return;
    this.inks = inks();
    this.summed ??= this.rows.sum(this.laneOn());
    this.paintOverview();
    this.paintLanes();
    this.tell();
  }

  paintOverview() {
    const { overview: context, inks: ink } = this;
    context.fillStyle = ink.panel;
    context.fillRect(0, 0, this.width, OVERVIEW + AXIS);
    this.paintLabel(context, "All", "", 0, OVERVIEW, false);
    const most = this.summed.reduce((a, b) => Math.max(a, b), 0);
    this.paintBars(context, this.summed, 2, OVERVIEW - 3, most, ink.accent);
    this.paintAxis(context);
    this.shade(context, OVERVIEW);
  }

  paintLanes() {
    const { lanes: context, inks: ink, rows } = this;
    const scroll = byId("lanes-stage").scrollTop;
    const picked = this.pick[this.by];
    context.fillStyle = ink.panel;
    context.fillRect(0, 0, this.width, this.shownHeight);
    const first = Math.floor(scroll / LANE);
    const last = Math.min(rows.list.length, Math.ceil((scroll + this.shownHeight) / LANE));
    for (let index = first; index < last; index++) {
      const row = rows.list[index];
      const on = !picked.size || picked.has(row.key);
      const y = index * LANE - scroll;
      if (index === this.at || index === this.hover) {
        context.fillStyle = ink.press;
        context.fillRect(0, y, this.width, LANE);
      }
      const share = this.left < SHARES_FROM ? "" : percent(row.value, this.total());
      this.paintLabel(context, row.label, share, y, LANE, picked.has(row.key), on);
      this.paintBars(context, rows.heights(row), y + 2, LANE - 3, rows.most, on ? ink.accent : ink.line);
    }
    this.shade(context, this.shownHeight);
  }

  total() {
    this.whole ??= this.rows.list.reduce((sum, row) => sum + row.value, 0);
    return this.whole;
  }

  paintLabel(context, label, share, y, height, picked, on = true) {
    const { inks: ink } = this;
    context.font = picked ? `600 ${FONT}` : FONT;
    context.textBaseline = "middle";
    context.direction = "ltr";
    context.fillStyle = on ? ink.text : ink.dim;
    const room = this.left - 22 - (share ? 52 : 0);
    context.fillText(clip(context, label, room), 12, y + height / 2);
    if (picked) {
      context.fillStyle = ink.accent;
      context.fillRect(0, y + 1, 4, height - 2);
    }
    if (!share) return;
    context.font = FONT;
    context.textAlign = "right";
    context.fillStyle = ink.dim;
    context.fillText(share, this.left - 8, y + height / 2);
    context.textAlign = "left";
  }

  paintBars(context, heights, top, height, most, colour) {
    if (!(most > 0)) return;
    const width = (this.width - this.left) / heights.length;
    context.fillStyle = colour;
    for (let bin = 0; bin < heights.length; bin++) {
      if (heights[bin] <= 0) continue;
      const tall = Math.max(1, (heights[bin] / most) * height);
      context.fillRect(this.left + bin * width, top + height - tall, Math.max(width - (width > 3 ? 0.5 : 0), 0.6), tall);
    }
  }

  paintAxis(context) {
    const { inks: ink } = this;
    context.fillStyle = ink.line;
    context.fillRect(0, OVERVIEW, this.width, 1);
    if (!this.timed) return;
    const span = this.sinceStart(this.line.stretches);
    const step = niceStep(span / Math.max(1, (this.width - this.left) / 110));
    context.font = FONT;
    context.textBaseline = "middle";
    for (let time = 0; time < span; time += step) {
      const x = this.left + (time / span) * (this.width - this.left);
      context.fillStyle = ink.line;
      context.fillRect(x, OVERVIEW, 1, 5);
      context.fillStyle = ink.dim;
      const text = timeText(time, step);
      if (x + 4 + context.measureText(text).width < this.width) context.fillText(text, x + 4, OVERVIEW + AXIS / 2 + 1);
    }
  }

  // Dims what lies outside the chosen stretch.
  shade(context, height) {
    if (!this.picksTime()) return;
    const [from, to] = [this.xOf(this.pick.from), this.xOf(this.pick.to)];
    context.globalAlpha = 0.72;
    context.fillStyle = this.inks.page;
    context.fillRect(this.left, 0, from - this.left, height);
    context.fillRect(to, 0, this.width - to, height);
    context.globalAlpha = 1;
    context.fillStyle = this.inks.accent;
    context.fillRect(from - 1, 0, 2, height);
    context.fillRect(to - 1, 0, 2, height);
  }

  // --- In words ---

  tell() {
    const { pick } = this;
    const parts = [];
    const [from, to] = [this.sinceStart(pick.from), this.sinceStart(pick.to)];
    if (this.picksTime()) {
      const fine = (to - from) / 100;
      parts.push(`${timeText(from, fine)} to ${timeText(to, fine)} (${scaled(to - from, TIMES, "ns")})`);
    } else if (this.timed) parts.push(`${scaled(to, TIMES, "ns")}`);
    parts.push(...this.pickedNames("threads", "thread"), ...this.pickedNames("cpus", "CPU"));
    byId("picked").replaceChildren(bdi(parts.join(", ")));
    byId("unpick").hidden = this.picksAll();
    byId("rows-threads").setAttribute("aria-pressed", String(this.by === "threads"));
    byId("rows-cpus").setAttribute("aria-pressed", String(this.by === "cpus"));
  }

  pickedNames(by, word) {
    const picked = [...this.pick[by]];
    if (!picked.length) return [];
    return [picked.length === 1 ? WAYS[by].label(this.line, picked[0]) : plural(picked.length, word)];
  }

  tip(x, row) {
    const stretch = Math.max(0, Math.min(this.line.stretches - 1, Math.floor(this.stretchAt(x))));
    const content = [element("div", { class: "function" }, bdi(row ? this.rows.way.title(this.line, row.key) : "All that is chosen"))];
    if (!this.timed) return content;
    const terms = [["Time", timeText(this.sinceStart(stretch), this.line.stretch), ""], ["Recorded as", this.recorded(stretch), ""]];
    return [...content, tipTerms(terms)];
  }

  // The recording's own time of a stretch, in seconds as `--time` takes it.
  recorded(stretch) {
    const nanos = this.line.start[1] + this.sinceStart(stretch);
    const seconds = this.line.start[0] + Math.floor(nanos / 1e9);
    return `${seconds}.${String(Math.floor(nanos % 1e9)).padStart(9, "0")}`;
  }
}

function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d", { alpha: false });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

// The page's colours, for canvases.
function inks() {
  const style = getComputedStyle(document.documentElement);
  const names = ["page", "panel", "text", "dim", "line", "press", "accent"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function clip(context, label, room) {
  let text = label.slice(0, 100);
  if (text.length === label.length && context.measureText(text).width <= room) return text;
  while (text.length > 1 && context.measureText(`${text}…`).width > room) text = text.slice(0, -1);
  return `${text}…`;
}

// 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

// A time in seconds, with the digits that `step` needs.
function timeText(nanos, step) {
  const digits = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, step)))));
  return `${(nanos / 1e9).toFixed(digits)} s`;
}
