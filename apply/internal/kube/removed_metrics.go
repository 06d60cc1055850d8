package kube

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// metricsPath is where an API server tells what it counts.
const metricsPath = "/metrics"

// deprecated is the metric in which an API server counts who asks for what ends.
const deprecated = "apiserver_requested_deprecated_apis"

var label = regexp.MustCompile(`(\w+)="([^"]*)"`)

// DeprecatedRequests are the API versions that end up to a minor version of Kubernetes 1,
// and that clients of this API server have asked for since it started. Kinds of which
// there is no other version are left out: [RemovedUses] itself asks for them.
func DeprecatedRequests(ctx context.Context, c *Client, server string, until int) ([]Use, error) {
	k, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	text, err := c.served.RESTClient().Get().AbsPath(metricsPath).DoRaw(ctx)
	if err != nil {
		return nil, refusal(http.MethodGet, metricsPath, err)
	}
	r := endings{client: c, kinds: k, until: until}
	for line := range strings.Lines(string(text)) {
		if of, is := strings.CutPrefix(line, deprecated+"{"); is && !strings.HasSuffix(strings.TrimSpace(of), " 0") {
			r.requested(of, server)
		}
	}
	return r.uses, nil
}

// requested notes a line of the metric.
func (r *endings) requested(line, server string) {
	of := map[string]string{}
	for _, m := range label.FindAllStringSubmatch(line, -1) {
		of[m[1]] = m[2]
	}
	_, minor, _ := strings.Cut(of["removed_release"], ".")
	in, err := strconv.Atoi(minor)
	if err != nil || in > r.until {
		return
	}
	gvr := schema.GroupVersionResource{Group: of["group"], Version: of["version"], Resource: of["resource"]}
	gvk, err := r.kinds.mapper.KindFor(gvr)
	if err != nil {
		return
	}
	if _, stays := r.stays(gvk.GroupKind()); !stays {
		return
	}
	r.uses = append(r.uses, Use{What: gvr.GroupVersion().String() + " " + gvr.Resource, Owner: "clients of the API server of " + server, In: fmt.Sprintf("1.%d.0", in)})
}
