package secret

import "testing"

func values(texts ...string) (all []String) {
	for _, text := range texts {
		all = append(all, New(text))
	}
	return all
}

func TestHide(t *testing.T) {
	secrets := values("https://user:password@registry.example.com:48271/", "5", "yes", "-", `a"quoted"thing`, "")
	for _, tt := range []struct{ name, in, want string }{
		{"whole", `invalid URL "https://user:password@registry.example.com:48271/"`, `invalid URL "******"`},
		{"a piece from the middle", "no host registry.example", "no host ******"},
		{"the end", "invalid port :48271 after host", "invalid port ****** after host"},
		{"cut off", "cannot parse `https://us...`", "cannot parse `******...`"},
		{"quoted again", `bad value "a\"quoted\"thing"`, `bad value "******"`},
		{"short, as a word", `"5" is not yes`, `"******" is not ******`},
		{"short, in other words", "yesterday at 15:53", "yesterday at 15:53"},
		{"a sign", "x - y", "x ****** y"},
		{"no secret in it", "machine.install is missing", "machine.install is missing"},
		{"several lines, a secret in a later one", "syntax error:\n | user:password\n | .....^", "syntax error:"},
		{"several lines without a secret", "one\ntwo", "one\ntwo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Hide(tt.in, secrets, nil); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Words that a message and a secret have in common are not from the secret, nor
// is what stands readable.
func TestHideLeavesText(t *testing.T) {
	secrets := values("example-token of production", "staging-eu", "kubernetes", "invalid")
	readable := &Readable{}
	readable.Add([]byte("cluster: staging-eu\nkubernetes: {}\n"))
	for in, want := range map[string]string{
		"for example, in production":       "for example, in production",
		"two examples: example-1":          "two examples: example-1",
		"bad example-token of x":           "bad ******x",
		"staging-eu is not for kubernetes": "staging-eu is not for kubernetes",
		"it is invalid":                    "it is ******",
		"invalidated":                      "invalidated",
	} {
		if got := Hide(in, secrets, readable); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
