package image

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// imagesForArch is a part of the configuration of the cluster autoscaler for
// Hetzner Cloud.
type imagesForArch map[string]string

// ParseAutoscaler reads what the configuration of a living autoscaler says of
// images: the JSON under the key cluster-config of its Secret. File is its
// name, for errors, which quote nothing of it: it holds machine configurations.
func ParseAutoscaler(file string, text []byte) (Autoscaler, error) {
	var config struct {
		ImagesForArch imagesForArch `json:"imagesForArch"`
		NodeConfigs   map[string]struct {
			ImagesForArch imagesForArch `json:"imagesForArch"`
		} `json:"nodeConfigs"`
	}
	if err := json.Unmarshal(text, &config); err != nil || len(config.NodeConfigs) == 0 {
		return nil, diag.New(diag.Pos{File: file}, "is not the configuration of an autoscaler for Hetzner Cloud").
			WithHint("it is JSON, with the key nodeConfigs:\n" +
				"kubectl -n kube-system get secret cluster-autoscaler-hetzner-config -o jsonpath='{.data.cluster-config}' | base64 -d")
	}
	a := Autoscaler{}
	add := func(images imagesForArch) {
		for _, arch := range slices.Sorted(maps.Keys(images)) {
			a = append(a, ArchImage{arch, images[arch]})
		}
	}
	add(config.ImagesForArch)
	for _, pool := range slices.Sorted(maps.Keys(config.NodeConfigs)) {
		add(config.NodeConfigs[pool].ImagesForArch)
	}
	return a, nil
}
