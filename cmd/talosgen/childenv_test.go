package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/secret"
)

func TestChildEnvironment(t *testing.T) {
	stay := []string{
		"PATH=/bin", "HOME=/home/a", "TERM=xterm", "LC_ALL=C", "EDITOR=vi", "SOPS_EDITOR=vi", "GIT_DIR=/x", "GIT_INDEX_FILE=/x", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=safe.directory", "SSH_AUTH_SOCK=/x", "DISPLAY=:0", "XAUTHORITY=/x", "KEYBOARD=de", "MONKEY=1", "HTTPS_PROXY=http://proxy:3128", "VIM=/usr/share",
	}
	gone := []string{
		"HCLOUD_TOKEN=x", "GITHUB_TOKEN=x", "CI_JOB_TOKEN=x", "SOPS_AGE_KEY=x", "SOPS_AGE_KEY_FILE=/x", "SOPS_AGE_KEY_CMD=x", "VAULT_TOKEN=x", "VAULT_ADDR=x",
		"AWS_SECRET_ACCESS_KEY=x", "AWS_ACCESS_KEY_ID=x", "GOOGLE_APPLICATION_CREDENTIALS=/x", "AZURE_CLIENT_SECRET=x", "REGISTRY_PASSWORD=x", "my_passwd=x",
		"DEPLOY_KEY=x", "GITLAB_PAT=x", "NPM_AUTH=x", "TALOSGEN_PROXY=http://user:pw@x", "HTTPS_PROXY=http://user:pw@proxy:3128", "ODD=AGE-SECRET-KEY-1",
		"OTHER=of qzxkanarivogl95-value", "ACTIONS_ID_TOKEN_REQUEST_URL=x", "GIT_CONFIG_VALUE_0=AUTHORIZATION: qzxkanarivogl95-value",
	}
	out := &console{masker: secret.NewMasker()}
	out.masker.Add(secret.New("qzxkanarivogl95-value"))
	got := childEnvironment(append(slices.Clone(gone), stay...), out.isSecret)
	if !slices.Equal(got, stay) {
		t.Errorf("it has:\n%s", strings.Join(got, "\n"))
	}
}
