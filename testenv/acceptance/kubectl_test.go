//go:build linux

package acceptance

import (
	"os"
	"os/exec"
	"strings"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// kubectlWorks does with kubectl what somebody does with a new cluster: look at
// its nodes, ask what one may do, make something and remove it.
func (u *user) kubectlWorks(kubeconfig string) {
	u.t.Helper()
	for _, c := range []struct{ args, want string }{
		{"config current-context", "lab"},
		{"wait --for=condition=Ready nodes --all --timeout=1m", "node/cp-1 condition met\nnode/worker-1 condition met\n"},
		{"get nodes -o jsonpath={.items[*].metadata.name}", "cp-1 worker-1"},
		{"auth can-i * *", "yes"},
		{"create configmap made-by-kubectl -n default --from-literal=key=value", "configmap/made-by-kubectl created"},
		{"get configmap made-by-kubectl -n default -o jsonpath={.data.key}", "value"},
		{"delete configmap made-by-kubectl -n default", "deleted"},
	} {
		output := u.kubectl(kubeconfig, strings.Fields(c.args)...)
		u.contains(output, c.want)
	}
}

// kubectl runs the real one, which has to succeed.
func (u *user) kubectl(kubeconfig string, args ...string) string {
	u.t.Helper()
	command := exec.CommandContext(u.t.Context(), toolenv.Kubectl(u.t), append([]string{"--kubeconfig", kubeconfig, "--request-timeout", "1m"}, args...)...)
	command.Env = append(os.Environ(), "HOME="+u.t.TempDir()) // it keeps a cache there
	output, err := command.CombinedOutput()
	u.t.Logf("$ kubectl %s\n%s", strings.Join(args, " "), output)
	if err != nil {
		u.t.Fatal(err)
	}
	return string(output)
}
