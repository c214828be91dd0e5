// Keeps the page of a crawl up to date: numbers and log lines as events, tables fetched anew now and then.
(function () {
  "use strict";
  const live = document.getElementById("live");
  if (!live || live.dataset.running === "no" || !window.EventSource) return;
  const base = live.dataset.base;
  const log = document.getElementById("log");
  const MOST_LINES = 300;
  const TABLES_MS = 5000;
  let fetching = false;
  let timer = 0;

  function numbers(data) {
    for (const element of document.querySelectorAll("[data-n]")) {
      const text = data.figures[element.dataset.n];
      if (text !== undefined && element.textContent !== text) element.textContent = text;
    }
    const state = document.getElementById("state");
    state.className = "state " + data.tone;
  }

  function lines(added) {
    const below = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    for (const text of added) {
      const line = document.createElement("div");
      line.textContent = text;
      log.append(line);
    }
    while (log.childElementCount > MOST_LINES) log.firstElementChild.remove();
    if (below) log.scrollTop = log.scrollHeight;
  }

  async function tables() {
    if (fetching || document.hidden) return;
    fetching = true;
    try {
      const answer = await fetch(base + "/parts", { headers: { Accept: "application/json" }, cache: "no-store" });
      if (answer.redirected || !answer.ok) return;
      const data = await answer.json();
      numbers(data);
      for (const [name, html] of Object.entries(data.parts)) {
        const part = document.querySelector('[data-part="' + name + '"]');
        // what somebody is about to press stays where it is
        if (!part || part.contains(document.activeElement)) continue;
        part.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
      }
    } catch (error) {
      // the next try comes by itself
    } finally {
      fetching = false;
    }
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(tables, 100);
  }

  // its process ends a little later, and what can be done then shows by itself
  function afterwards() {
    for (const wait of [0, 1000, 3000, 8000, 20000]) setTimeout(tables, wait);
  }

  if (live.dataset.running === "ends") {
    afterwards();
    return;
  }
  const wanted = live.dataset.filter;
  const events = new EventSource(base + "/events" + (wanted ? "?filter=" + encodeURIComponent(wanted) : ""));
  events.addEventListener("numbers", (event) => numbers(JSON.parse(event.data)));
  events.addEventListener("log", (event) => lines(JSON.parse(event.data).lines));
  events.addEventListener("changed", soon);
  events.addEventListener("end", function () {
    events.close();
    clearInterval(again);
    afterwards();
  });
  const again = setInterval(tables, TABLES_MS);
  document.addEventListener("visibilitychange", () => document.hidden || tables());
  window.addEventListener("pagehide", () => events.close());
  log.scrollTop = log.scrollHeight;
})();
