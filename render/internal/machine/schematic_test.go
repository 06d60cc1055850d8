package machine

import (
	"strings"
	"testing"
)

// TestSchematic: the ids that the Image Factory gives.
func TestSchematic(t *testing.T) {
	none := Overlay{}
	const iscsi, agent = "siderolabs/iscsi-tools", "siderolabs/qemu-guest-agent"
	for _, c := range []struct {
		extensions, kernelArgs []string
		want                   string
		overlay                Overlay
	}{
		{nil, nil, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba", none},
		{[]string{}, []string{}, "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba", none},
		{[]string{agent}, nil, "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515", none},
		{[]string{iscsi, agent}, nil, "dc7b152cb3ea99b821fcb7340ce7168313ce393d663740b791c36f6e95fc8586", none},
		{[]string{agent, iscsi}, nil, "6ebbfe35c8225645c05d4d19eaad385bd1ec795954932d0ada671388272fec19", none},
		{[]string{agent}, []string{"console=ttyS0"}, "6d4f69d1202eef52ebc4476239fb6366ffbe4d0efc22983a34f21c401a38a0fc", none},
		{nil, nil, "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9", Overlay{"siderolabs/sbc-raspberrypi", "rpi_generic"}},
	} {
		have := NewSchematic(c.extensions, c.kernelArgs, c.overlay)
		if have.ID != c.want {
			t.Errorf("%v %v: %s; want %s", c.extensions, c.kernelArgs, have.ID, c.want)
		}
	}
}

func TestInstallImage(t *testing.T) {
	for version, want := range map[string]string{
		"v1.9.5":         "factory.example.org/installer/0123:v1.9.5",
		"v1.10.0":        "factory.example.org/metal-installer/0123:v1.10.0",
		"v1.13.9":        "factory.example.org/metal-installer/0123:v1.13.9",
		"v1.14.1":        "factory.example.org/metal-installer/0123:v1.14.1",
		"v1.14.0-beta.1": "factory.example.org/metal-installer/0123:v1.14.0-beta.1",
	} {
		if have, err := InstallImage(Image{Factory: "factory.example.org", Platform: "metal", Schematic: "0123", Version: version}); err != nil || have != want {
			t.Errorf("%s: %s, %v; want %s", version, have, err, want)
		}
	}
	if _, err := InstallImage(Image{Factory: "factory.example.org", Platform: "metal", Schematic: "0123", Version: "latest"}); err == nil {
		t.Error("a version that is none is accepted")
	}
}

// TestCheckKubernetes follows the compatibility table of each Talos version.
func TestCheckKubernetes(t *testing.T) {
	for contract, minors := range map[string][2]string{
		"v1.9": {"1.27", "1.32"}, "v1.10": {"1.28", "1.33"}, "v1.11": {"1.29", "1.34"},
		"v1.12": {"1.30", "1.35"}, "v1.13": {"1.31", "1.36"}, "v1.14": {"1.32", "1.37"},
	} {
		before, after := "1.26.9", "1.38.0"
		switch contract {
		case "v1.13":
			before, after = "1.30.9", "1.37.0"
		case "v1.14":
			before = "1.31.9"
		}
		for version, ok := range map[string]bool{
			minors[0] + ".0": true, minors[1] + ".0": true, minors[1] + ".15": true, "v" + minors[1] + ".1": true,
			before: false, after: false, "1.20.0": false, "nonsense": false, "": false,
		} {
			if err := CheckKubernetes(version, contract); (err == nil) != ok {
				t.Errorf("Kubernetes %q with Talos %s: %v", version, contract, err)
			}
		}
	}
	if err := CheckKubernetes("1.33.0", "nonsense"); err == nil {
		t.Error("a contract that is none is accepted")
	}
}

func TestMultiDocument(t *testing.T) {
	for _, contract := range contracts {
		if have, err := MultiDocument(contract); err != nil || have != (contract == "v1.14") {
			t.Errorf("%s: %v, %v", contract, have, err)
		}
	}
	if _, err := MultiDocument("x"); err == nil {
		t.Error("a contract that is none is accepted")
	}
}

// TestGenerate: every contract and role gives a configuration that Talos takes,
// with what the settings say in it, and the same bytes each time.
func TestGenerate(t *testing.T) {
	bundle, other := bundles(t)
	for _, contract := range contracts {
		for _, role := range []Role{ControlPlane, Worker} {
			s := testSettings(contract)
			s.PodSubnets, s.ServiceSubnets, s.DNSDomain = []string{"10.200.0.0/16"}, []string{"10.201.0.0/20"}, "example.internal"
			s.AllowScheduling = true
			cfg, err := Generate(s, role, bundle, other)
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []Mode{Cloud, Metal} {
				warnings, problems, err := cfg.Validate(mode, true)
				if err != nil || len(warnings)+len(problems) > 0 {
					t.Errorf("%s %s: Talos, mode %s: %v, %v, %v", contract, role, mode, warnings, problems, err)
				}
			}
			text := textOf(t, cfg)
			for _, want := range []string{s.Endpoint, s.InstallImage, "10.200.0.0/16", "10.201.0.0/20", "example.internal"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s %s: %s is not in it", contract, role, want)
				}
			}
			again, err := Generate(s, role, bundle, other)
			if err != nil || textOf(t, again) != text {
				t.Errorf("%s %s: generated twice, it differs (%v)", contract, role, err)
			}
			if !cfg.Documents()[0].ID.IsMain() {
				t.Errorf("%s %s: the first document is %s", contract, role, cfg.Documents()[0].ID)
			}
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	bundle, other := bundles(t)
	for name, change := range map[string]func(*Settings){
		"contract": func(s *Settings) { s.Contract = "new" },
		"endpoint": func(s *Settings) { s.Endpoint = "https://[" },
	} {
		s := testSettings("v1.13")
		change(&s)
		if _, err := Generate(s, Worker, bundle, other); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Generate(testSettings("v1.13"), "queen", bundle, other); err == nil {
		t.Error("a role that is none is accepted")
	}
}

// TestValidateFinds: problems come as Talos puts them, one by one.
func TestValidateFinds(t *testing.T) {
	s := testSettings("v1.13")
	s.InstallDisk = ""
	bundle, other := bundles(t)
	cfg, err := Generate(s, Worker, bundle, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, problems, err := cfg.Validate(Cloud, true); err != nil || len(problems) > 0 {
		t.Errorf("cloud: %v, %v", problems, err)
	}
	broken := mustApply(t, cfg, "machine: {nodeLabels: {'-bad-': x}, network: {hostname: a}}")
	_, problems, err := broken.Validate(Metal, true)
	if err != nil || len(problems) < 3 {
		t.Errorf("%d problems, %v: %q", len(problems), err, problems)
	}
	for _, want := range []string{"install disk", "hostname", "-bad-"} {
		if !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("nothing about %q in %q", want, problems)
		}
	}
}

// TestLoadBalancersReachPods: control planes are kept from load balancers only
// if no ordinary pods run there.
func TestLoadBalancersReachPods(t *testing.T) {
	bundle, other := bundles(t)
	for _, contract := range contracts {
		for _, allow := range []bool{false, true} {
			s := testSettings(contract)
			s.AllowScheduling = allow
			cfg, err := Generate(s, ControlPlane, bundle, other)
			if err != nil {
				t.Fatal(err)
			}
			if kept := strings.Contains(textOf(t, cfg), "node.kubernetes.io/exclude-from-external-load-balancers"); kept == allow {
				t.Errorf("%s: ordinary pods %v, kept from load balancers %v", contract, allow, kept)
			}
		}
	}
}
