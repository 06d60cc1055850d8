package render

import "testing"

func TestHide(t *testing.T) {
	secrets := []string{"https://user:password@registry.example.com:48271/", "5", "yes", "-", `a"quoted"thing`, `a\"quoted\"thing`, ""}
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
			if got := hide(tt.in, secrets); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
