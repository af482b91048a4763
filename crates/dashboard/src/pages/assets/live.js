// Keeps a page up to date: on a server event, the same page is fetched and its live parts replace the old ones.
// Without this script the page is complete but is not updated.
(() => {
  "use strict";
  const source = document.body.dataset.events;
  const light = document.getElementById("live");
  if (!source || !window.EventSource) return;

  const say = (state, text) => {
    light.hidden = false;
    light.dataset.state = state;
    if (light.textContent !== text) light.textContent = text;
  };

  // Opened elements stay open, and the focused element keeps the focus.
  const keep = (from, to) => {
    for (const open of from.querySelectorAll("details[id]")) {
      const same = to.querySelector(`#${CSS.escape(open.id)}`);
      if (same) same.open = open.open;
    }
  };
  // Identifies an element after others were inserted before it.
  const nameOf = (element) => {
    const within = element.closest("details[id]")?.id ?? "";
    return [within, element.tagName, element.getAttribute("href"), element.getAttribute("aria-label")].join(" ");
  };
  const replace = (fresh) => {
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      if (!next || part.contains(document.activeElement) && document.activeElement.matches("select, input")) continue;
      keep(part, next);
      if (part.innerHTML === next.innerHTML) continue;
      const active = part.contains(document.activeElement) ? document.activeElement : null;
      const known = active && nameOf(active);
      part.innerHTML = next.innerHTML;
      if (!known) continue;
      const same = [...part.querySelectorAll("a, summary, [tabindex]")].find((found) => nameOf(found) === known);
      same?.focus({ preventScroll: true });
    }
  };

  let busy = false;
  let again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
      if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      // The stream reports when the worker is down; the next event retries.
    }
    setTimeout(() => { busy = false; if (again) { again = false; refresh(); } }, 1000);
  };

  const stream = new EventSource(source);
  let first = true;
  const changed = () => { say("on", "live"); if (first) first = false; else if (!document.hidden) refresh(); else again = true; };
  stream.addEventListener("open", () => say("on", "live"));
  stream.addEventListener("job", changed);
  stream.addEventListener("jobs", changed);
  stream.addEventListener("end", () => { stream.close(); refresh(); say("off", "ended"); });
  stream.addEventListener("error", () => say("away", "reconnecting"));
  document.addEventListener("visibilitychange", () => { if (!document.hidden && again) { again = false; refresh(); } });
})();
