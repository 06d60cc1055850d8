// Package browser tests the site as readers see it: in Chromium, without a window.
package browser
