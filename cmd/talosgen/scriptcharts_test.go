package main

import (
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/talosgen/talosgen/internal/charttest"
)

// chartPassword is what the servers of charts ask for in scripts: a canary.
const chartPassword = "canary-chart-password"

// cmdCharts serves a chart, web in 1.0.0 and 1.1.0, as an HTTP repository
// ($CHARTS) and a registry ($REGISTRY). With the word private, credentials are
// asked for. $CHARTHOST is the host.
//
//	charts [private]
func cmdCharts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: charts [private]")
	}
	s := &charttest.Server{}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		s.Charts = append(s.Charts, charttest.Chart{Name: "web", Version: version, Archive: charttest.Small("web", version)})
	}
	if len(args) == 1 {
		s.User, s.Password = "user", chartPassword
	}
	server := httptest.NewServer(s)
	ts.Defer(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	ts.Setenv("CHARTS", server.URL+"/charts")
	ts.Setenv("REGISTRY", "oci://"+host+"/charts")
	ts.Setenv("CHARTHOST", host)
}
