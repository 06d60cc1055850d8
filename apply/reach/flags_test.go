package reach

import "testing"

func TestCheckEndpoint(t *testing.T) {
	for text, want := range map[string]bool{
		"192.0.2.1": true, "2001:db8::1": true, "node.example.com": true, "192.0.2.1:50000": true,
		"": false, "https://192.0.2.1": false, "192.0.2.1/24": false, "a b": false, "me@192.0.2.1": false,
	} {
		if err := CheckEndpoint(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
