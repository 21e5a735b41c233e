// The report: the event that the address names, else the first with samples. Another event is the page loaded anew, so that
// only one is decoded at a time.

function chosenEvent(events) {
  const asked = Number(new URLSearchParams(location.hash.slice(1)).get("event"));
  if (events[asked]?.nodes > 0) return asked;
  return Math.max(0, events.findIndex((event) => event.nodes > 0));
}

function offerEvents(events, chosen) {
  const choice = byId("event");
  choice.replaceChildren(...events.map((event, index) =>
    element("option", { value: index, disabled: event.nodes > 0 ? null : "" }, `${event.name} (${plural(event.samples, "sample")})`)));
  choice.value = chosen;
  byId("event-choice").hidden = events.length < 2;
  choice.addEventListener("change", () => {
    location.hash = `event=${choice.value}`;
    location.reload();
  });
}

function main() {
  const { events } = JSON.parse(byId("head").textContent);
  const chosen = chosenEvent(events);
  events.forEach((event, index) => { event.index = index; });
  if (!(events[chosen]?.nodes > 0)) showEmpty();
  else {
    new Report(events[chosen], bytesOfBase64(byId(`nodes-${chosen}`).textContent)).start();
    offerEvents(events, chosen);
  }
  document.body.dataset.readyMs = performance.now().toFixed(0);
}

window.addEventListener("error", (event) => fail(event.error ?? event.message));
main();
