// Pages work without this. With it, forms and links within a review swap the page's content
// instead of loading it anew, keys answer questions, and pointing at a picture shows the pair.

const main = () => document.getElementById("main");
let busy = false;

function say(text) {
  document.getElementById("status").textContent = text.replace(/\s+/g, " ").trim().slice(0, 500);
}

function show(text, url, moved) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.getElementById("main");
  if (!fresh) {
    location.assign(url);
    return;
  }
  main().replaceWith(document.adoptNode(fresh));
  document.title = page.title;
  const nav = page.querySelector("header nav");
  if (nav) document.querySelector("header nav").replaceWith(document.adoptNode(nav));
  if (moved) history.pushState(null, "", url);
  const told = main().querySelector("[data-status]");
  const heading = main().querySelector("h1");
  say(`${told ? told.textContent : ""} ${heading ? heading.textContent : ""}`);
  const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
  (target || main()).scrollIntoView({ block: target ? "center" : "nearest" });
  main().focus({ preventScroll: true });
}

async function go(url, options, moved) {
  if (busy) return;
  busy = true;
  document.body.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(url, { credentials: "same-origin", ...options });
    show(await answer.text(), answer.url, moved);
  } catch {
    say("The review is not running any more; start it again. Nothing that was answered is lost.");
    document.body.classList.add("gone");
  } finally {
    busy = false;
    document.body.removeAttribute("aria-busy");
  }
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  event.preventDefault();
  const data = new FormData(form);
  if (button && button.name) data.set(button.name, button.value);
  const body = new URLSearchParams(data);
  const action = (button && button.getAttribute("formaction")) || form.getAttribute("action");
  if (form.method === "post") go(action, { method: "POST", body }, true);
  else go(`${action}?${body}`, {}, true);
});

addEventListener("popstate", () => go(location.href, {}, false));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const on = document.activeElement;
  if (on && on.matches("input, textarea, select")) return;
  if (event.key === " " && on && on.matches("button, summary")) return; // links know Enter only
  const button = main().querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
  if (button) {
    event.preventDefault();
    button.click();
  }
});

// --- pairs in pictures

let timer = 0;
let pointed = "";

async function fetchPair(a, b, quick) {
  const query = new URLSearchParams({ a, b, quick: quick ? "1" : "0" });
  const answer = await fetch(`/pair?${query}`, { credentials: "same-origin" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const pair = page.getElementById("pair");
  return pair ? document.adoptNode(pair) : null;
}

async function showPair(a, b) {
  const place = document.getElementById("pair-place");
  hideTip();
  if (!place || a === b) return;
  const pair = await fetchPair(a, b, false);
  if (!pair) return;
  place.replaceChildren(pair);
  place.scrollIntoView({ block: "nearest" });
}

// What is pointed at is told beside the pointer; readers of screens have the list of pairs.
async function showTip(a, b, x, y) {
  const key = `${a} ${b}`;
  if (a === b || key === pointed) return;
  pointed = key;
  const pair = await fetchPair(a, b, true);
  if (!pair || pointed !== key) return;
  const tip = document.getElementById("tip");
  tip.replaceChildren(...pair.querySelectorAll("h2, h2 ~ p, table"));
  for (const named of tip.querySelectorAll("[id]")) named.removeAttribute("id");
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 16, innerWidth - width - 8))}px`;
  tip.style.top = `${Math.max(4, y + 16 + height > innerHeight ? y - height - 12 : y + 16)}px`;
}

function hideTip() {
  clearTimeout(timer);
  pointed = "";
  document.getElementById("tip").hidden = true;
}

function cellAt(svg, event) {
  const side = Number(svg.dataset.side);
  const elements = svg.dataset.elements.split(",");
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(
    svg.getScreenCTM().inverse(),
  );
  const [column, row] = [point.x, point.y].map((x) => Math.floor((x / side) * elements.length));
  if (column < 0 || row < 0 || column >= elements.length || row >= elements.length) return null;
  return { column, row, a: elements[row], b: elements[column], step: side / elements.length };
}

function pairOf(event) {
  const target = event.target.closest("[data-a][data-b]");
  if (target && !target.matches("section")) return { a: target.dataset.a, b: target.dataset.b };
  const svg = event.target.closest("svg.matrix");
  return svg ? cellAt(svg, event) : null;
}

document.addEventListener("pointermove", (event) => {
  const svg = event.target.closest && event.target.closest("svg.matrix");
  const cell = svg ? cellAt(svg, event) : null;
  if (cell) {
    const cursor = svg.querySelector(".cursor");
    cursor.setAttribute("x", String(cell.column * cell.step));
    cursor.setAttribute("y", String(cell.row * cell.step));
    cursor.classList.add("on");
  }
  const edge = event.target.closest && event.target.closest("line[data-a]");
  const pair = cell || (edge ? { a: edge.dataset.a, b: edge.dataset.b } : null);
  clearTimeout(timer);
  if (!pair) {
    if (pointed) hideTip();
    return;
  }
  const { clientX, clientY } = event;
  timer = setTimeout(() => showTip(pair.a, pair.b, clientX, clientY), 80);
});

document.addEventListener("scroll", hideTip, { passive: true });

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  const pair = pairOf(event);
  if (pair && document.getElementById("pair-place")) {
    event.preventDefault();
    showPair(pair.a, pair.b);
    return;
  }
  const link = event.target.closest("a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || link.hasAttribute("download")) return;
  if (link instanceof SVGElement) return;
  const url = new URL(link.href);
  const same = url.pathname === location.pathname && url.search === location.search;
  if (url.origin !== location.origin || (url.hash && same)) return;
  event.preventDefault();
  hideTip();
  go(url.href, {}, true);
});
