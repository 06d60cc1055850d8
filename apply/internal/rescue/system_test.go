package rescue

import "testing"

func TestQuote(t *testing.T) {
	if got := quote("it's $HOME"); got != `'it'\''s $HOME'` {
		t.Error(got)
	}
}
