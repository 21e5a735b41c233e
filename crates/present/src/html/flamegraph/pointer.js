// The pointer: hovering, zooming, dragging and the wheel.

Object.assign(Page.prototype, {
  hitOf(event) {
    const box = byId("graph").getBoundingClientRect();
    return this.painter.hit(this.scene(), event.clientX - box.left, event.clientY - box.top);
  },

  pointerMove(event) {
    if (this.drag && this.dragTo(event)) return;
    const hit = this.hitOf(event);
    this.hover = hit?.node ?? -1;
    this.showTip(hit, event.clientX, event.clientY);
    this.draw();
  },

  pointerLeave() {
    this.hover = -1;
    byId("tip").hidden = true;
    this.draw();
  },

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
  },

  moveView(from, to) {
    const place = this.placeOfRange(from, to);
    this.view = this.shown = place.view;
    this.draw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(place), 150);
  },

  settle(place) {
    this.applyPlace(place);
    this.writeAddress(false);
  },

  click(event) {
    const dragged = this.drag?.moved;
    this.drag = null;
    byId("graph").classList.remove("moving");
    if (dragged) return;
    const hit = this.hitOf(event);
    if (!hit) return;
    this.selected = -1;
    this.go("rest" in hit ? this.placeOfRange(hit.from, hit.to) : this.placeOfNode(hit.node));
  },

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
  },
});
