// Package infra resolves the topology of a cluster on Hetzner Cloud: every
// name, address, rule and default that cluster.yaml leaves open, as plain data
// without secrets. It is pure: the same topology gives the same result.
//
// The address plan follows the one of hcloud-k8s/terraform-hcloud-kubernetes
// 5.6, which people migrate from: a network is cut into ranges for nodes,
// services and pods, and the range of the nodes into equal subnets, each with as
// many addresses as the pod range has networks for nodes.
package infra
