package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Target is an API to run scripts against.
type Target struct {
	Endpoint string // with /v1
	Token    string
	Client   *http.Client
	Run      string                      // what $run stands for; lower case letters and digits
	Pause    func(context.Context) error // called between two looks at an action
}

// Run runs a script to the first difference, then its cleanup, and returns what
// went wrong.
func (s Script) Run(ctx context.Context, t Target) error {
	held := values{"run": t.Run}
	var problems []error
	for _, st := range s.steps {
		if len(problems) > 0 && !st.cleanup {
			continue
		}
		err := t.step(ctx, st, held)
		if unset := (*unsetError)(nil); st.cleanup && errors.As(err, &unset) {
			continue
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s:%d: %w", s.Name, st.line, err))
		}
	}
	return errors.Join(problems...)
}

// unsetError says that a call needs a value that was never taken.
type unsetError struct{ error }

func (t Target) step(ctx context.Context, st step, held values) error {
	path, err := held.fillText(st.path)
	if err != nil {
		return &unsetError{err}
	}
	if st.wait {
		return t.wait(ctx, path)
	}
	body, err := held.fill(st.body)
	if err != nil {
		return &unsetError{err}
	}
	status, header, answer, err := t.call(ctx, st.method, path, body)
	if err != nil {
		return err
	}
	problems := st.compare(held, status, answer)
	if st.header != "" && header.Get(st.header) == "" {
		problems = append(problems, "the header "+st.header+" is missing")
	}
	if len(problems) > 0 {
		return fmt.Errorf("%s %s → %d %s:\n\t%s", st.method, path, status, show(answer), strings.Join(problems, "\n\t"))
	}
	return nil
}

func (st step) compare(held values, status int, answer any) (problems []string) {
	if st.status != 0 && status != st.status {
		problems = append(problems, fmt.Sprintf("status %d, not %d", status, st.status))
	}
	if st.code != "" {
		problems = append(problems, held.match(map[string]any{"error": map[string]any{"code": st.code}}, answer, "")...)
	}
	if st.want != nil {
		problems = append(problems, held.match(st.want, answer, "")...)
	}
	return problems
}

// wait looks at an action until it has ended, and wants success.
func (t Target) wait(ctx context.Context, id string) error {
	for {
		_, _, answer, err := t.call(ctx, http.MethodGet, "/actions/"+id, nil)
		if err != nil {
			return err
		}
		whole, _ := answer.(map[string]any)
		action, _ := whole["action"].(map[string]any)
		switch action["status"] {
		case "success":
			return nil
		case "running":
			if err := t.Pause(ctx); err != nil {
				return err
			}
		default:
			return fmt.Errorf("action %s: %s", id, show(answer))
		}
	}
}

// call makes a request, and returns the answer as JSON; nil for none.
func (t Target) call(ctx context.Context, method, path string, body any) (int, http.Header, any, error) {
	var send io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, nil, err
		}
		send = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, t.Endpoint+path, send)
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+t.Token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	got, err := t.Client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil || len(text) == 0 {
		return got.StatusCode, got.Header, nil, err
	}
	var answer any
	if err := json.Unmarshal(text, &answer); err != nil {
		return got.StatusCode, got.Header, nil, fmt.Errorf("%s %s: the answer is no JSON: %.100q", method, path, text)
	}
	return got.StatusCode, got.Header, answer, nil
}

// show prints an answer in a line that is not too long.
func show(answer any) string {
	text, err := json.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.800s", text)
}
