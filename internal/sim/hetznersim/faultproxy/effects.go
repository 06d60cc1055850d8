package faultproxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// LostBefore closes the connection before the request had its effect.
func LostBefore() Effect {
	return func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) }
}

// LostAfter closes the connection after the request had its effect.
func LostAfter() Effect {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		ask(r, next)
		panic(http.ErrAbortHandler)
	}
}

// Empty lets the request have its effect, and answers without a body.
func Empty() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) { give(w, ask(r, next), nil) }
}

// Cut lets the request have its effect, and ends the answer in its middle.
func Cut() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(r, next)
		body := answer.Body.Bytes()
		give(w, answer, body[:len(body)/2])
	}
}

// Page answers with a page for people, as proxies and gateways do, before the
// request had its effect.
func Page(status int) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "text/html")
		w.Header()["Date"] = nil // the server's is not of the simulator's time
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<html><body><h1>%d %s</h1></body></html>", status, http.StatusText(status))
	}
}

// PageAfter lets the request have its effect, and answers with the page of a
// gateway that has not waited for it.
func PageAfter(status int) Effect {
	page := Page(status)
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		ask(r, next)
		page(w, r, next)
	}
}

// Refuse answers with an error of the API, before the request had its effect.
func Refuse(status int, code string) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/json")
		w.Header()["Date"] = nil
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"refused on the way","details":null}}`, code)
	}
}

// Edit changes the answer of a request that had its effect.
func Edit(change func(body map[string]any)) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(r, next)
		body := map[string]any{}
		if json.Unmarshal(answer.Body.Bytes(), &body) != nil {
			give(w, answer, answer.Body.Bytes())
			return
		}
		change(body)
		text, err := json.Marshal(body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		give(w, answer, text)
	}
}

// After calls something once the request had its effect, and then answers: a test
// stops its client there, or changes something.
func After(do func()) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(r, next)
		do()
		give(w, answer, answer.Body.Bytes())
	}
}

// Before calls something, then lets the request have its effect, and answers.
func Before(do func()) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		do()
		next.ServeHTTP(w, r)
	}
}

// Skewed answers with another Date, which is ahead by so much; it is asked again
// for each answer.
func Skewed(skew func() time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(r, next)
		if date, err := http.ParseTime(answer.Header().Get("Date")); err == nil {
			answer.Header().Set("Date", date.Add(skew()).Format(http.TimeFormat))
		}
		give(w, answer, answer.Body.Bytes())
	}
}

// Skewing makes effects that are [Skewed] by two durations in turns.
func Skewing(one, other time.Duration) func() Effect {
	return func() Effect {
		var mu sync.Mutex
		now, next := other, one
		return Skewed(func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			now, next = next, now
			return now
		})
	}
}

// Same makes an effect that keeps nothing from one call to the next: it is the same one
// each time.
func Same(e Effect) func() Effect { return func() Effect { return e } }

// Stale answers what was answered before to the same GET, if that is not older
// than lag by a clock, as a cache does that nobody tells of changes.
func Stale(lag time.Duration, now func() time.Time) Effect {
	type kept struct {
		answer *httptest.ResponseRecorder
		at     time.Time
	}
	var mu sync.Mutex
	seen := map[string]kept{}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		fresh := ask(r, next)
		mu.Lock()
		old, is := seen[r.URL.String()]
		if !is || now().Sub(old.at) > lag {
			old = kept{fresh, now()}
			seen[r.URL.String()] = old
		}
		mu.Unlock()
		fresh.Code = old.answer.Code // its time and limit are of now
		give(w, fresh, old.answer.Body.Bytes())
	}
}

// Discard lets a request have its effect, and throws the answer away.
func Discard(r *http.Request, next http.Handler) { ask(r, next) }
