// Package infra resolves the topology of cluster.yaml into infrastructure.yaml:
// every name, address, rule and default that cluster.yaml leaves open, as plain
// data without secrets. It is pure: the same topology gives the same result.
// Addresses follow the plan of package address.
package infra
