// Pointer and keys on the time line.

Object.assign(Timeline.prototype, {
  listen() {
    for (const canvas of [byId("overview"), byId("lanes")]) {
      canvas.addEventListener("pointerdown", (event) => this.down(event, canvas));
      canvas.addEventListener("pointermove", (event) => this.move(event, canvas));
      canvas.addEventListener("pointerup", (event) => this.up(event, canvas));
      canvas.addEventListener("pointerleave", () => this.leave());
      canvas.addEventListener("keydown", (event) => this.key(event));
    }
    byId("lanes-stage").addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.size()).observe(byId("lanes-stage"));
  },

  down(event, canvas) {
    if (event.button !== 0) return;
    const row = canvas.id === "lanes" ? this.rowAt(event.offsetY) : null;
    if (event.offsetX < this.left) {
      if (row) this.toggle(row);
      return;
    }
    if (!this.timed) return;
    canvas.setPointerCapture(event.pointerId);
    this.drag = this.grip(event.offsetX, canvas.id === "overview");
  },

  // What a drag from here changes: an end of the stretch, in the overview all of it, or it makes a new one.
  grip(x, movable) {
    const { from, to } = this.pick;
    const at = this.stretchAt(x);
    if (this.picksTime()) {
      if (Math.abs(x - this.xOf(from)) < EDGE) return { fixed: to, x };
      if (Math.abs(x - this.xOf(to)) < EDGE) return { fixed: from, x };
      if (movable && at > from && at < to) return { from, to, x };
    }
    return { fixed: at, x, fresh: true };
  },

  move(event, canvas) {
    if (this.drag) return this.dragTo(event.offsetX);
    const row = canvas.id === "lanes" ? this.rowAt(event.offsetY) : null;
    const hover = row ? this.rows.list.indexOf(row) : -1;
    if (hover !== this.hover) {
      this.hover = hover;
      this.paintLanes();
    }
    canvas.style.cursor = event.offsetX < this.left ? (row ? "pointer" : "default") : this.cursor(event.offsetX, !row);
    placeTip(this.tip(event.offsetX, row), event.clientX, event.clientY);
  },

  cursor(x, movable) {
    const grip = this.grip(x, movable);
    if (grip.fresh) return "crosshair";
    return "fixed" in grip ? "ew-resize" : "grab";
  },

  dragTo(x) {
    const { drag } = this;
    if (!drag.moved && Math.abs(x - drag.x) < 3) return;
    drag.moved = true;
    placeTip(null);
    if ("fixed" in drag) return this.pickTime(drag.fixed, this.stretchAt(x), false);
    this.shift(drag.from, drag.to, this.stretchAt(x) - this.stretchAt(drag.x), false);
  },

  // Chooses the stretch [from, to) moved by some stretches, inside the recording.
  shift(from, to, by, done) {
    const { stretches } = this.line;
    const inside = Math.round(Math.max(-from, Math.min(stretches - to, by)));
    this.pickTime(from + inside, to + inside, done);
  },

  up() {
    const { drag } = this;
    this.drag = null;
    if (!drag) return;
    if (drag.moved) this.changed(true);
    else if (drag.fresh && this.picksTime()) this.pickTime(0, this.line.stretches);
  },

  leave() {
    placeTip(null);
    this.hover = -1;
    this.paintLanes();
  },

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = this.keyAct(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  },

  keyAct({ key, shiftKey }) {
    const sign = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (sign && this.timed) return () => this.step(sign, shiftKey);
    if (key === "Delete") return () => this.clear();
    if (key === "ArrowUp" || key === "ArrowDown") return () => this.goRow(this.at + (key === "ArrowUp" ? -1 : 1));
    const row = this.rows.list[this.at];
    if (row && (key === "Enter" || key === " ")) return () => this.toggle(row);
    return null;
  },

  // Moves the stretch, or its end; the first step chooses the first part of the recording.
  step(sign, end) {
    const { from, to } = this.pick;
    const by = Math.max(1, Math.round(this.line.stretches / KEY_STEPS));
    if (!this.picksTime()) return this.pickTime(sign > 0 ? 0 : this.line.stretches - 4 * by, sign > 0 ? 4 * by : this.line.stretches);
    if (end) return this.pickTime(from, Math.max(from + 1, to + sign * by));
    this.shift(from, to, sign * by, true);
  },

  goRow(index) {
    const row = this.rows.list[index];
    if (!row) return;
    this.at = index;
    const stage = byId("lanes-stage");
    const top = index * LANE;
    if (top < stage.scrollTop) stage.scrollTop = top;
    if (top + LANE > stage.scrollTop + stage.clientHeight) stage.scrollTop = top + LANE - stage.clientHeight;
    byId("lane").textContent = `${this.rows.way.title(this.line, row.key)}: ${percent(row.value, this.total())} of all` +
      `${this.pick[this.by].has(row.key) ? ", chosen" : ""}`;
    this.draw();
  },
});
