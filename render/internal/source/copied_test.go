package source

import (
	"maps"
	"slices"
	"testing"
)

// TestEncryptedParts finds what two environments have in common if one was copied.
func TestEncryptedParts(t *testing.T) {
	tests := []struct {
		name, data string
		want       []string
	}{
		{"nothing", "a: b\n", nil},
		{"values, one of them twice", "a: ENC[AES256_GCM,data:x,iv:1]\nb: [ENC[AES256_GCM,data:y], ENC[AES256_GCM,data:y]]\n",
			[]string{"ENC[AES256_GCM,data:x,iv:1", "ENC[AES256_GCM,data:y"}},
		{"a value over two lines", "a: \"ENC[AES256_GCM,da\\\n  ta:x]\"\n", []string{"ENC[AES256_GCM,da\\\n  ta:x"}},
		{"a value that does not end", "a: ENC[AES256_GCM,data:x\n", nil},
		{"another cipher", "a: ENC[OTHER,data:x]\n", nil},
		{"a seal", "keys:\n    operators:\n        seal: abc=\n        more: seal\n", []string{"seal: abc="}},
		{"lines of another system", "keys:\r\n  seal: abc=\r\n", []string{"seal: abc="}},
		{"a seal of the whole", "seal: abc=\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := slices.Sorted(maps.Keys(encryptedParts([]byte(tt.data)))); !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
