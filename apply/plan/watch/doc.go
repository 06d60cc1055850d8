// Package watch decides what a watch over a cluster does by itself: what it heals, what
// it waits for, and what it only tells. It is a pure function of what a look at the
// cluster has found ([Observation]), what earlier looks have found ([Memory]) and what it may do
// ([Policy]).
//
// A machine is dead only if several witnesses say so, in every look for some time. A look
// that failed says nothing about anything. Nothing here is about control planes but
// whether they are well: they are never replaced by a watch.
package watch
