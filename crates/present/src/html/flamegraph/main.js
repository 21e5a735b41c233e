// The flame graph alone.

function main() {
  const head = JSON.parse(byId("head").textContent);
  const page = new Page(head, bytesOfBase64(byId("nodes").textContent));
  if (page.whole > 0) page.start();
  else showEmpty();
  document.body.dataset.readyMs = performance.now().toFixed(0);
}

window.addEventListener("error", (event) => fail(event.error ?? event.message));
main();
