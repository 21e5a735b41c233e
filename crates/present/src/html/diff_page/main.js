// The page of two recordings.

function main() {
  const [nodes, before] = ["nodes", "before"].map((id) => bytesOfBase64(byId(id).textContent));
  const page = new ChangePage(JSON.parse(byId("head").textContent), nodes, before);
  byId("by-self").firstElementChild.textContent = "± Self";
  byId("by-total").firstElementChild.textContent = "± Total";
  if (page.whole > 0) page.start();
  else showEmpty();
  document.body.dataset.readyMs = performance.now().toFixed(0);
}

window.addEventListener("error", (event) => fail(event.error ?? event.message));
main();
