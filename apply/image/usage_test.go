package image

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// snapshots are, oldest first: three versions, another architecture, one of
// somebody else, one that is protected, one that is being made.
func snapshots() (all []cloudplan.Image) {
	for i, text := range []string{
		"x86 v1.13.9", "x86 v1.14.0", "x86 v1.14.1", "arm v1.14.1", "x86 v1.14.1 foreign", "x86 v1.12.0 protected", "x86 v1.15.0 creating",
	} {
		words := append(strings.Fields(text), "")
		s := cloudplan.Image{
			Meta: cloudplan.Meta{ID: int64(i + 1), Created: time.Unix(int64(i), 0),
				Labels: map[string]string{"os": "talos", "talos_version": words[1], "managed-by": "talosgen"}},
			Architecture: words[0], Status: "available", Protected: words[2] == "protected",
		}
		if words[2] == "creating" {
			s.Status = "creating"
		}
		if words[2] == "foreign" {
			delete(s.Labels, "managed-by")
			s.Labels["talos_version"] = "v1.11.0"
		}
		all = append(all, s)
	}
	return all
}

func server(name, cluster string, image int64, labels ...string) cloudplan.Server {
	s := cloudplan.Server{Meta: cloudplan.Meta{Name: name, Labels: map[string]string{}}, ImageID: image}
	if cluster != "" {
		s.Labels["cluster"] = cluster
	}
	for _, l := range labels {
		s.Labels[l] = "group"
	}
	return s
}

func environment(name, version string, pools ...string) Environment {
	e := Environment{Name: name, Infrastructure: schemas.Infrastructure{Cluster: name}}
	e.Infrastructure.Images = []schemas.InfraSnapshot{{Architecture: "x86", Selector: "os=talos,talos_version=" + version}}
	for _, p := range pools {
		e.Infrastructure.AutoscalerPools = append(e.Infrastructure.AutoscalerPools, schemas.InfraAutoscalerPool{
			Image: schemas.InfraImage{Selector: "os=talos,talos_version=" + p, Architecture: "x86"}})
	}
	return e
}

func TestUses(t *testing.T) {
	for _, tt := range []struct {
		name        string
		servers     []cloudplan.Server
		envs        []Environment
		autoscalers map[string]Autoscaler
		want        string // by id: what refers to it; ? what may; - prunable
	}{
		{"nothing refers to anything", nil, nil, nil, "7 | 6 | 5 | 4 - | 3 - | 2 - | 1 -"},
		{"environments", nil, []Environment{environment("dev", "v1.14.1"), environment("prod", "v1.14.0")}, nil,
			"7 | 6 | 5 | 4 - | 3 environment dev | 2 environment prod | 1 -"},
		{"servers", []cloudplan.Server{server("b", "dev", 1), server("a", "dev", 1), server("c", "", 4)}, []Environment{environment("dev", "v1.14.1")}, nil,
			"7 | 6 | 5 | 4 server c | 3 environment dev | 2 - | 1 server a and 1 more"},
		{"an autoscaler pool that is not alive", nil, []Environment{environment("dev", "v1.14.1", "v1.14.0")}, nil,
			"7 | 6 | 5 | 4 - | 3 environment dev | 2 environment dev | 1 -"},
		{"an autoscaler that lives", []cloudplan.Server{server("a", "dev", 3)}, []Environment{environment("dev", "v1.14.1", "v1.14.1")}, nil,
			"7 ?autoscaler of dev | 6 ?autoscaler of dev | 5 ?autoscaler of dev | 4 ?autoscaler of dev | 3 environment dev, server a ?autoscaler of dev | 2 ?autoscaler of dev | 1 ?autoscaler of dev"},
		{"an autoscaler that is known", []cloudplan.Server{server("a", "dev", 3)}, []Environment{environment("dev", "v1.14.1", "v1.14.1")},
			map[string]Autoscaler{"dev": {{"amd64", "os=talos,talos_version=v1.13.9"}, {"arm64", "4"}}},
			"7 | 6 | 5 | 4 autoscaler of dev | 3 environment dev, server a | 2 - | 1 autoscaler of dev"},
		{"an autoscaler without a pool in the repository", []cloudplan.Server{server("a", "dev", 3, "hcloud/node-group")}, []Environment{environment("dev", "v1.14.1")}, nil,
			"7 ?autoscaler of dev | 6 ?autoscaler of dev | 5 ?autoscaler of dev | 4 ?autoscaler of dev | 3 environment dev, server a ?autoscaler of dev | 2 ?autoscaler of dev | 1 ?autoscaler of dev"},
		{"a cluster of another repository", []cloudplan.Server{server("a", "other", 3)}, []Environment{environment("dev", "v1.14.1")}, nil,
			strings.ReplaceAll("7 ? | 6 ? | 5 ? | 4 ? | 3 environment dev, server a ? | 2 ? | 1 ?", "?", "?cluster other, which is not in this repository")},
		{"a cluster that is known to have none", []cloudplan.Server{server("a", "other", 3)}, []Environment{environment("dev", "v1.14.1")},
			map[string]Autoscaler{"other": nil}, "7 | 6 | 5 | 4 - | 3 environment dev, server a | 2 - | 1 -"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, u := range (Project{snapshots(), tt.servers, tt.envs, tt.autoscalers}).Uses() {
				text := strings.TrimSpace(fmt.Sprintf("%d %s", u.ID, strings.Join(u.By, ", ")))
				for _, m := range u.Maybe {
					text += " ?" + m
				}
				if u.Prunable() {
					text += " -"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, " | "); text != tt.want {
				t.Errorf("\n got %s\nwant %s", text, tt.want)
			}
		})
	}
}

func TestParseAutoscaler(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"imagesForArch":{"arm64":"a","amd64":"b"},"nodeConfigs":{"p":{"cloudInit":"x","imagesForArch":{"amd64":"7"}}}}`, "[{amd64 b} {arm64 a} {amd64 7}]"},
		{`{"nodeConfigs":{"p":{}}}`, "[]"},
		{`{"imagesForArch":{}}`, "config.json: is not the configuration of an autoscaler"},
		{`qzxkanarivogl95`, "config.json: is not the configuration of an autoscaler"},
	} {
		a, err := ParseAutoscaler("config.json", []byte(tt.text))
		got := fmt.Sprint([]ArchImage(a))
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || strings.Contains(got, "qzxkanarivogl95") {
			t.Errorf("%s: %s", tt.text, got)
		}
	}
}
