package needs

import "regexp"

// keepsLayers is what containerd is told that keeps compressed layers of images.
var keepsLayers = regexp.MustCompile(`(?m)^\s*discard_unpacked_layers\s*=\s*false\b`)

func (n Needs) layers(m Machine) []Unmet {
	if !n.KeptLayers {
		return nil
	}
	settings := m.texts("", "", "machine.files[].content")
	for _, d := range m.Documents {
		if d.Kind == "CRICustomizationConfig" {
			settings = append(settings, m.texts(d.Kind, d.Name, "content")...)
		}
	}
	for _, text := range settings {
		if keepsLayers.MatchString(text) {
			return nil
		}
	}
	return []Unmet{{Key: "keptLayers", Applicable: true, What: "the compressed layers of images, which containerd removes", How: "set talos.discardUnpackedLayers: false"}}
}
