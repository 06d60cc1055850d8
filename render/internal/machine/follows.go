package machine

import "github.com/talosgen/talosgen/internal/yamltext"

// Setting names a part of [Settings] that the user decides.
type Setting string

// Settings that values of the generated base follow from.
const (
	SettingClusterName       Setting = "cluster name"
	SettingEndpoint          Setting = "endpoint"
	SettingKubernetesVersion Setting = "Kubernetes version"
	SettingPodSubnets        Setting = "pod subnets"
	SettingServiceSubnets    Setting = "service subnets"
	SettingDNSDomain         Setting = "DNS domain"
	SettingInstallDisk       Setting = "install disk"
	SettingInstallImage      Setting = "install image"
	SettingAllowScheduling   Setting = "scheduling on control planes"
)

// otherwise changes each setting into something else that Talos takes too.
var otherwise = []struct {
	setting Setting
	change  func(*Settings)
}{
	{SettingClusterName, func(s *Settings) { s.ClusterName += "x" }},
	{SettingEndpoint, func(s *Settings) { s.Endpoint = "https://other." + s.ClusterName + ".invalid:6443" }},
	{SettingKubernetesVersion, func(s *Settings) { s.KubernetesVersion += "0" }},
	{SettingPodSubnets, func(s *Settings) { s.PodSubnets = others(s.PodSubnets, "198.18.") }},
	{SettingServiceSubnets, func(s *Settings) { s.ServiceSubnets = others(s.ServiceSubnets, "198.19.") }},
	{SettingDNSDomain, func(s *Settings) { s.DNSDomain += "x" }},
	{SettingInstallDisk, func(s *Settings) { s.InstallDisk += "x" }},
	{SettingInstallImage, func(s *Settings) { s.InstallImage += "x" }},
	{SettingAllowScheduling, func(s *Settings) { s.AllowScheduling = !s.AllowScheduling }},
}

// others are as many subnets as there are, none of them the same.
func others(subnets []string, prefix string) []string {
	all := make([]string, len(subnets))
	for i := range subnets {
		all[i] = prefix + string(rune('0'+i)) + ".0/24"
	}
	return all
}

// Follows tells which values of the generated base follow from which setting:
// those that differ, or are not there, when it is made with another one. It
// needs no table of where each contract keeps them.
func Follows(s Settings, role Role, bundle *Bundle) (func(ID, yamltext.Path) Setting, error) {
	base, err := generateOnce(s, role, bundle)
	if err != nil {
		return nil, err
	}
	type place struct {
		document ID
		path     string
	}
	from := map[place]Setting{}
	for _, o := range otherwise {
		changed := s
		o.change(&changed)
		twin, err := generateOnce(changed, role, bundle)
		if err != nil {
			return nil, err
		}
		for _, doc := range base.docs {
			places, err := differences(doc, twin.Document(doc.ID))
			if err != nil {
				return nil, err
			}
			for _, path := range places {
				from[place{doc.ID, path.String()}] = o.setting
			}
		}
	}
	return func(document ID, path yamltext.Path) Setting { return from[place{document, path.String()}] }, nil
}

// differences lists the values of a document that its twin does not have.
func differences(doc, twin *Document) ([]yamltext.Path, error) {
	leaves, err := doc.Leaves()
	if err != nil {
		return nil, err
	}
	var others []yamltext.Leaf
	if twin != nil {
		if others, err = twin.Leaves(); err != nil {
			return nil, err
		}
	}
	values := make(map[string]string, len(others))
	for _, l := range others {
		values[l.Path.String()] = l.Value
	}
	var places []yamltext.Path
	for _, l := range leaves {
		if value, ok := values[l.Path.String()]; !ok || value != l.Value {
			places = append(places, l.Path)
		}
	}
	return places, nil
}
