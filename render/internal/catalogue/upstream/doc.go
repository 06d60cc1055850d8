// Package upstream compares what is built in with what upstream's charts and
// manifests give for the same options. It has tests alone, which are skipped
// unless TALOSGEN_CHARTS_DIR names a directory with these, each under its name:
//
//	cert-manager, cilium, ingress-nginx, cluster-autoscaler, hcloud-csi,
//	hcloud-cloud-controller-manager, metrics-server: charts
//	cert-manager-webhook-hetzner, envoy-gateway, envoy-gateway-crds, external-dns,
//	metallb, traefik: charts, for ways in, which package render looks at alone
//	gateway-api, flux: the manifests of a release
//	kubelet-serving-cert-approver, talos-backup: the manifests in their repositories
//
// A chart is a directory. The tests of packages render and addon take the same
// directory: they render whole environments with it, and every chart twice and with Helm's engine.
package upstream
