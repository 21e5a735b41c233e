// The beginning: what listens to what, and the first look.

Object.assign(Page.prototype, {
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
  },

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
    for (const by of COLUMNS) on(byId(`by-${by}`), "click", () => this.sortBy(by));
  },
});

function fail(error) {
  const box = byId("failure");
  box.hidden = false;
  box.textContent = `This page failed: ${error?.message ?? error}`;
}

function showEmpty() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  byId("theme").hidden = byId("flip").hidden = byId("help-open").hidden = true;
  byId("empty").hidden = false;
}
