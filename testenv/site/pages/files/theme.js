// Light or dark, as the reader chose it, before anything is drawn. Without a choice it
// is what the system says.
"use strict";
window.siteTheme = {
  get() {
    try { return localStorage.getItem("theme"); } catch { return null; }
  },
  set(theme) {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* it holds for this page */ }
  },
  shown() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return document.documentElement.dataset.theme || (dark ? "dark" : "light");
  },
};
if (["light", "dark"].includes(window.siteTheme.get())) window.siteTheme.set(window.siteTheme.get());
