package catalogue

import "github.com/talosgen/talosgen/schemas"

const (
	certManagerName    = "cert-manager"
	certManagerVersion = "v1.21.2"
)

// certManager makes certificates, and renews them.
func certManager() entry {
	e := entry{
		about:     "makes certificates, and renews them",
		defaultOn: "with certificates.issuers", options: "certificates.issuers, addons.cert-manager.enabled",
		name: certManagerName, layer: Controllers, namespace: certManagerName, podSecurity: restricted, version: certManagerVersion,
		wanted: wantIssuers(func(schemas.Issuer) bool { return true }),
	}
	e.build = func(f *facts, a *Addon) {
		a.Keep = true // with its definitions go all certificates
		a.Source = &Source{Chart: &Chart{Repository: "https://charts.jetstack.io", Name: certManagerName, Version: f.version(e)}}
		values := fields{
			"crds":         fields{"enabled": true, "keep": true},
			"replicaCount": f.replicas(),
			"webhook":      fields{"replicaCount": f.replicas()},
			"cainjector":   fields{"replicaCount": f.replicas()},
			// A hook that waits for the webhook; whoever applies waits anyway.
			"startupapicheck": fields{"enabled": false},
		}
		if on, _ := f.enabled(gatewayAPI()); on {
			a.DependsOn = append(a.DependsOn, gatewayName)
			values["config"] = fields{"enableGatewayAPI": true}
		}
		a.Values = plain(values).(fields)
	}
	return e
}
