// Completes names of settings and their values while one types, and leads to lines. All of it can be done without.
(function () {
  "use strict";
  const MOST = 12;
  let table = null;

  async function known() {
    if (table === null) {
      table = fetch("/ui/names.json", { headers: { Accept: "application/json" } })
        .then((answer) => (answer.ok && !answer.redirected ? answer.json() : { settings: {}, roles: {}, rules: {} }))
        .catch(() => ({ settings: {}, roles: {}, rules: {} }));
    }
    return table;
  }

  // -- what fits where the caret stands: {from, offers: [{text, name, kind, words}]} ------------------------------

  function offerOf(key, setting, text) {
    const more = setting.heritrix ? ", in the heritrix profile " + setting.heritrix : "";
    return { text: text, name: key, kind: setting.kind + "; default " + setting.default + more, words: setting.words };
  }

  function values(setting, typed, bare) {
    let choices = setting.choices.length || typed ? setting.choices : [setting.default];
    // a policy or a scope is a bean there, not a value
    if (bare && /policy|rules/.test(setting.kind)) return [];
    if (bare) choices = choices.map((each) => (/^(True|False)$/.test(each) ? each.toLowerCase() : each.replace(/^'|'$/g, "")));
    const begun = typed.replace(/["']/g, "").toLowerCase();
    return choices
      .filter((each) => each.replace(/["']/g, "").toLowerCase().startsWith(begun) && each !== typed)
      .map((each) => ({ text: each, name: each, kind: "", words: "" }));
  }

  function ranked(entries, typed, nameOf) {
    const begun = typed.toLowerCase();
    const place = (entry) => nameOf(entry).toLowerCase().replace("heritrix_", "").indexOf(begun.replace("heritrix_", ""));
    return entries.filter((entry) => place(entry) >= 0).sort((one, other) => Math.min(place(one), 1) - Math.min(place(other), 1));
  }

  function inSettings(data, before, line) {
    const value = /(?:^|["'])((?:HERITRIX_)?[A-Z][A-Z0-9_]*)["']?\s*[:=]\s*([^\s,:]*)$/.exec(line);
    if (value) {
      const setting = data.settings[value[1]] || data.settings["HERITRIX_" + value[1]];
      return setting ? { from: before.length - value[2].length, offers: values(setting, value[2], false) } : null;
    }
    const name = /(^|["'])([A-Z][A-Z0-9_]+)$/.exec(line);
    if (!name) return null;
    const quote = name[1];
    const entries = Object.entries(data.settings).filter(([, setting]) => !quote || setting.sheet);
    return {
      from: before.length - name[2].length,
      offers: ranked(entries, name[2], (entry) => entry[0]).map(([key, setting]) => offerOf(key, setting, quote ? key + quote + ": " : key + " = ")),
    };
  }

  function classAt(before) {
    const open = [];
    for (const tag of before.matchAll(/<bean\b([^>]*?)(\/?)>|<\/bean>/g)) {
      if (tag[0] === "</bean>") open.pop();
      else if (!tag[2]) open.push((/class="(?:[\w$]+\.)*(\w+)"/.exec(tag[1]) || ["", ""])[1]);
    }
    return open.pop() || "";
  }

  function inJobFile(data, before, line) {
    const settings = Object.entries(data.settings).filter(([, setting]) => setting.bean);
    const find = (bean) => (settings.find(([, setting]) => setting.bean === bean) || [])[1];
    let found = /class="((?:[\w$]+\.)*)(\w{2,})$/.exec(line);
    if (found) {
      const typed = found[2].toLowerCase(), names = [...Object.keys(data.roles), ...Object.keys(data.rules)];
      const begun = names.filter((each) => each.toLowerCase().startsWith(typed));
      return { from: before.length - typed.length, offers: begun.map((each) => ({ text: each + '"', name: each, kind: "", words: "" })) };
    }
    const roles = data.roles[classAt(before)] || [], rule = data.rules[classAt(before)] || {};
    found = /<property\s+name="(\w+)"\s+value="([^"]*)$/.exec(line);
    if (found) {
      const [, name, typed] = found;
      if (name === "decision" && name in rule) {
        const words = ["ACCEPT", "REJECT", "NONE"].filter((each) => each.startsWith(typed.toUpperCase()) && each !== typed);
        return { from: before.length - typed.length, offers: words.map((each) => ({ text: each, name: each, kind: "", words: "" })) };
      }
      const setting = roles.map((role) => find(role + "." + name)).find(Boolean);
      return setting ? { from: before.length - typed.length, offers: values(setting, typed, true) } : null;
    }
    found = /<property\s+name="(\w*)$/.exec(line);
    if (found) {
      const typed = found[1];
      const named = Object.keys(rule).filter((each) => each.toLowerCase().startsWith(typed.toLowerCase()));
      if (named.length) {
        const told = (each) => ({ text: each + '" value="', name: each, kind: rule[each] && "default " + rule[each], words: "" });
        return { from: before.length - typed.length, offers: named.map(told) };
      }
      const entries = settings.filter(([, setting]) => roles.includes(setting.bean.split(".")[0]));
      return {
        from: before.length - typed.length,
        offers: ranked(entries, typed, (entry) => entry[1].bean.replace(/^\w+\./, "")).map(([, setting]) => {
          const name = setting.bean.replace(/^\w+\./, "");
          return offerOf(name, setting, name + '" value="');
        }),
      };
    }
    found = /^\s*(\w+\.[\w.]+)\s*=\s*(\S*)$/.exec(line) || /key="(\w+\.[\w.]+)"\s+value="([^"]*)$/.exec(line);
    if (found) {
      const setting = find(found[1]);
      return setting ? { from: before.length - found[2].length, offers: values(setting, found[2], true) } : null;
    }
    found = /(^\s*|key=")([a-z][\w.]+)$/.exec(line);
    if (!found) return null;
    const inMap = found[1].includes("key"), typed = found[2];
    const entries = settings.filter(([, setting]) => setting.bean.toLowerCase().includes(typed.toLowerCase()) && (!inMap || setting.sheet));
    return {
      from: before.length - typed.length,
      offers: entries.map(([, setting]) => offerOf(setting.bean, setting, setting.bean + (inMap ? '" value="' : "="))),
    };
  }

  // -- the list of offers, below the caret ------------------------------------------------------------------------

  function editor(area) {
    const list = document.getElementById("offer");
    const where = document.getElementById("where");
    const find = { settings: inSettings, cxml: inJobFile }[area.dataset.kind];
    let offers = [], from = 0, at = 0;

    function measure() {
      const style = getComputedStyle(area);
      const probe = document.createElement("canvas").getContext("2d");
      probe.font = style.font;
      return { height: parseFloat(style.lineHeight), width: probe.measureText("0").width, pad: parseFloat(style.paddingTop) };
    }

    function close() {
      list.hidden = true;
      list.replaceChildren();
      offers = [];
      area.removeAttribute("aria-activedescendant");
    }

    function mark(place) {
      at = (place + offers.length) % offers.length;
      for (const [index, item] of [...list.children].entries()) item.setAttribute("aria-selected", index === at ? "true" : "false");
      area.setAttribute("aria-activedescendant", "offer-" + at);
      list.children[at].scrollIntoView({ block: "nearest" });
    }

    function take() {
      const offer = offers[at], typed = area.value.slice(area.selectionStart);
      // what stands behind the caret already is not written twice
      const tail = /^["'][:\s]*/.exec(typed);
      area.setRangeText(offer.text, from, area.selectionStart + (tail && /["']/.test(offer.text.slice(0, -1)) && offer.kind ? tail[0].length : 0), "end");
      close();
      show();
    }

    async function show(asked) {
      const before = area.value.slice(0, area.selectionStart);
      const rows = before.split("\n"), line = rows[rows.length - 1];
      if (where) where.textContent = "Line " + rows.length;
      if (!find || area.selectionStart !== area.selectionEnd) return close();
      const data = await known();
      if (before !== area.value.slice(0, area.selectionStart) || document.activeElement !== area) return;
      const found = find(data, before, line);
      if (!found || !found.offers.length) return close();
      const typed = before.slice(found.from);
      if (!asked && found.offers.some((each) => each.name === typed)) return close();
      offers = found.offers.slice(0, MOST);
      from = found.from;
      list.replaceChildren(
        ...offers.map((each, index) => {
          const item = document.createElement("div");
          item.id = "offer-" + index;
          item.setAttribute("role", "option");
          for (const [kind, text] of [["b", each.name], ["i", each.kind], ["span", each.words]]) {
            if (!text) continue;
            const part = document.createElement(kind);
            part.textContent = text;
            item.append(part, " ");
          }
          item.addEventListener("mousedown", (event) => {
            event.preventDefault();
            at = index;
            take();
          });
          return item;
        }),
      );
      list.hidden = false;
      place();
      mark(0);
    }

    // below the line of the caret, from where the name begins; while one types, the text may move
    function place() {
      const size = measure(), rows = area.value.slice(0, from).split("\n");
      const down = size.pad + rows.length * size.height - area.scrollTop + 4;
      const left = rows[rows.length - 1].length * size.width - area.scrollLeft;
      list.style.top = area.offsetTop + Math.max(0, Math.min(area.clientHeight, down)) + "px";
      list.style.left = area.offsetLeft + Math.max(0, Math.min(left, area.clientWidth - list.offsetWidth)) + "px";
    }

    function go(line) {
      const rows = area.value.split("\n");
      const start = rows.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      area.focus();
      area.setSelectionRange(start, start + (rows[line - 1] || "").length);
      area.scrollTop = Math.max(0, (line - 6) * measure().height);
      area.scrollLeft = 0;
      if (where) where.textContent = "Line " + line;
    }

    if (find) {
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "Completions");
      area.setAttribute("aria-autocomplete", "list");
      area.setAttribute("aria-controls", "offer");
    }
    area.addEventListener("input", () => show(false));
    area.addEventListener("click", () => { close(); if (where) where.textContent = "Line " + area.value.slice(0, area.selectionStart).split("\n").length; });
    area.addEventListener("blur", close);
    area.addEventListener("scroll", () => list.hidden || place());
    area.addEventListener("keydown", (event) => {
      if (event.ctrlKey && event.key === " ") {
        event.preventDefault();
        show(true);
      } else if (!list.hidden && ["ArrowDown", "ArrowUp", "Enter", "Escape"].includes(event.key) && !event.shiftKey) {
        event.preventDefault();
        if (event.key === "Escape") close();
        else if (event.key === "Enter") take();
        else mark(at + (event.key === "ArrowDown" ? 1 : -1));
      } else if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) close();
    });
    for (const link of document.querySelectorAll("a[data-line]")) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        go(Number(link.dataset.line));
      });
    }
    if (Number(area.dataset.line) > 0) go(Number(area.dataset.line));
  }

  // -- one setting in a form: what it is, and what it may be ---------------------------------------------------------

  function oneSetting(field) {
    const told = document.getElementById(field.dataset.told);
    async function tell() {
      const data = await known();
      const setting = data.settings[field.value.trim()] || data.settings["HERITRIX_" + field.value.trim()];
      told.textContent = setting ? setting.kind + "; default " + setting.default + ". " + setting.words : "";
      const choices = document.getElementById("values");
      choices.replaceChildren(
        ...(setting ? setting.choices : []).map((each) => {
          const option = document.createElement("option");
          option.value = each.replace(/^'|'$/g, "");
          return option;
        }),
      );
    }
    field.addEventListener("input", tell);
  }

  function fromFile(label) {
    const area = document.getElementById(label.dataset.fileFor);
    label.hidden = false;
    label.querySelector("input").addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (file) area.value = await file.text();
    });
  }

  const area = document.getElementById("text");
  if (area) editor(area);
  for (const field of document.querySelectorAll("[data-told]")) oneSetting(field);
  for (const label of document.querySelectorAll("[data-file-for]")) fromFile(label);
})();
