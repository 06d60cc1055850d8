package progress

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestStage(t *testing.T) {
	var told []Event
	sink := func(e Event) { told = append(told, e) }
	s := Begin(sink, "execute", 2)
	s.Step("create network demo", Begun, "")
	s.Step("create network demo", Done, "10.0.0.0/16")
	broken := errors.New("broken")
	if err := s.End(broken); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if err := Begin(sink, "verify", 0).End(nil); err != nil {
		t.Error(err)
	}
	want := []Event{
		{Stage: "execute", State: Begun, Steps: 2},
		{Stage: "execute", Step: "create network demo", State: Begun},
		{Stage: "execute", Step: "create network demo", State: Done, Text: "10.0.0.0/16"},
		{Stage: "execute", State: Failed, Text: "broken"},
		{Stage: "verify", State: Begun},
		{Stage: "verify", State: Done},
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told %+v", told)
	}
}

func TestNobodyListens(t *testing.T) {
	s := Begin(nil, "execute", 1)
	s.Step("a", Done, "")
	if err := s.End(nil); err != nil {
		t.Error(err)
	}
}

// TestFailure: who was told to stop has not failed.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		err  error
		want State
	}{
		{errors.New("broken"), Failed},
		{context.Canceled, Interrupted},
		{fmt.Errorf("GET /servers: %w", context.Canceled), Interrupted},
		{diag.On("apply", "interrupted").WithCode(diag.Interrupted), Interrupted},
		{diag.On("server a", "limit reached").WithCode(diag.Remote), Failed},
		{diag.On("server a", "does not answer").WithCode(diag.Remote).WithCause(context.Canceled), Failed},
	} {
		if got := Failure(c.err); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}
