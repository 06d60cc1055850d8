package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/faultgrammar"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultmachine"
)

// The parts of the page that are written from what was seen begin and end so.
const (
	adviceBegin = "<!-- advice: written by go test ./apply -run TestEachFault -update-faults -->\n"
	callsBegin  = "<!-- calls: written by go test ./apply -run TestEachFault -update-faults -->\n"
	faultsEnd   = "<!-- end -->\n"
	// or is between what may be seen.
	or = "; or "
)

// page is a page with the tables in the place of those that it has.
func (ft faultTable) page(old string) string {
	return between(between(old, adviceBegin, ft.adviceTable()), callsBegin, ft.callTable())
}

// between replaces what is between a mark and the next end.
func between(text, begin, by string) string {
	head, rest, _ := strings.Cut(text, begin)
	_, tail, _ := strings.Cut(rest, faultsEnd)
	return head + begin + by + faultsEnd + tail
}

// section is what is between a mark and the next end.
func section(text, begin string) string {
	_, rest, _ := strings.Cut(text, begin)
	found, _, _ := strings.Cut(rest, faultsEnd)
	return found
}

// callTable has for each call a row for each outcome, with the faults that lead to it.
func (ft faultTable) callTable() string {
	rows := map[[2]string][]string{} // kinds by call and outcome
	for cell, outcomes := range ft {
		at := [2]string{cell.call, joined(outcomes, func(o faultOutcome) string { return o.seen })}
		rows[at] = append(rows[at], cell.kind)
	}
	var b strings.Builder
	kind := ""
	for _, at := range slices.SortedFunc(maps.Keys(rows), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(pathOf(a[0]), pathOf(b[0])), strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
	}) {
		if of, _, _ := strings.Cut(pathOf(at[0])[1:], "/"); of != kind {
			kind = of
			fmt.Fprintf(&b, "\n### Calls about %s\n\n| call | fault | what is seen |\n|---|---|---|\n", strings.NewReplacer("_", " ", "ips", "IPs", "ssh", "SSH").Replace(kind))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", at[0], strings.Join(ordered(rows[at]), ", "), at[1])
	}
	return b.String() + "\n"
}

// pathOf is the path of a call.
func pathOf(call string) string {
	_, path, _ := strings.Cut(call, " ")
	return path
}

// adviceTable has for each fault that can end a run what is advised then, in the order
// of the faults.
func (ft faultTable) adviceTable() string {
	byKind := map[string][]faultOutcome{}
	for cell, outcomes := range ft {
		byKind[cell.kind] = append(byKind[cell.kind], outcomes...)
	}
	rows := map[string][]string{}
	for kind, outcomes := range byKind {
		if advice := joined(outcomes, func(o faultOutcome) string { return o.advice }); advice != "" {
			rows[advice] = append(rows[advice], kind)
		}
	}
	var b strings.Builder
	b.WriteString("\n| fault | what is advised |\n|---|---|\n")
	for _, advice := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		return cmp.Compare(place(ordered(rows[a])[0]), place(ordered(rows[b])[0]))
	}) {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(rows[advice], ", "), advice)
	}
	return b.String() + "\n"
}

// joined are texts of outcomes, each once.
func joined(outcomes []faultOutcome, text func(faultOutcome) string) string {
	var texts []string
	for _, o := range outcomes {
		if t := text(o); t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, or)
}

// ordered are kinds of faults in the order of the documentation.
func ordered(kinds []string) []string {
	slices.SortFunc(kinds, func(a, b string) int { return place(a) - place(b) })
	return kinds
}

// place is where a kind of fault comes in the documentation.
func place(kind string) int {
	return slices.IndexFunc(faultmachine.Grammar(), func(k faultmachine.Kind) bool { return k.Name == kind })
}

// missing is what was seen and is not in the tables of a page.
func (ft faultTable) missing(page string) (missing []string) {
	calls, advised := map[faultCell][]string{}, map[string][]string{}
	for _, row := range rows(section(page, callsBegin), 3) {
		for kind := range strings.SplitSeq(row[1], ", ") {
			calls[faultCell{strings.Trim(row[0], "`"), kind}] = strings.Split(row[2], or)
		}
	}
	for _, row := range rows(section(page, adviceBegin), 2) {
		for kind := range strings.SplitSeq(row[0], ", ") {
			advised[kind] = strings.Split(row[1], or)
		}
	}
	for cell, outcomes := range ft {
		for _, o := range outcomes {
			if !slices.Contains(calls[cell], o.seen) {
				missing = append(missing, fmt.Sprintf("%s, %s: %q", cell.call, cell.kind, o.seen))
			}
			if o.advice != "" && !slices.Contains(advised[cell.kind], o.advice) {
				missing = append(missing, fmt.Sprintf("%s, %s: the advice %q", cell.call, cell.kind, o.advice))
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// rows are those of a table with some columns.
func rows(table string, columns int) (all [][]string) {
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if len(cells) == columns {
			all = append(all, cells)
		}
	}
	return all
}

// TestFaultPage: tables that were written are read, and what is not in them is missed.
func TestFaultPage(t *testing.T) {
	table := faultTable{}
	for _, f := range []struct {
		call, kind string
		faultOutcome
	}{
		{"POST /servers", "answer lost", faultOutcome{looksAgain, ""}},
		{"POST /servers", "answer cut", faultOutcome{looksAgain, ""}},
		{"POST /servers", "403 forbidden", faultOutcome{"exit 4: server ...: create", "get another token"}},
		{"POST /servers", "403 forbidden", faultOutcome{triesAgain, ""}},
		{"GET /servers", "403 forbidden", faultOutcome{"exit 4: servers: read", "get another token"}},
	} {
		table.note(faultgrammar.Fault{Operation: f.call, Kind: f.kind}, f.faultOutcome)
	}
	page := table.page("# A page\n\n" + adviceBegin + "old\n" + faultsEnd + "\nThen\n\n" + callsBegin + faultsEnd + "The end.\n")
	for _, want := range []string{
		"| 403 forbidden | get another token |\n", "| `POST /servers` | answer lost, answer cut | looks again |\n",
		"| `POST /servers` | 403 forbidden | exit 4: server ...: create; or tries again |\n", "\nThen\n", "The end.\n",
	} {
		if strings.Count(page, want) != 1 {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if again := table.page(page); again != page || strings.Contains(page, "old") {
		t.Errorf("again:\n%s", again)
	}
	if missing := table.missing(page); len(missing) > 0 {
		t.Errorf("missing: %q", missing)
	}
	table.note(faultgrammar.Fault{Operation: "POST /servers", Kind: "answer cut"}, faultOutcome{"exit 5: lost", "look"})
	table.note(faultgrammar.Fault{Operation: "GET /servers", Kind: "slow"}, faultOutcome{goesOn, ""})
	if missing := table.missing(page); len(missing) != 3 {
		t.Errorf("missing: %q", missing)
	}
}
