package main

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/schemas"
)

// cmdOpened makes access to a cluster as another operator has opened it, which ends
// in so many seconds.
//
//	opened cluster owner seconds source
func cmdOpened(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: opened cluster owner seconds source")
	}
	seconds, err := strconv.Atoi(args[2])
	ts.Check(err)
	var rules []map[string]any
	for _, port := range []string{"6443", "50000"} {
		rules = append(rules, map[string]any{"direction": "in", "protocol": "tcp", "port": port, "source_ips": []string{args[3]}})
	}
	ts.Check(simOf(ts).call(http.MethodPost, "/firewalls", map[string]any{
		"name":     args[0] + "-session-" + strings.ReplaceAll(args[1], ".", "-"),
		"rules":    rules,
		"apply_to": []map[string]any{{"type": "label_selector", "label_selector": map[string]string{"selector": schemas.LabelCluster + "=" + args[0]}}},
		"labels": map[string]string{
			schemas.LabelCluster: args[0], schemas.LabelManagedBy: schemas.ManagedBy, schemas.LabelComponent: schemas.ComponentSession,
			schemas.LabelPrefix + "owner": args[1], schemas.LabelPrefix + "stays-open": "yes",
			schemas.LabelPrefix + "expires": strconv.FormatInt(simOf(ts).Clock().Now().Add(time.Duration(seconds)*time.Second).Unix(), 10),
		},
	}, nil))
}
