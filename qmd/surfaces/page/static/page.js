// Results while typing, keys, and what is around a document. Without this script all works by links and forms.
"use strict";
document.documentElement.classList.add("js");

const box = document.getElementById("q");
const results = document.getElementById("results");
const form = document.getElementById("search");
const WAIT = 90; // milliseconds after the last key
const FIRST = 8; // results that fill a screen
const LATE = 250; // milliseconds after which results that are waited for turn pale

let timer = 0;
let asking = null;

// The chips and modes of the page follow the address, and so does the form that sends what is typed.
function addressOf(text) {
  const url = new URL(location.href);
  url.hash = "";
  url.searchParams.delete("page");
  if (text) url.searchParams.set("q", text);
  else url.searchParams.delete("q");
  return url;
}

async function show(url, { push = false, append = false } = {}) {
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  const late = setTimeout(() => results.classList.add("busy"), LATE);
  try {
    const answer = await fetch(url, { headers: { "X-Part": "results", Accept: "text/html" }, signal: mine.signal, credentials: "same-origin" });
    if (answer.redirected || !answer.headers.get("Content-Type").startsWith("text/html")) return location.assign(url);
    const html = await answer.text();
    if (append) {
      const more = new DOMParser().parseFromString(html, "text/html");
      const old = results.querySelector(".pages");
      const cards = [...more.querySelectorAll(".card")];
      results.querySelector(".cards").append(...cards);
      const next = more.querySelector(".pages");
      if (next) next.querySelector("[rel=prev]")?.remove();
      if (next && next.children.length) old.replaceWith(next);
      else old.remove();
      cards[0]?.querySelector("a").focus();
    } else {
      const open = results.querySelector(".facets")?.open;
      const made = document.createElement("template");
      made.innerHTML = html; // of our server, which escapes what documents say
      const facets = made.content.querySelector(".facets");
      if (open !== undefined) facets.open = open;
      const list = made.content.querySelector(".cards");
      const later = [...list.children].slice(FIRST);
      later.forEach((each) => each.remove());
      results.replaceChildren(made.content);
      // The frame with what can be seen comes before the rest is there.
      if (later.length) requestAnimationFrame(() => setTimeout(() => list.append(...later)));
      history[push ? "pushState" : "replaceState"](null, "", url);
      document.title = (box.value ? box.value + " · " : "") + "qmd";
      follow(url);
    }
  } catch (error) {
    if (error.name !== "AbortError") location.assign(url);
  } finally {
    clearTimeout(late);
    if (asking === mine) {
      asking = null;
      results.classList.remove("busy");
    }
  }
}

// Give the form the filters of an address, for when it is sent as a form.
function follow(url) {
  form.querySelectorAll("input[type=hidden]").forEach((each) => each.remove());
  for (const [name, value] of new URL(url, location.href).searchParams) {
    if (name === "q" || name === "page") continue;
    const hidden = document.createElement("input");
    Object.assign(hidden, { type: "hidden", name, value });
    form.append(hidden);
  }
}

function links() {
  return [...document.querySelectorAll(".hit-link")];
}

function move(step) {
  const all = links();
  const at = all.indexOf(document.activeElement);
  if (at < 0 && step < 0) return;
  if (at + step < 0) return box.focus();
  const next = all[Math.min(at + step, all.length - 1)];
  if (!next) return;
  next.focus({ preventScroll: true });
  next.closest(".card").scrollIntoView({ block: "nearest" });
}

if (results) {
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => show(addressOf(box.value.trim())), WAIT);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    show(addressOf(box.value.trim()), { push: true });
  });
  results.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    if (link.matches(".chip, .modes a, .why")) {
      event.preventDefault();
      const url = new URL(link.href);
      if (box.value.trim()) url.searchParams.set("q", box.value.trim());
      show(url, { push: true });
    } else if (link.matches(".pages [rel=next]")) {
      event.preventDefault();
      show(link.href, { append: true });
    }
  });
  addEventListener("popstate", () => {
    box.value = new URL(location.href).searchParams.get("q") || "";
    show(location.href);
  });
  if (matchMedia("(max-width: 54rem)").matches) results.querySelector(".facets").open = false;
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && box) {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === "Escape" && event.target === box) {
    if (box.value && results) {
      box.value = "";
      box.dispatchEvent(new Event("input"));
    } else box.blur();
  } else if (event.key === "Escape" && !typing) {
    if (results) box.focus();
    else if (document.body.classList.contains("document") && history.length > 1) history.back();
  } else if (results && (event.key === "ArrowDown" || event.key === "ArrowUp") && (!typing || event.target === box)) {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (results && event.key === "Enter" && event.target === box && !event.repeat) {
    const first = links()[0];
    if (first && box.value.trim() === (new URL(location.href).searchParams.get("q") || "") && !timerRuns()) {
      event.preventDefault();
      location.assign(first.href);
    }
  }
});

function timerRuns() {
  return asking !== null;
}

// What takes longer than the page itself. Where it does not come, the link to the same stays.
for (const part of document.querySelectorAll("[data-later]")) {
  fetch(part.dataset.later, { headers: { "X-Part": part.dataset.part || "links", Accept: "text/html" } })
    .then((answer) => (answer.ok ? answer.text() : Promise.reject(answer.status)))
    .then((html) => (part.innerHTML = html))
    .catch(() => {});
}

// The map: documents under the pointer are listed; a click keeps them, and the address of the place.
const map = document.getElementById("map");
if (map) {
  const near = document.getElementById("near");
  const here = document.getElementById("here");
  let kept = new URL(location.href).searchParams.has("at");
  let wait = 0;
  let last = null;
  const place = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    return [at.x, at.y].map((each) => Math.max(0, Math.round(each)));
  };
  const list = async (at) => {
    last?.abort();
    last = new AbortController();
    const address = new URL(location.href);
    address.searchParams.set("at", at.join(","));
    try {
      const answer = await fetch(address, { headers: { "X-Part": "near", Accept: "text/html" }, signal: last.signal });
      if (!answer.ok || answer.redirected) return;
      near.innerHTML = await answer.text();
      here.setAttribute("cx", at[0]);
      here.setAttribute("cy", at[1]);
      if (kept) history.replaceState(null, "", address);
    } catch {} // another place has been asked for, or the server is gone
  };
  map.addEventListener("pointermove", (event) => {
    if (kept || event.pointerType === "touch") return;
    clearTimeout(wait);
    wait = setTimeout(list, 60, place(event));
  });
  map.addEventListener("click", (event) => {
    if (event.target.closest("a")) return;
    clearTimeout(wait);
    kept = true;
    list(place(event));
  });
}

const drawing = document.querySelector(".drawing");
if (drawing) drawing.scrollLeft = (drawing.scrollWidth - drawing.clientWidth) / 2; // the document in the middle

const outline = document.querySelectorAll(".outline a");
if (outline.length && "IntersectionObserver" in window) {
  const by = new Map([...outline].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        outline.forEach((link) => link.classList.remove("here"));
        by.get(entry.target.id)?.classList.add("here");
      }
    },
    { rootMargin: "-80px 0px -75% 0px" },
  );
  for (const id of by.keys()) {
    const heading = document.getElementById(id);
    if (heading) seen.observe(heading);
  }
}

const editor = document.getElementById("query");
if (editor) {
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) editor.form.requestSubmit();
  });
}
