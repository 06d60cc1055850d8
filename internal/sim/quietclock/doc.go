// Package quietclock is simulated time for a process that holds both whoever
// waits and what is waited for. Time stands still while somebody works, and
// jumps to the next moment that somebody waits for once everybody waits: minutes
// pass in milliseconds, and how long things take in simulated time does not
// depend on how busy the machine is.
//
// On a machine that never comes to rest, such as one that runs other tests in
// the same process, time passes as fast as it does outside.
package quietclock
