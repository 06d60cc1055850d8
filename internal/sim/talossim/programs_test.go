package talossim_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// programs are those of a machine, as kube-apiserver=v1.36.3 or kubelet=(v1.36.3), which
// is not ready.
func (w *world) programs(name string) string {
	all := w.fleet.Machine(name).Programs()
	var texts []string
	for _, program := range slices.Sorted(maps.Keys(all)) {
		version := all[program].Version()
		if !all[program].Ready {
			version = "(" + version + ")"
		}
		texts = append(texts, program+"="+version)
	}
	return strings.Join(texts, " ")
}

// versioned is the configuration of a control plane with a kubelet and an API server.
func (w *world) versioned(name, kubelet, server string) string {
	image := func(program, version string) string {
		return fmt.Sprintf("{image: \"registry.k8s.io/%s:%s\"}", program, version)
	}
	text := w.cluster.ControlPlane(name, "  kubelet: "+image("kubelet", kubelet))
	return text + "  apiServer: " + image("kube-apiserver", server) + "\n  controllerManager: " + image("kube-controller-manager", "v1.36.3") + "\n  scheduler: " + image("kube-scheduler", "v1.36.3") + "\n"
}

func (w *world) configure(name, config string) {
	w.must(w.admin(name).ApplyConfiguration(w.t.Context(), &machine.ApplyConfigurationRequest{Data: []byte(config), Mode: machine.ApplyConfigurationRequest_NO_REBOOT}))
}

// TestPrograms: programs follow the configuration after a while, and not before.
func TestPrograms(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1", "cp-2")
	for _, name := range []string{"cp-1", "cp-2"} {
		w.configure(name, w.versioned(name, "v1.36.3", "v1.36.3"))
	}
	w.pass(long)
	const rest = " kube-controller-manager=v1.36.3 kube-scheduler=v1.36.3"
	expect(t, "before", w.programs("cp-1"), "kube-apiserver=v1.36.3"+rest+" kubelet=v1.36.3")
	w.configure("cp-1", w.versioned("cp-1", "v1.37.1", "v1.37.1"))
	for _, c := range []struct {
		after        time.Duration
		server, kube string
	}{
		{time.Second, "v1.36.3", "v1.36.3"}, {2 * time.Second, "(v1.37.1)", "(v1.36.3)"}, {11 * time.Second, "v1.37.1", "v1.37.1"},
	} {
		w.pass(c.after)
		expect(t, "after "+c.after.String(), w.programs("cp-1"), "kube-apiserver="+c.server+rest+" kubelet="+c.kube)
		pod := w.fleet.Kubernetes("cp-2").See("Pod", "kube-system", "kube-apiserver-cp-1")
		ready := fmt.Sprint(pod["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)["status"] == "True")
		expect(t, "its pod is ready", ready, fmt.Sprint(!strings.HasPrefix(c.server, "(")))
	}
	if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "cp-1: a kubelet v1.37.1 beside an API server of 1.36") {
		t.Errorf("violations %q", v)
	}
	w.fleet.Machine("cp-2").Crash("v1.38.0")
	w.configure("cp-2", w.versioned("cp-2", "v1.36.3", "v1.38.0"))
	w.pass(long)
	expect(t, "it crashes", w.programs("cp-2"), "kube-apiserver=(v1.38.0)"+rest+" kubelet=v1.36.3")
	w.fleet.Machine("cp-2").Mend()
	w.pass(long)
	expect(t, "mended", w.programs("cp-2"), "kube-apiserver=v1.38.0"+rest+" kubelet=v1.36.3")
	w.configure("cp-1", w.versioned("cp-1", "v1.36.3", "v1.36.3"))
	w.pass(long)
	if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "API servers of 1.36 and 1.38") {
		t.Errorf("violations %q", v)
	}
}

// TestUnreadableDocuments: a Talos before 1.14 does not take its documents.
func TestUnreadableDocuments(t *testing.T) {
	for talos, code := range map[string]codes.Code{"v1.13.9": codes.InvalidArgument, "v1.14.1": codes.OK} {
		w, m := upgraded(t, talossim.Spec{Talos: talos})
		config := m.Config() + "---\napiVersion: v1alpha1\nkind: KubeletConfig\nimage: registry.k8s.io/kubelet:v1.36.3\n"
		_, err := w.admin("cp-1").ApplyConfiguration(t.Context(), &machine.ApplyConfigurationRequest{Data: []byte(config), Mode: machine.ApplyConfigurationRequest_NO_REBOOT})
		w.expectCode(talos, err, code)
	}
}
