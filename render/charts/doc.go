// Package charts pins what addons need from elsewhere in charts/charts.lock, keeps
// it in charts/ or in the cache of the machine, and compares them. It opens
// connections for [Lock], [Vendor], [Fetch] and [Ages] alone; a render opens none.
package charts
