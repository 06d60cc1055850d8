package cloud

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
)

var update = flag.Bool("update", false, "write golden files")

// apiErrors are answers as the API gives them: the status (section Errors of
// https://docs.hetzner.cloud/reference/cloud), and where they are known the real
// text and details.
var apiErrors = map[hcloud.ErrorCode]struct {
	status  int
	message string
	details string
}{
	hcloud.ErrorCodeJSONError:             {400, "invalid JSON in request", ""},
	hcloud.ErrorCodeUnauthorized:          {401, "the token you have provided is invalid", ""},
	hcloud.ErrorCodeForbidden:             {403, "insufficient permissions for this request", ""},
	hcloud.ErrorCodeMaintenance:           {403, "cannot perform operation due to maintenance", ""},
	hcloud.ErrorCodeResourceLimitExceeded: {403, "server limit exceeded", `{"limits":[{"name":"server_limit"}]}`},
	hcloud.ErrorCodeNotFound:              {404, "server with ID '42' not found", ""},
	"method_not_allowed":                  {405, "method not allowed", ""},
	hcloud.ErrorCodeUniquenessError:       {409, "name is already used", `{"fields":[{"name":"name"}]}`},
	hcloud.ErrorCodeConflict:              {409, "the resource has changed during the request, please retry", ""},
	hcloud.ErrorDeprecatedAPIEndpoint:     {410, "gone", `{"announcement":"https://docs.hetzner.cloud/changelog"}`},
	hcloud.ErrorCodeResourceUnavailable:   {412, "error during placement", ""},
	hcloud.ErrorCodeInvalidInput:          {422, "invalid input in field 'user_data'", `{"fields":[{"name":"user_data","messages":["Length must be between 0 and 32768."]}]}`},
	hcloud.ErrorCodeServiceError:          {422, "placement group prod-workers-1 contains already 10 servers", ""},
	hcloud.ErrorCodeLocked:                {423, "server is locked", ""},
	hcloud.ErrorCodeProtected:             {423, "server deletion is protected", ""},
	hcloud.ErrorCodeRateLimitExceeded:     {429, "limit of 3600 requests per hour reached", ""},
	hcloud.ErrorCodeServerError:           {500, "server error", ""},
	hcloud.ErrorCodeBadGateway:            {502, "bad gateway", ""},
	"unavailable":                         {503, "service unavailable", ""},
	hcloud.ErrorCodeTimeout:               {504, "timeout", ""},
}

// TestEveryErrorCode: what people see of each code that hcloud-go, the API's
// description or we know, in testdata/errors.golden. A code that is new in
// hcloud-go fails until it has advice.
func TestEveryErrorCode(t *testing.T) {
	codes := append(clientCodes(t), slices.Collect(maps.Keys(advice))...)
	codes = append(codes, slices.Collect(maps.Keys(apiErrors))...)
	slices.Sort(codes)
	var got strings.Builder
	for _, code := range slices.Compact(codes) {
		if _, known := advice[code]; !known {
			t.Errorf("%s has no advice", code)
		}
		if strings.Contains(string(code), " ") || code == codeUnreachable {
			continue // our own: see TestOtherErrors
		}
		err := explain("server prod-worker-1", "create", answered(t, code))
		fmt.Fprintf(&got, "%v\n  = exit %d\n\n", err, diag.CodeOf(err))
	}
	golden(t, "errors.golden", got.String())
}

// answered returns the error that the client gives for an answer with a code.
func answered(t *testing.T, code hcloud.ErrorCode) error {
	a, known := apiErrors[code]
	if !known {
		a.status, a.message = 422, "no"
	}
	if a.details == "" {
		a.details = "null"
	}
	c, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Correlation-Id", "not shown")
		answer(w, a.status, fmt.Sprintf(`{"error":{"code":%q,"message":%q,"details":%s}}`, code, a.message, a.details))
	})
	err := call(c, "GET")
	if err == nil {
		t.Fatalf("%s gave no error", code)
	}
	return err
}

// clientCodes reads the error codes that hcloud-go knows from its source.
func clientCodes(t *testing.T) (codes []hcloud.ErrorCode) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/hetznercloud/hcloud-go/v2/hcloud").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(out)), "error.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Error") {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			code, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !certificates(code) {
				codes = append(codes, hcloud.ErrorCode(code))
			}
		}
		return true
	})
	if len(codes) < 50 {
		t.Fatalf("found only %d codes", len(codes))
	}
	return codes
}

// certificates are no business of ours: talosgen makes none.
func certificates(code string) bool {
	return strings.HasPrefix(code, "ca_") || strings.HasPrefix(code, "caa_") || strings.HasPrefix(code, "dns_zone_") ||
		code == "could_not_verify_domain_delegated_to_zone"
}

// TestOtherErrors: what people see of errors that are no answers of the API.
func TestOtherErrors(t *testing.T) {
	proxy, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusForbidden) })
	var got strings.Builder
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"an action that failed", hcloud.ActionError{Code: "action_failed", Message: "Action failed"}},
		{"a stock-out noticed late", hcloud.ActionError{Code: "resource_unavailable", Message: "we are unable to provision servers for this location"}},
		{"a lost answer", &LostAnswer{Method: "POST", Path: "/v1/servers", Err: errors.New("EOF")}},
		{"a proxy's page", call(proxy, "GET")},
		{"no connection", errors.New(`Get "https://api.hetzner.cloud/v1/servers": dial tcp: lookup api.hetzner.cloud: no such host`)},
		{"interrupted", fmt.Errorf("Get: %w", context.Canceled)},
		{"a problem already", diag.On("action 7", "lost").WithCode(diag.NotReady)},
	} {
		err := explain("server prod-worker-1", "create", tt.err)
		fmt.Fprintf(&got, "# %s\n%v\n  = exit %d\n\n", tt.name, err, diag.CodeOf(err))
	}
	golden(t, "errors-other.golden", got.String())
	if explain("x", "y", nil) != nil {
		t.Error("no error became one")
	}
}

// golden compares with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", path, got)
	}
}
