package planpage

import (
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/review"
)

// small are the lines of a plan.
func small() []plan.Line {
	w := &plan.Printer{}
	w.Line(0, "dev: 1 to create")
	w.Blank()
	w.Object(0, "+", "server/dev-worker-3")
	w.Line(4, "type      cpx22")
	w.Line(4, "location  hel1")
	w.Blank()
	w.Line(0, "dev, nodes: 1 to remove")
	w.Blank()
	w.Object(0, "-", "node/dev-worker-2  (needs consent)")
	w.Object(0, "-", "node/dev-worker-4")
	w.Line(4, `drain  (<script>alert("a")</script> & more)`)
	w.Blank()
	w.Line(0, "dev, Kubernetes: 1 to change")
	w.Line(0, "provider:")
	w.Object(2, "~", "DaemonSet.apps/kube-system/a")
	w.Line(6, "spec.a: b -> c")
	w.Paragraph("disturbs", []plan.Note{{Text: "1 worker stops"}})
	w.Blank()
	w.Line(0, "cost of a month in EUR, net:")
	w.Line(2, "+%8s (%s)  %s", "0.50", "0.60", "server/dev-worker-3: IPv4 address in hel1")
	w.Line(2, "before 1.00, after 1.50: +0.50")
	return w.Lines()
}

// smallCounts are its counts.
var smallCounts = review.Counts{Add: 1, Change: 1, Destroy: 2, Reboot: 1, NeedConsent: 1, MonthlyCost: "+0.50", Currency: "EUR"}

func TestPage(t *testing.T) {
	objects, more := smallCounts.Parts()
	text := string(view{Title: "Plan of <dev>", Sections: sections(small()), Counts: append(objects, more...)}.page())
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

// TestEverythingIsShown: every line is on the page, in its order, whatever a plan says.
func TestEverythingIsShown(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	signs := []string{"", "", "", "+", "-", "~", "±", ">", "!", "…", "?"}
	words := []string{"", "a", "server/x", "<b>", "a & b", "\"quoted\"", "-> c", "+ 0.50", "Plan: 1 to add"}
	for range 500 {
		w, want := &plan.Printer{}, ""
		for range random.IntN(20) {
			sign, text := signs[random.IntN(len(signs))], words[random.IntN(len(words))]
			w.Object(2*random.IntN(4), sign, "%s", text)
			want += sign + strings.ReplaceAll(text, " ", "")
		}
		_, body, _ := strings.Cut(string(view{Sections: sections(w.Lines())}.page()), "<h1></h1>")
		shown := strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(body, ""))), "")
		if shown != want {
			t.Fatalf("it shows %q of\n%s", shown, w)
		}
	}
}

// TestEmpty: a page is made of a plan of nothing.
func TestEmpty(t *testing.T) {
	if page := string(Write("Plan", review.Review{Cluster: "dev"})); !strings.Contains(page, "<h2>dev: nothing to do</h2>") || strings.Contains(page, `<ul class="counts">`) {
		t.Error(page)
	}
}
