package browser

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// query types into the search box, as people do.
func (p *tab) query(text string) {
	p.Helper()
	p.do(
		chromedp.Evaluate[chromedp.Void](`{ const q = document.getElementById("query"); q.value = ""; q.focus(); }`),
		chromedp.SendKeys(chromedp.CSS("#query"), text),
	)
	p.wait(`document.getElementById("query").value === ` + quoted(text) + ` && !document.getElementById("found").hidden`)
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// TestSearch looks for what people look for, and where they are led.
func TestSearch(t *testing.T) {
	p := open(t)
	p.load("how-to/nodes.html")
	for query, want := range map[string]string{
		"nodes.controlPlane.installDisk":  "reference/cluster/nodes.html#nodescontrolplaneinstalldisk",
		"apiSource":                       "reference/cluster/hetzner.html#hetznerfirewallapisource",
		"rotate a certificate authority":  "how-to/rotate-a-ca.html",
		"talosgen secrets sync":           "reference/commands.html#secrets-sync",
		"  Threat   MODEL ":               "explanation/threat-model.html",
		"exit codes":                      "reference/exit-codes.html",
		"hcloud-k8s":                      "reference/from-hcloud-k8s.html",
		"replace a broken control plane":  "how-to/replace-a-control-plane.html",
		"deterministic":                   "decisions/0001-deterministic-encryption.html",
		"your first cluster":              "tutorial/first-cluster.html",
		"take over what kubectl":          "how-to/take-over.html",
		"what a render costs":             "explanation/cost.html",
		"come from talhelper":             "how-to/come-from-talhelper.html",
		"autoscaler.acknowledgeMetadata":  "reference/cluster/autoscaler.html#autoscaleracknowledgemetadata",
		"addons.<name>.source.chart.name": "reference/cluster/addons.html#addonsnamesourcechartname",
	} {
		p.query(query)
		first := value[string](p, `document.querySelector("#found a")?.href || ""`)
		if !strings.Contains(strings.TrimPrefix(first, p.base), want) {
			t.Errorf("%s: leads to %s, not to %s", query, first, want)
		}
	}
	p.query("zzyzx <script>alert(1)</script>")
	if found := value[string](p, `document.getElementById("found").textContent`); !strings.HasPrefix(found, "Nothing is found") {
		t.Errorf("found %q", found)
	}
	p.silent()
}

// TestSearchLeads takes the first result with the keyboard alone.
func TestSearchLeads(t *testing.T) {
	p := open(t)
	p.load("index.html")
	p.do(chromedp.KeyEvent("/"))
	p.wait(`document.activeElement.id === "query"`)
	p.query("talos.timeServers")
	p.picture("search")
	p.do(chromedp.SendKeys(chromedp.CSS("#query"), "\r"))
	p.wait(`location.pathname.endsWith("/reference/cluster/talos.html") && location.hash === "#talostimeservers"`)
	p.wait(`Math.abs(document.getElementById("talostimeservers").getBoundingClientRect().top - 72) < 12`)
	p.load("index.html")
	p.query("render")
	p.do(chromedp.SendKeys(chromedp.CSS("#query"), "\x1b"))
	p.wait(`document.getElementById("found").hidden`)
	p.silent()
}

// TestEveryPage looks at each page on a telephone: nothing sticks out, nothing
// complains, and nothing is loaded from elsewhere.
func TestEveryPage(t *testing.T) {
	p := open(t)
	p.size(400, 800)
	for _, page := range p.book.Pages {
		p.load(page.Output)
		if wide := value[int](p, `document.documentElement.scrollWidth`); wide > 400 {
			t.Errorf("%s is %d px wide: %s", page.Output, wide, value[string](p, widest))
		}
		if size := value[float64](p, `parseFloat(getComputedStyle(document.querySelector("article")).fontSize)`); size < 15 {
			t.Errorf("%s: letters of %v px", page.Output, size)
		}
		if words := value[int](p, `document.querySelector("article").innerText.length`); words < 100 {
			t.Errorf("%s has %d letters", page.Output, words)
		}
	}
	p.silent()
}

// widest names what sticks out.
const widest = `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 401 && !e.closest("pre, .scroll"))
	.map((e) => e.tagName + " " + e.textContent.slice(0, 60)).slice(0, 3).join("; ")`

// TestMenu opens the list of pages on a telephone.
func TestMenu(t *testing.T) {
	p := open(t)
	p.size(400, 800)
	p.load("how-to/images.html")
	if value[bool](p, `document.getElementById("pages").offsetHeight > 0`) {
		t.Error("the list of pages is shown before it is asked for")
	}
	p.picture("narrow")
	p.do(chromedp.Click(chromedp.CSS("#menu")))
	p.wait(`document.getElementById("pages").offsetHeight > 0 && document.getElementById("menu").getAttribute("aria-expanded") === "true"`)
	p.picture("menu")
	p.silent()
}

// TestThemes looks whether text can be read, light and dark, and whether a choice holds.
func TestThemes(t *testing.T) {
	p := open(t)
	for _, scheme := range []string{"light", "dark"} {
		p.prefer(scheme)
		p.load("how-to/access.html")
		p.readable(scheme)
		p.picture(scheme)
	}
	p.do(chromedp.Click(chromedp.CSS("#theme")))
	p.wait(`document.documentElement.dataset.theme === "light"`)
	p.readable("light")
	p.load("how-to/nodes.html")
	p.readable("light")
	p.silent()
}

// readable fails if the ground is not of a scheme, or text has too little contrast: less
// than WCAG asks for at its middle level.
func (p *tab) readable(scheme string) {
	p.Helper()
	const luminance = `((color) => { const [r, g, b] = color.match(/[\d.]+/g).map((n) => { n /= 255; return n <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4; });
		return 0.2126 * r + 0.7152 * g + 0.0722 * b; })`
	ground := value[float64](p, luminance+`(getComputedStyle(document.body).backgroundColor)`)
	if dark := ground < 0.2; dark != (scheme == "dark") {
		p.Errorf("%s: the ground has the luminance %v", scheme, ground)
	}
	for _, what := range []string{"article p", "article a", "article code", "pre .typed", "pre .key", "nav h2", "aside a", "#query"} {
		ratio := value[float64](p, `(() => { const e = document.querySelector("`+what+`"); if (!e) return 0;
			const text = `+luminance+`(getComputedStyle(e).color); let up = e;
			while (getComputedStyle(up).backgroundColor === "rgba(0, 0, 0, 0)") up = up.parentElement;
			const under = `+luminance+`(getComputedStyle(up).backgroundColor);
			return (Math.max(text, under) + 0.05) / (Math.min(text, under) + 0.05); })()`)
		if ratio < 4.5 {
			p.Errorf("%s: %s has a contrast of %.1f", scheme, what, ratio)
		}
	}
}

// TestVersions goes to the same page of another version.
func TestVersions(t *testing.T) {
	p := open(t)
	p.load("how-to/nodes.html")
	if names := value[string](p, `[...document.querySelectorAll("#version option")].map((o) => o.value).join(" ")`); names != "0.1.0 main" {
		t.Errorf("versions: %s", names)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`{ const v = document.getElementById("version"); v.value = "0.1.0"; v.dispatchEvent(new Event("change")); }`))
	p.wait(`location.pathname === "/0.1.0/how-to/nodes.html" && document.getElementById("version").value === "0.1.0"`)
	p.load("..")
	p.wait(`location.pathname === "/0.1.0/"`)
	p.silent()
}

// TestOldAddresses follows links to options from when the reference was one page.
func TestOldAddresses(t *testing.T) {
	p := open(t)
	for old, now := range map[string]string{
		"#talosversion":                       "cluster/talos.html#talosversion",
		"#nodescontrolplanenodesmatchmac":     "cluster/nodes.html#nodescontrolplanenodesmatchmac",
		"#nodes":                              "cluster.html#nodes",
		"#clustername":                        "cluster.html#clustername",
		"#addonsnamesourcechartrepository":    "cluster/addons.html#addonsnamesourcechartrepository",
		"#hetznerfirewallextrarulessourceips": "cluster/hetzner.html#hetznerfirewallextrarulessourceips",
	} {
		p.load("index.html")
		p.load("reference/cluster.html" + old)
		p.wait(`location.href.endsWith("/reference/` + now + `") && document.readyState === "complete" && document.getElementById(location.hash.slice(1)) !== null`)
	}
	p.silent()
}

// TestFromDisk opens the site without a server, and searches.
func TestFromDisk(t *testing.T) {
	p := open(t)
	p.base = (&url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, "main")) + "/"}).String()
	p.load("explanation/secrets.html")
	p.query("exit codes")
	p.wait(`document.querySelector("#found a").href.endsWith("/main/reference/exit-codes.html")`)
	p.load("reference/cluster/talos.html")
	p.picture("reference")
	p.silent()
}
