package nodeconfig_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/casetest"
)

// Each case holds what a node has, what Git has, the versions that run (if it
// matters), and then what differs and what is sent.
func TestCompare(t *testing.T) {
	casetest.Run(t, "testdata/compare/*.txtar", []string{"difference", "send"}, func(t *testing.T, c casetest.Case) map[string]string {
		difference, send := compareCase(t, c.Texts)
		return map[string]string{"difference": difference, "send": send}
	})
}

// compareCase compares, and checks what is true of each comparison: what was
// sent and taken leaves nothing to send, and nothing else is held then.
func compareCase(t *testing.T, in map[string]string) (diff, send string) {
	t.Helper()
	active, desired := parse(t, in["active"]), parse(t, in["desired"])
	var running nodeconfig.Running
	_, _ = fmt.Sscan(in["running"], &running.Talos, &running.Kubernetes, &running.Node)
	d, err := nodeconfig.Compare(active, desired, running)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Send.IsZero() {
		again, err := nodeconfig.Compare(parse(t, d.Send.Reveal()), desired, running)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Changes) > 0 {
			t.Errorf("taken and compared again, there is still: %v", again.Changes)
		}
	}
	if sends := d.Class() != "" && d.Class() != nodeconfig.Refused; sends == d.Send.IsZero() {
		t.Errorf("class %q, but something is sent: %v", d.Class(), sends)
	}
	return describe(d), d.Send.Reveal()
}

func describe(d *nodeconfig.Difference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class: %s\n", d.Class())
	for _, c := range d.Changes {
		fmt.Fprintf(&b, "%s (%s)\n", c, strings.TrimSuffix(string(c.Class)+": "+c.Reason, ": "))
	}
	for _, c := range d.Held {
		fmt.Fprintf(&b, "held: %s (%s: %s)\n", c, c.Class, c.Reason)
	}
	return b.String()
}

func parse(t *testing.T, text string) *nodeconfig.Config {
	t.Helper()
	c, err := nodeconfig.Parse("the configuration of cp-1", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":      {"", "it is empty"},
		"no YAML":      {"machine: {SECRETCANARY", "document 1: it is not YAML"},
		"no mapping":   {"SECRETCANARY\n", "document 1: it is not a mapping"},
		"alias":        {"a: &x SECRETCANARY\nb: *x\n", "document 1: it has an alias in line 2"},
		"missing":      {"b: *SECRETCANARY\n", "document 1: it is not YAML"},
		"key twice":    {"SECRETCANARY: 1\nSECRETCANARY: 2\n", "document 1: "},
		"two the same": {"machine: {}\n---\nkind: A\nname: x\n---\nkind: A\nname: x\n", "there are two documents A/x"},
		"odd key":      {"[SECRETCANARY]: 1\n", "document 1: it has a key that is not a text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := nodeconfig.Parse("node cp-1", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "node cp-1") {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "CANARY") {
				t.Errorf("the error quotes the text: %v", err)
			}
		})
	}
}

// A new node in a cluster that is not upgraded yet gets what runs.
func TestPin(t *testing.T) {
	text := `version: v1alpha1
machine:
    install:
        image: factory.talos.dev/hcloud-installer/abc:v1.14.1 # by cluster.yaml
    kubelet:
        image: "ghcr.io/siderolabs/kubelet:v1.37.0"
cluster:
    coreDNS:
        image: registry.k8s.io/coredns/coredns:v1.13.1
`
	running := nodeconfig.Running{Talos: "v1.13.5", Kubernetes: "1.35.0"}
	send, held, err := nodeconfig.Pin(parse(t, text), running)
	if err != nil || len(held) != 2 {
		t.Fatal(held, err)
	}
	want := strings.NewReplacer("v1.14.1", "v1.13.5", "v1.37.0", "v1.35.0").Replace(text)
	if send.Reveal() != want {
		t.Errorf("got:\n%s\nwant:\n%s", send.Reveal(), want)
	}
	if send, held, err := nodeconfig.Pin(parse(t, text), nodeconfig.Running{}); err != nil || len(held) != 0 || send.Reveal() != text {
		t.Errorf("with nothing running: %v %v\n%s", held, err, send.Reveal())
	}
	documents := text + "---\napiVersion: v1alpha1\nkind: KubeClusterConfig\nclusterName: x\n"
	digest := strings.Replace(documents, ":v1.37.0", ":v1.37.0@sha256:12", 1)
	_, _, err = nodeconfig.Pin(parse(t, digest), running)
	for _, want := range []string{"cannot read a configuration with documents of Talos 1.14", "an image with a digest"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Of a whole rendered file, only the lines that are held are not sent as Git
// has them: comments and layout stay.
func TestSendsGitsText(t *testing.T) {
	files, err := filepath.Glob("../../../../rendered/*/nodes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		git := string(text)
		held := regexp.MustCompile(`(?m)^( *image: (?:ghcr\.io/siderolabs/kubelet|registry\.k8s\.io/kube-apiserver|factory\S+):)\S+$`)
		want := held.ReplaceAllString(git, "${1}v1.2.3")
		if want == git {
			t.Fatalf("%s has no versions", file)
		}
		// What has to be sent is that the node does not debug.
		active := strings.Replace(want, "\ndebug: false\n", "\ndebug: true\n", 1)
		d, err := nodeconfig.Compare(parse(t, active), parse(t, git), nodeconfig.Running{})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Changes) != 1 || d.Class() != nodeconfig.NoReboot || d.Send.Reveal() != want {
			t.Errorf("%s: %s", file, describe(d))
		}
	}
}
