package main

import (
	"bytes"
	"cmp"
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

	"github.com/talosgen/talosgen/schemas"
)

// cmdAutoscale makes a server as the cluster autoscaler does: from the image and the user
// data in its Secret, with the label of its group and those that the Secret has for it.
//
//	autoscale node group suffix
func cmdAutoscale(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: autoscale node group suffix")
	}
	p := simOf(ts)
	scaler := autoscaler{kubeOf(ts, args[0]), p}
	ts.Check(scaler.make(schemas.InfraAutoscalerPool{Group: args[1], Type: "cpx22", Location: "hel1", PublicIPv4: true, PublicIPv6: true, Image: schemas.InfraImage{Architecture: "x86"}}, args[2]))
	p.ResetCalls()
}

// autoscaler makes servers as the cluster autoscaler does.
type autoscaler struct {
	kube    http.Handler
	project *simProject
}

// autoscalerConfig is what the Secret of the autoscaler has.
type autoscalerConfig struct {
	ImagesForArch        map[string]string
	DefaultSubnetIPRange string
	NodeConfigs          map[string]struct {
		CloudInit     string
		ImagesForArch map[string]string
		ServerLabels  map[string]string
		SubnetIPRange string
	}
}

// config reads the Secret; found is false if there is none.
func (a autoscaler) config() (config autoscalerConfig, found bool, err error) {
	answer := httptest.NewRecorder()
	a.kube.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces/kube-system/secrets/cluster-autoscaler-hetzner-config", nil))
	if answer.Code == http.StatusNotFound {
		return config, false, nil
	}
	var object struct{ Data map[string][]byte }
	if err := json.Unmarshal(answer.Body.Bytes(), &object); err != nil {
		return config, false, err
	}
	return config, true, json.Unmarshal(object.Data["cluster-config"], &config)
}

// make makes a server of a pool, with a name that ends so.
func (a autoscaler) make(pool schemas.InfraAutoscalerPool, suffix string) error {
	config, _, err := a.config()
	if err != nil {
		return err
	}
	own, arch := config.NodeConfigs[pool.Group], map[string]string{"x86": "amd64", "arm": "arm64"}[pool.Image.Architecture]
	selector := cmp.Or(own.ImagesForArch[arch], config.ImagesForArch[arch])
	var images struct{ Images []struct{ ID int64 } }
	if err := a.project.call(http.MethodGet, "/images?type=snapshot&architecture="+pool.Image.Architecture+"&label_selector="+url.QueryEscape(selector), nil, &images); err != nil {
		return err
	}
	var networks struct{ Networks []struct{ ID int64 } }
	if err := a.project.call(http.MethodGet, "/networks", nil, &networks); err != nil {
		return err
	}
	if len(images.Images) == 0 || len(networks.Networks) != 1 {
		return fmt.Errorf("%d images for %s, and %d networks", len(images.Images), selector, len(networks.Networks))
	}
	labels := map[string]string{"hcloud/node-group": pool.Group}
	maps.Copy(labels, own.ServerLabels)
	text, err := unpacked(own.CloudInit)
	if err != nil {
		return err
	}
	var made struct{ Server struct{ ID int64 } }
	if err := a.project.call(http.MethodPost, "/servers", map[string]any{
		"name": pool.Group + "-" + suffix, "server_type": pool.Type, "location": pool.Location, "image": fmt.Sprint(images.Images[0].ID),
		"labels": labels, "user_data": text, "start_after_create": false,
		"public_net": map[string]bool{"enable_ipv4": pool.PublicIPv4, "enable_ipv6": pool.PublicIPv6},
	}, &made); err != nil {
		return err
	}
	actions := fmt.Sprintf("/servers/%d/actions/", made.Server.ID)
	if err := a.project.call(http.MethodPost, actions+"attach_to_network", map[string]any{
		"network": networks.Networks[0].ID, "ip_range": cmp.Or(own.SubnetIPRange, config.DefaultSubnetIPRange),
	}, nil); err != nil {
		return err
	}
	return a.project.call(http.MethodPost, actions+"poweron", map[string]any{}, nil)
}

// unpacked is user data as simulated machines read it: they do not know compression.
func unpacked(text string) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(z)
	return string(plain), err
}
