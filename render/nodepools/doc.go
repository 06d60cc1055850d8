// Package nodepools lists the pools of an environment, and makes changes to them in
// cluster.yaml: what a change leads to can be rendered before it is written.
package nodepools
