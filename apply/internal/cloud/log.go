package cloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Request is what -v shows of a request: nothing of its headers, which hold the
// token, nor of its body, which may hold user data.
type Request struct {
	Method string
	Path   string // with the query
	Status int    // 0 without an answer
	Code   string // Hetzner's error code, if the answer is an error
	Err    error  // why there is no answer
	Took   time.Duration
	Left   int // requests left before the rate limit; -1 if unknown
}

// String prints the request on one line.
func (r Request) String() string {
	result := fmt.Sprint(r.Status)
	if r.Code != "" {
		result += " " + r.Code
	}
	if r.Err != nil {
		result = r.Err.Error()
	}
	return fmt.Sprintf("%s %s: %s (%d ms, %d requests left)", r.Method, r.Path, result, r.Took.Milliseconds(), r.Left)
}

func (t *transport) report(req *http.Request, resp *http.Response, err error, took time.Duration) {
	if t.log == nil {
		return
	}
	r := Request{Method: req.Method, Path: req.URL.RequestURI(), Err: err, Took: took, Left: t.limiter.left()}
	if err == nil {
		r.Status, r.Code = resp.StatusCode, codeOf(resp)
	}
	t.log(r)
}

// codeOf returns the error code of a buffered answer, or "".
func codeOf(resp *http.Response) string {
	if resp.StatusCode < 400 {
		return ""
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var answer struct {
		Error struct{ Code string }
	}
	if err != nil || json.Unmarshal(body, &answer) != nil {
		return "" // not Hetzner's: a proxy's page
	}
	return answer.Error.Code
}
