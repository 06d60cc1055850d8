package planpage

import (
	"html"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const small = `dev: 1 to create

+ server/dev-worker-3
    type      cpx22
    location  hel1

dev, nodes: 1 to remove

- node/dev-worker-2  (needs consent)
- node/dev-worker-4
    drain  (<script>alert("a")</script> & more)

dev, Kubernetes: 1 to change
provider:
  ~ DaemonSet.apps/kube-system/a
      spec.a: b -> c

disturbs:
  1 worker stops

cost of a month in EUR, net:
  +    0.50 (0.60)  server/dev-worker-3: IPv4 address in hel1
  before 1.00, after 1.50: +0.50

Plan: 1 to add, 1 to change in place, 0 to replace, 2 to destroy; 1 node reboots; 1 needs consent; +0.50 EUR/month
`

func TestPage(t *testing.T) {
	text := string(Write("Plan of <dev>", small))
	_, body, _ := strings.Cut(text, "<body>\n")
	const want = `<h1>Plan of &lt;dev&gt;</h1>
<ul class="counts">
<li class="add">1 to add</li>
<li class="change">1 to change in place</li>
<li class="none">0 to replace</li>
<li class="destroy">2 to destroy</li>
<li class="more">1 node reboots</li>
<li class="refused">1 needs consent</li>
<li class="more">&#43;0.50 EUR/month</li>
</ul>
<section>
<h2>dev: 1 to create</h2>
<details class="add"><summary>&#43; server/dev-worker-3</summary><pre>
    type      cpx22
    location  hel1</pre></details>
</section>
<section>
<h2>dev, nodes: 1 to remove</h2>
<div class="object destroy">- node/dev-worker-2  (needs consent)</div>
<details class="destroy" open><summary>- node/dev-worker-4</summary><pre>
    drain  (&lt;script&gt;alert(&#34;a&#34;)&lt;/script&gt; &amp; more)</pre></details>
</section>
<section>
<h2>dev, Kubernetes: 1 to change</h2>
</section>
<section>
<h2>provider:</h2>
<details class="change" open><summary>~ DaemonSet.apps/kube-system/a</summary><pre>
      spec.a: b -&gt; c</pre></details>
</section>
<section>
<h2>disturbs:</h2>
<pre>
  1 worker stops</pre>
</section>
<section>
<h2>cost of a month in EUR, net:</h2>
<pre>
  &#43;    0.50 (0.60)  server/dev-worker-3: IPv4 address in hel1
  before 1.00, after 1.50: &#43;0.50</pre>
</section>
</body>
</html>
`
	if body != want {
		t.Errorf("it is\n%s\nwant\n%s", body, want)
	}
	for _, no := range []string{"<script", "http:", "https:", "src=", "url(", "@import"} {
		if strings.Contains(text, no) {
			t.Errorf("the page has %s", no)
		}
	}
}

var tag = regexp.MustCompile(`<[^>]*>`)

// TestEverythingIsShown: of real plans every line is on the page, in its order, but for
// the last one, which is first.
func TestEverythingIsShown(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/script/plan-changes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	plans := regexp.MustCompile(`(?m)^-- want/(\S+) --$`).Split(string(data), -1)[1:]
	const least = 15
	if len(plans) < least {
		t.Fatalf("only %d plans were found", len(plans))
	}
	for _, text := range plans {
		_, body, _ := strings.Cut(string(Write("Plan", text)), "<body>")
		var shown []string
		for line := range strings.Lines(html.UnescapeString(tag.ReplaceAllString(body, ""))) {
			if words := strings.Join(strings.Fields(line), " "); words != "" {
				shown = append(shown, words)
			}
		}
		at := 0
		for line := range strings.Lines(text) {
			words := strings.Join(strings.Fields(line), " ")
			if words == "" || strings.HasPrefix(words, "Plan: ") {
				continue
			}
			next := slices.Index(shown[at:], words)
			if next < 0 {
				t.Errorf("%q is not shown in\n%s", words, text)
				break
			}
			at += next + 1
		}
		if _, last, ok := strings.Cut(text, "Plan: "); ok {
			for _, part := range regexp.MustCompile(`[^;\n]+`).FindAllString(last, -1) {
				if first, _, _ := strings.Cut(strings.TrimSpace(part), ", "); !slices.Contains(shown, first) && !slices.Contains(shown, strings.TrimSpace(part)) {
					t.Errorf("%q is not shown in\n%s", part, text)
				}
			}
		}
	}
}

// TestOddTexts: a page is made of any text.
func TestOddTexts(t *testing.T) {
	for _, text := range []string{"", "\n\n", "  indented\n", "+ a", "Plan: ", "Plan: 1 to add", "dev: nothing to do"} {
		if page := string(Write("", text)); !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%q: %s", text, page)
		}
	}
}
