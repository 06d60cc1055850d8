package schemas

import (
	"testing"

	"go.yaml.in/yaml/v4"
)

// A reader of the user data gets the key as it is, line by line.
func TestFillHostKey(t *testing.T) {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n-----END OPENSSH PRIVATE KEY-----\n"
	var got struct{ Key, Other string }
	filled := FillHostKey("key: "+HostKeyMarker+"\nother: $x\n", key)
	if err := yaml.Unmarshal([]byte(filled), &got); err != nil {
		t.Fatal(err)
	}
	if got.Key != key || got.Other != "$x" {
		t.Errorf("got %+v", got)
	}
}
