// Package plantest helps to test what makes, reads or executes plans: a
// catalogue, and random infrastructure. It is for tests only.
package plantest
