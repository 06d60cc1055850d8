// What a page does besides showing text: the theme, the menu of small screens, other
// versions, copying of code, and addresses from before a page was divided.
"use strict";
(() => {
  const page = document.documentElement.dataset;
  const byId = (id) => document.getElementById(id);

  byId("theme").addEventListener("click", () => {
    window.siteTheme.set(window.siteTheme.shown() === "dark" ? "light" : "dark");
  });

  const menu = byId("menu");
  menu.addEventListener("click", () => {
    const open = document.body.classList.toggle("menu");
    menu.setAttribute("aria-expanded", String(open));
  });

  const current = document.querySelector("nav [aria-current]");
  const pages = byId("pages");
  if (current) pages.scrollTop = current.offsetTop - pages.offsetTop - pages.clientHeight / 2;

  // Without the list, which only a folder with several versions has, there is one.
  const select = byId("version");
  const versions = window.siteVersions || [];
  if (versions.length > 0) {
    select.replaceChildren(...versions.map((v) => new Option(v.name, v.name, false, v.name === page.version)));
  }
  select.disabled = versions.length < 2;
  select.addEventListener("change", () => {
    const to = versions.find((v) => v.name === select.value);
    const file = to.pages.includes(page.page) ? page.page : "index.html";
    location.href = page.root + "../" + encodeURIComponent(to.name) + "/" + file;
  });

  for (const block of document.querySelectorAll(".code")) {
    const pre = block.querySelector("pre");
    const typed = [...pre.querySelectorAll(".typed")].map((line) => line.textContent.slice(2));
    const button = document.createElement("button");
    button.className = "copy plain";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed.length > 0 ? typed.join("\n") : pre.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    if (navigator.clipboard && (pre.dataset.language !== "console" || typed.length > 0)) block.append(button);
  }

  // The reference of cluster.yaml was one page: its addresses lead to the section's.
  const wanted = location.hash.slice(1);
  if (page.page === "reference/cluster.html" && wanted && !byId(wanted)) {
    for (const link of document.querySelectorAll('article a[href*="/cluster/"]')) {
      const [file, anchor] = link.getAttribute("href").split("#");
      if (anchor && (wanted === anchor || wanted.startsWith(anchor))) {
        location.replace(file + "#" + wanted);
        break;
      }
    }
  }
})();
