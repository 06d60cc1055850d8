package nodeconfig_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/casetest"
)

const canary = "CANARY"

// Nothing of a secret is in a difference: not by its place, not by its mark,
// not where its value stands in another place as well.
func TestSecretsAreMasked(t *testing.T) {
	for name, c := range map[string]struct{ active, desired, shows string }{
		"by place":         {"machine: {token: 1CANARY1}", "machine: {token: 2CANARY2}", "****** -> ******"},
		"by place, gone":   {"machine: {token: 1CANARY1, a: 1}", "machine: {a: 1}", "machine.token: ******"},
		"by mark":          {"machine: {sysctls: {a: b}}", "machine:\n  sysctls:\n    a: 2CANARY2 # secret\n", "****** -> ******"},
		"a list by mark":   {"machine: {}", "machine:\n  sysctls: # secret\n    - CANARY\n    - a\n", "+ v1alpha1 machine.sysctls[0]: ******"},
		"lines by mark":    {"machine: {}", "machine:\n  x: | # secret\n    one CANARY\n    two\n", "machine.x: ******"},
		"by old mark":      {"machine:\n  sysctls:\n    a: 1CANARY1 # secret\n", "machine: {sysctls: {a: plain}}", "****** -> plain"},
		"free text":        {"machine: {env: {P: 1CANARY1}}", "machine: {env: {P: plain}}", "****** -> plain"},
		"another place":    {"machine: {token: CANARY-IS-IT}", "machine: {token: CANARY-IS-IT, sysctls: {a: url-CANARY-IS-IT-end}}", "url-******-end"},
		"in base64":        {"machine: {token: CANARY-IS-IT}", "machine: {token: CANARY-IS-IT, sysctls: {a: Q0FOQVJZLUlTLUlU}}", "machine.sysctls.a: ******"},
		"in a key":         {"machine: {token: CANARY-IS-IT}", "machine: {token: CANARY-IS-IT, sysctls: {CANARY-IS-IT: a}}", "+ v1alpha1 machine.sysctls."},
		"in a name":        {"machine: {token: CANARY-IS-IT}", "machine: {token: CANARY-IS-IT}\n---\nkind: A\nname: CANARY-IS-IT # secret\n", "+ A/******"},
		"unknown document": {"machine: {}", "machine: {}\n---\nkind: NewConfig\nauth: {password: CANARY}\n", "NewConfig auth.password: ******"},
		"held":             {"machine: {systemDiskEncryption: {state: {keys: [{static: {passphrase: CANARY}}]}}}", "machine: {}", "held: - v1alpha1"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := nodeconfig.Compare(parse(t, c.active), parse(t, c.desired), nodeconfig.Running{})
			if err != nil {
				t.Fatal(err)
			}
			got := describe(d)
			if strings.Contains(got, canary) || strings.Contains(got, "Q0FOQVJZ") || !strings.Contains(got, c.shows) {
				t.Errorf("got:\n%s\nwant %s", got, c.shows)
			}
			if printed := fmt.Sprintf("%v %+v %#v %s", d, *d, d, parse(t, c.active)); strings.Contains(printed, canary) {
				t.Errorf("printed: %s", printed)
			}
		})
	}
}

// What stands readable in Git is not masked, also if it is a secret somewhere
// else; nor is a word.
func TestReadableIsShown(t *testing.T) {
	for _, value := range []string{"acme-staging-1", "kubernetes"} {
		active := "machine: {token: " + value + ", network: {hostname: node-1}, sysctls: {a: b}}"
		desired := "machine: {token: " + value + ", network: {hostname: " + value + "}, sysctls: {a: of-" + value + "}}"
		d, err := nodeconfig.Compare(parse(t, active), parse(t, desired), nodeconfig.Running{})
		if err != nil || !strings.Contains(describe(d), "b -> of-"+value) {
			t.Error(describe(d), err)
		}
	}
}

// A node that says of each certain secret that it is one is believed about the
// rest: what it has in free text can be shown.
func TestFreeTextOfMarkedNode(t *testing.T) {
	active := "machine:\n  token: abcdefgh # secret\n  env:\n    P: old\n"
	desired := "machine:\n  token: abcdefgh # secret\n  env:\n    P: new\n"
	d, err := nodeconfig.Compare(parse(t, active), parse(t, desired), nodeconfig.Running{})
	if err != nil || !strings.Contains(describe(d), "env.P: old -> new") {
		t.Error(describe(d), err)
	}
}

// The files that a render writes mark their secrets in a way that is read here:
// their encrypted values stand for the secrets.
func TestRenderedFilesAreMasked(t *testing.T) {
	files, err := filepath.Glob("../../../../rendered/*/nodes/*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	var configs []*nodeconfig.Config
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := nodeconfig.Parse(file, text)
		if err != nil {
			t.Fatal(err)
		}
		configs = append(configs, c)
	}
	empty, changes := parse(t, "version: v1alpha1\n---\nkind: KubeClusterConfig\n"), 0
	for _, desired := range configs {
		for _, active := range append(configs, empty) {
			d, err := nodeconfig.Compare(active, desired, nodeconfig.Running{})
			if err != nil {
				t.Fatal(err)
			}
			changes += len(d.Changes)
			for _, c := range append(d.Changes, d.Held...) {
				if strings.Contains(c.String(), "ENC[") && !strings.HasPrefix(c.Path, "sops.") {
					t.Errorf("%s", c)
				}
			}
		}
	}
	if changes == 0 {
		t.Error("nothing differs")
	}
}

// Whatever becomes of whatever: each comparison leads to a configuration that
// has no more to send, and no secret of either is in what it says.
func TestAnyToAny(t *testing.T) {
	var texts []string
	for _, c := range casetest.Cases(t, "testdata/compare/*.txtar") {
		texts = append(texts, c.Texts["active"], c.Texts["desired"])
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		in := map[string]string{"active": mutate(random, texts), "desired": mutate(random, texts)}
		diff, _ := compareCase(t, in)
		for _, s := range []string{"token0123456789", "MACHINEKEY", "CLUSTERSECRET", "ETCDKEY", "OLDPASSPHRASE", "ONEONEONE", "TWOTWOTWO"} {
			if strings.Contains(diff, s) {
				t.Fatalf("%s is in\n%s\n%s\n%s", s, diff, in["active"], in["desired"])
			}
		}
		if t.Failed() {
			t.Fatalf("of\n%s\nto\n%s\n%s", in["active"], in["desired"], diff)
		}
	}
}

// mutate takes one of some texts, without a random line if what is left can be
// read.
func mutate(random *rand.Rand, texts []string) string {
	text := texts[random.IntN(len(texts))]
	lines := strings.SplitAfter(text, "\n")
	for range random.IntN(3) {
		i := random.IntN(len(lines))
		shorter := strings.Join(lines[:i], "") + strings.Join(lines[min(i+1, len(lines)):], "")
		if _, err := nodeconfig.Parse("x", []byte(shorter)); err == nil {
			text, lines = shorter, strings.SplitAfter(shorter, "\n")
		}
	}
	return text
}
