// Package review is the plan of all stages as operators read it before they agree:
// what happens, in the order in which it happens, what it disturbs, what it costs,
// and how much of it there is. It is pure. What is counted comes from the changes
// and steps of the plans, and what is printed from both.
package review
