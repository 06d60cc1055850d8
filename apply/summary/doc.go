// Package summary is the report at the end of a run, as a value: what changed,
// by stage, what it took, what it costs, what is pending, and what to do next.
// It is printed for people by [Summary.String], and can be encoded for programs.
// It is pure, and holds no secrets: names and numbers, and texts that plans and
// checks have made for people.
package summary
