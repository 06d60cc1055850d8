// Package plantest helps to test what makes, reads or executes plans: a
// catalogue, random infrastructure and drift, and a model of Hetzner Cloud that
// executes plans in memory, call by call. It is for tests only.
package plantest
