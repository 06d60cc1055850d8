package config

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/schemas"
)

// check completes the configuration, and looks at values together. A zero value
// that the file sets is one whose problem is reported already.
func check(r *reporter) {
	fileRules{r}.check()
	completer{r}.complete()
	pools := r.pools()
	poolRules{r, pools}.check()
	imageRules{r, pools}.check()
	diskRules{r, pools}.check()
	resolver{r, pools}.resolve()
	nodeRules{r}.check()
	rangesOf(r).check()
	if r.Provider == schemas.Hetzner {
		addressRules{r, pools}.check()
		hetznerRules{r, pools}.check()
		dedicatedRules{r, pools}.check()
		firewallRules{r}.check()
	}
	talosRules{r}.check()
	kubernetesRules{r}.check()
	podNetworkRules{r}.check()
	gitOpsRules{r}.check()
	runNotificationRules{r}.check()
	switchRules{r}.check()
}

// reporter reports what is wrong with a configuration, where the file says it.
type reporter struct {
	*Config
	problems *diag.List
	scope    *subst.Scope // for variables that the file names
	leniency
}

func (r *reporter) fail(hint string, at []string, message string, args ...any) {
	r.problems.Add(diag.New(r.near(at), message, args...).WithHint("%s", hint))
}

func (r *reporter) warn(hint string, at []string, message string, args ...any) {
	r.Warnings.Add(diag.New(r.near(at), message, args...).WithHint("%s", hint))
}

// keys is the path of an option that is written with dots.
func keys(option string) []string { return strings.Split(option, ".") }
