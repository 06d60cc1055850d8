package kubeenv

import (
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/internal/quiet"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// within is how long a test waits for what takes a second or two, on a machine
// that does much else.
const within = time.Minute

// TestReadyInTime holds the API server to the time that was promised. In a run
// of all tests there is no verdict, as other packages are at work; .ci/run has
// a step for it.
func TestReadyInTime(t *testing.T) {
	toolenv.Folder(t, "kube")

	quiet.Within(t, 10*time.Second, func() (took time.Duration) {
		t.Run("start", func(t *testing.T) { took = Start(t, Own(), WithoutControllerManager()).took })
		return took
	})
}

// TestControlPlane wants the real thing: the version that was asked for, with
// controllers that do their work.
func TestControlPlane(t *testing.T) {
	c := Start(t, WithFlux())
	t.Logf("the API server was ready after %s", c.took.Round(100*time.Millisecond))

	if _, version := c.Do(t, http.MethodGet, "/version", "", nil); version.Text("gitVersion") != "v1.36.4" {
		t.Errorf("the version is %v", version)
	}

	namespace := "{apiVersion: v1, kind: Namespace, metadata: {name: passing}}"
	c.Apply(t, "test", false, namespace)
	c.WaitFor(t, "/api/v1/namespaces/passing/serviceaccounts/default", Exists, within)

	path := c.Path(t, namespace)
	c.Delete(t, path)
	c.WaitFor(t, path, Gone, within)
}

// TestOnce starts the package's cluster once.
func TestOnce(t *testing.T) {
	first := Start(t, WithFlux())
	if second := Start(t, WithFlux()); second != first {
		t.Errorf("two clusters with the same options, at %s and %s", first.URL, second.URL)
	}
}

func TestApply(t *testing.T) {
	c := Start(t, WithFlux())
	document := func(name, value string) string {
		return "---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {key: " + value + "}\n"
	}

	applied := c.Apply(t, "one", false, document("apply-1", "a")+document("apply-2", "b"), document("apply-3", "c"))
	if len(applied) != 3 || applied[2].Text("data", "key") != "c" {
		t.Fatalf("applied %v", applied)
	}

	path := c.Path(t, document("apply-1", ""))
	if want := "/api/v1/namespaces/default/configmaps/apply-1"; path != want {
		t.Errorf("path %s, want %s", path, want)
	}

	if got := c.Get(t, path); got.Version() != applied[0].Version() || !slices.Equal(got.Managers(), []string{"one Apply"}) {
		t.Errorf("the object is at %s, managed by %q", got.Version(), got.Managers())
	}

	status, answer := c.Do(t, http.MethodPatch, path+applyQuery("two", false), applyPatch, Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": Object{"name": "apply-1"}, "data": Object{"key": "z"},
	})
	if status != http.StatusConflict || !strings.Contains(answer.Text("message"), `conflict with "one"`) {
		t.Errorf("applied what another manager owns: %d %s", status, answer.Text("message"))
	}

	// Who lost all of its fields is no manager any more.
	c.Apply(t, "two", true, document("apply-1", "z"))
	c.Patch(t, path, MergePatch, Object{"data": Object{"more": "m"}})
	c.Patch(t, path, JSONPatch, []Object{{"op": "add", "path": "/data/other", "value": "o"}})

	got := c.WaitFor(t, path, func(o Object) bool { return o.Text("data", "other") == "o" }, within)
	if want := []string{"kubeenv Update", "two Apply"}; !slices.Equal(got.Managers(), want) {
		t.Errorf("managers %q, want %q", got.Managers(), want)
	}

	c.Delete(t, path)
	c.WaitFor(t, path, Gone, within)
}

// TestOwn starts a second cluster beside the package's own, without what it
// does not need, and looks for what it leaves.
func TestOwn(t *testing.T) {
	t.Parallel()

	var dir string

	t.Run("lives", func(t *testing.T) {
		c := Start(t, Own(), WithoutControllerManager())
		dir = c.instance.dir

		if other := Start(t, WithFlux()); other.URL == c.URL || other.instance.dir == dir {
			t.Errorf("two clusters at %s in %s", c.URL, dir)
		}

		c.Apply(t, "test", false, "{apiVersion: v1, kind: Namespace, metadata: {name: own}}")

		if got := c.Get(t, "/api/v1/namespaces/own/serviceaccounts/default"); got != nil {
			t.Errorf("there are controllers: %v", got)
		}
	})

	if _, err := os.Stat(dir); dir != "" && !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

// recorder is a test that notes how it ended.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any)  { r.finish("skip", format) }
func (r *recorder) Fatalf(format string, args ...any) { r.finish("fail", format) }

func (r *recorder) finish(how, _ string) {
	r.end = how
	runtime.Goexit()
}

// TestMissing starts without the bed.
func TestMissing(t *testing.T) {
	t.Setenv(cache.Variable, t.TempDir())

	for required, want := range map[string]string{"": "skip", "1": "fail"} {
		t.Setenv(toolenv.Require, required)

		r := &recorder{}
		done := make(chan struct{})

		go func() {
			defer close(done)
			Start(r)
		}()
		<-done

		if r.end != want {
			t.Errorf("%s=%s: %q, want %q", toolenv.Require, required, r.end, want)
		}
	}
}

// TestSharedNeedsRun refuses what nobody would end.
func TestSharedNeedsRun(t *testing.T) {
	var p pool

	if _, err := p.get(config{}, "", ""); err == nil || !strings.Contains(err.Error(), "TestMain") {
		t.Errorf("error %v, want one that asks for TestMain", err)
	}
}

// TestBrokenProgram starts a cluster whose API server gives up.
func TestBrokenProgram(t *testing.T) {
	programs, root := t.TempDir(), t.TempDir()

	for name, script := range map[string]string{
		"etcd":           "#!/bin/sh\nexec cat\n",
		"kube-apiserver": "#!/bin/sh\necho no luck today\nexit 1\n",
	} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	_, err := start(config{}, programs, root)
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver has ended\nno luck today\nthe logs of the cluster are in "+root) {
		t.Fatalf("error %v", err)
	}

	kept, err := filepath.Glob(filepath.Join(root, "run", "failed-*", "kube-apiserver.log"))
	if err != nil || len(kept) != 1 {
		t.Errorf("kept logs %q (%v)", kept, err)
	}

	left, err := filepath.Glob(filepath.Join(root, "run", "kube-?????"))
	if err != nil || len(left) != 0 {
		t.Errorf("left %q (%v)", left, err)
	}
}
