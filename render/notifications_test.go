package render_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/schemas"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// notifyRepo has variables of webhooks, and an environment with notifications.
func notifyRepo(t *testing.T, notifications, variables string) (*testRepo, string) {
	t.Helper()
	r, key := gatewayRepo(t)
	plain, err := r.decrypted("envs/prod/secrets.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r.encrypted("envs/prod/secrets.sops.yaml", strings.Replace(plain, "\nvariables:\n", "\nvariables:\n"+variables, 1))
	return r.file("envs/prod/cluster.yaml", gatewayCluster+"notifications: "+notifications+"\n"), key
}

const (
	webhookVariables = "    OPS_URL: https://hooks.example.com/services/qzxkanarivogl95\n    OPS_KEY: qzxkanarivogl95-key\n"
	allNotifications = "{webhooks: [{name: ops, urlVariable: OPS_URL}, {name: log, url: 'https://log.example.com/x', keyVariable: OPS_KEY}], commitStatus: {forge: gitlab, repository: a/b/c}}"
)

// Whom runs are told to is in one file, with what is secret of it encrypted, which real
// sops decrypts. An environment without them has none.
func TestNotifications(t *testing.T) {
	r, key := notifyRepo(t, allNotifications, webhookVariables)
	repo := r.open(key)
	mustWrite(t, repo, "prod")
	file := r.root + "/rendered/prod/" + schemas.NotificationsFile
	text, err := run([]string{"SOPS_AGE_KEY=" + key}, toolenv.Sops(t), "-d", file)
	if err != nil {
		t.Fatal(err, text)
	}
	var got schemas.RunNotifications
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	want := schemas.RunNotifications{
		APIVersion: schemas.InfrastructureVersion, Cluster: "prod",
		Webhooks: []schemas.WebhookTarget{
			{Name: "ops", URL: "https://hooks.example.com/services/qzxkanarivogl95"},
			{Name: "log", URL: "https://log.example.com/x", Key: "qzxkanarivogl95-key"},
		},
		CommitStatus: &schemas.StatusTarget{Forge: schemas.GitLab, Repository: "a/b/c"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it says %+v", got)
	}
	for name, text := range readTree(t, r.root+"/rendered/prod") {
		if strings.Contains(text, "qzxkanarivogl95") {
			t.Errorf("%s holds a secret", name)
		}
	}
	readable := readFile(t, r.root, "rendered/prod/"+schemas.NotificationsFile)
	if !strings.Contains(readable, "    url: https://log.example.com/x\n") || strings.Count(readable, " # secret\n") != 2 {
		t.Errorf("the file is\n%s", readable)
	}

	// The next render takes it over, and one without notifications takes it away.
	if again := mustRender(t, r.open(key), "prod", render.Options{}); again.Text(schemas.NotificationsFile) != readable {
		t.Error("it is written anew")
	}
	r.file("envs/prod/cluster.yaml", gatewayCluster)
	mustWrite(t, r.open(key), "prod")
	if _, there := readTree(t, r.root+"/rendered/prod")[schemas.NotificationsFile]; there {
		t.Error("it stays")
	}
}

// What is wrong with a secret is said without it.
func TestNotificationsProblems(t *testing.T) {
	for _, tt := range []struct{ name, variables, want string }{
		{"in the clear", "    OPS_URL: http://qzxkanarivogl95.example.com/\n    OPS_KEY: x\n", "the variable OPS_URL, with the URL of the webhook ops, holds no URL that begins with https://\n  `talosgen secrets edit prod` changes it"},
		{"no URL", "    OPS_URL: qzxkanarivogl95\n    OPS_KEY: x\n", "the variable OPS_URL, with the URL of the webhook ops, holds no URL"},
		{"two lines", "    OPS_URL: \"https://a.example.com/\\nqzxkanarivogl95\"\n    OPS_KEY: x\n", "the variable OPS_URL, with the URL of the webhook ops, holds no URL"},
		{"no key", "    OPS_URL: https://a.example.com/qzxkanarivogl95\n    OPS_KEY: \"\"\n", "the variable OPS_KEY, with the key of the webhook log, is empty"},
	} {
		r, key := notifyRepo(t, allNotifications, tt.variables)
		_, err := r.open(key).Render(context.Background(), "prod", render.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "qzxkanarivogl95") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := r.open("").Render(context.Background(), "prod", render.Options{Keyless: true}); err != nil {
			t.Errorf("%s: without keys: %v", tt.name, err)
		}
	}
}
