package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdAutoscale makes a server as the cluster autoscaler does: from the image and the user
// data in its Secret, with the label of its group and those that the Secret has for it.
//
//	autoscale node group suffix
func cmdAutoscale(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: autoscale node group suffix")
	}
	answer := httptest.NewRecorder()
	kubeOf(ts, args[0]).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/kube-system/secrets/cluster-autoscaler-hetzner-config", nil))
	var object struct{ Data map[string][]byte }
	ts.Check(json.Unmarshal(answer.Body.Bytes(), &object))
	var config struct {
		ImagesForArch map[string]string
		NodeConfigs   map[string]struct {
			CloudInit    string
			ServerLabels map[string]string
		}
	}
	ts.Check(json.Unmarshal(object.Data["cluster-config"], &config))
	labels := map[string]string{"hcloud/node-group": args[1]}
	maps.Copy(labels, config.NodeConfigs[args[1]].ServerLabels)
	p := simOf(ts)
	var images struct{ Images []struct{ ID int64 } }
	ts.Check(p.call(http.MethodGet, "/images?type=snapshot&label_selector="+url.QueryEscape(config.ImagesForArch["amd64"]), nil, &images))
	var networks struct{ Networks []struct{ ID int64 } }
	ts.Check(p.call(http.MethodGet, "/networks", nil, &networks))
	if len(images.Images) == 0 || len(networks.Networks) != 1 {
		ts.Fatalf("%d images for %s, and %d networks", len(images.Images), config.ImagesForArch["amd64"], len(networks.Networks))
	}
	ts.Check(p.call(http.MethodPost, "/servers", map[string]any{
		"name": args[1] + "-" + args[2], "server_type": "cpx22", "location": "hel1", "image": fmt.Sprint(images.Images[0].ID),
		"labels": labels, "networks": []int64{networks.Networks[0].ID}, "user_data": unpacked(ts, config.NodeConfigs[args[1]].CloudInit),
	}, nil))
	p.ResetCalls()
}

// unpacked is user data as simulated machines read it: they do not know compression.
func unpacked(ts *testscript.TestScript, text string) string {
	packed, err := base64.StdEncoding.DecodeString(text)
	ts.Check(err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	ts.Check(err)
	plain, err := io.ReadAll(z)
	ts.Check(err)
	return string(plain)
}
