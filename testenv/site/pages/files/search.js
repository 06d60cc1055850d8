// Search in the index of the version, which is loaded when somebody searches. Every word
// has to be found; words of titles and headings count more than those of texts.
"use strict";
(() => {
  const page = document.documentElement.dataset;
  const input = document.getElementById("query");
  const list = document.getElementById("found");
  const most = 20;
  let sections = null;
  let loading = null;

  function load() {
    loading ??= new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = page.root + "index.js";
      script.onload = () => {
        sections = window.searchIndex.map(([title, heading, target, text]) => ({
          title, heading, target, text,
          name: (heading || title).toLowerCase(), where: title.toLowerCase(), words: text.toLowerCase(),
        }));
        resolve();
      };
      document.head.append(script);
    });
    return loading;
  }

  const startsWord = (text, word) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
    }
    return false;
  };

  // value is how well a section answers one word, or 0.
  function value(s, word) {
    if (s.name === word) return 60;
    if (startsWord(s.name, word)) return 20;
    if (s.name.includes(word)) return 10;
    if (startsWord(s.where, word)) return 6;
    if (startsWord(s.words, word)) return 2;
    return s.words.includes(word) || s.where.includes(word) ? 1 : 0;
  }

  function find(query) {
    const typed = query.toLowerCase().split(/\s+/).filter(Boolean);
    // A command is looked for with the program's name, which stands everywhere.
    const words = typed.length > 1 ? typed.filter((word) => word !== "talosgen") : typed;
    const found = [];
    for (const s of sections) {
      let sum = s.heading ? 0 : 1;
      for (const word of words) {
        const v = value(s, word);
        if (v === 0) { sum = 0; break; }
        sum += v;
      }
      if (s.name === words.join(" ")) sum += 60;
      if (words.length > 1 && s.words.includes(words.join(" "))) sum += 4;
      if (sum > 0 && words.length > 0) found.push({ s, sum });
    }
    found.sort((a, b) => b.sum - a.sum);
    return { words, found: found.slice(0, most).map((f) => f.s) };
  }

  // marked appends a text to an element, with the words that were searched for marked.
  function marked(element, text, words) {
    const lower = text.toLowerCase();
    for (let at = 0; at < text.length;) {
      let next = text.length, end = next;
      for (const word of words) {
        const found = lower.indexOf(word, at);
        if (found >= 0 && found < next) { next = found; end = found + word.length; }
      }
      element.append(text.slice(at, next));
      if (next < text.length) {
        const mark = document.createElement("mark");
        mark.textContent = text.slice(next, end);
        element.append(mark);
      }
      at = end;
    }
    return element;
  }

  function excerpt(s, words) {
    const at = Math.max(0, Math.min(...words.map((w) => s.words.indexOf(w)).filter((n) => n >= 0)));
    const from = Number.isFinite(at) ? Math.max(0, s.text.lastIndexOf(" ", Math.max(0, at - 40))) : 0;
    const cut = s.text.slice(from, from + 150);
    return (from > 0 ? "…" : "") + cut + (from + 150 < s.text.length ? "…" : "");
  }

  function result(s, words) {
    const link = document.createElement("a");
    link.href = page.root + s.target;
    link.setAttribute("role", "option");
    const name = document.createElement("strong");
    marked(name, s.heading || s.title, words);
    link.append(name);
    if (s.heading) {
      const where = document.createElement("span");
      where.textContent = s.title;
      link.append(" ", where);
    }
    link.append(marked(document.createElement("small"), excerpt(s, words), words));
    link.addEventListener("click", hide);
    return link;
  }

  function hide() {
    list.hidden = true;
    list.replaceChildren();
  }

  async function show() {
    if (!input.value.trim()) { hide(); return; }
    await load();
    const { words, found } = find(input.value);
    list.replaceChildren(...found.map((s) => result(s, words)));
    if (found.length === 0) list.textContent = "Nothing is found. Try fewer words.";
    list.hidden = words.length === 0;
  }

  function move(step) {
    const links = [...list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement) + step;
    (links[at] || input).focus();
  }

  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first) first.click();
  });
  document.getElementById("search").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); move(step); }
    if (event.key === "Escape") { hide(); input.blur(); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); input.focus(); }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#search")) hide();
  });
})();
