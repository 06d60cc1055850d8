package subst

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestParseEnv(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"simple", "A=b", "b"},
		{"spaces around", "  A \t=  b c \t", "b c"},
		{"export", "export A=b", "b"},
		{"export, wide", "export\t A=b", "b"},
		{"windows", "A=b\r\n", "b"},
		{"windows, quoted", "A=\"b\"\r\n", "b"},
		{"byte order mark", "\ufeffA=b", "b"},
		{"empty", "A=", ""},
		{"empty with comment", "A= # nothing", ""},
		{"inner equals", "A=b=c==", "b=c=="},
		{"inner hash", "A=b#c", "b#c"},
		{"leading hash", "A=#c", "#c"},
		{"comment", "A=b # c", "b"},
		{"comment after tab", "A=b\t#c", "b"},
		{"unquoted backslash", `A=C:\new`, `C:\new`},
		{"unquoted inner quote", `A=it's "x"`, `it's "x"`},
		{"not expanded", "A=$B ${C} $$", "$B ${C} $$"},
		{"single quoted", `A='a # "b" \n $c' # d`, `a # "b" \n $c`},
		{"double quoted", `A="a # 'b' = c"`, `a # 'b' = c`},
		{"escapes", `A="a\nb\"c\\d\$e"`, "a\nb\"c\\d$e"},
		{"not expanded when quoted", `A="${B}"`, "${B}"},
		{"empty quoted", `A=""`, ""},
		{"unicode", "A=ü→", "ü→"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vars, err := ParseEnv("cluster.env", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := vars["A"]; !ok || got.Value != tt.want || len(vars) != 1 {
				t.Errorf("got %q, want %q (%v)", got.Value, tt.want, vars)
			}
		})
	}
}

func TestParseEnvNamesAndPositions(t *testing.T) {
	vars, err := ParseEnv("cluster.env", []byte("# comment\n\n  export=1\nexported=2\nexport _x9=3\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Var{
		"export":   {Value: "1", Pos: diag.Pos{File: "cluster.env", Line: 3, Column: 3}},
		"exported": {Value: "2", Pos: diag.Pos{File: "cluster.env", Line: 4, Column: 1}},
		"_x9":      {Value: "3", Pos: diag.Pos{File: "cluster.env", Line: 5, Column: 8}},
	} {
		if vars[name] != want {
			t.Errorf("%s is %v, want %v", name, vars[name], want)
		}
	}
}

// TestParseEnvBroken keeps one mistake from being two: a variable whose line
// cannot be read is there, though nobody knows its value.
func TestParseEnvBroken(t *testing.T) {
	vars, err := ParseEnv("cluster.env", []byte("A 1\nB='x\nC: y\n=z\nA=2\nD=3\nD 4\n"))
	if err == nil {
		t.Fatal("no error")
	}
	for name, broken := range map[string]bool{"A": false, "B": true, "C": true, "D": false} {
		if v, found := vars[name]; !found || v.Broken != broken {
			t.Errorf("%s: %+v", name, v)
		}
	}
	scope := &Scope{Vars: vars}
	if names := scope.Names(); !slices.Equal(names, []string{"A", "D"}) {
		t.Errorf("names %q", names)
	}
	if _, _, _, err := Expand("${A} ${B} ${C:-c}", scope); err != nil {
		t.Errorf("it is an error once more: %v", err)
	}
	if _, _, _, err := Expand("${E}", scope); err == nil {
		t.Error("E is not defined")
	}
}

func TestParseEnvErrors(t *testing.T) {
	const in = `A=1
CANARY
CANARY: x
9A=CANARY
A-B=CANARY
A=CANARY
B="CANARY
C='CANARY
D="x" CANARY
E="CANARY\x"
F="CANARY\` + "\n\tG=CANARY\xff\n=CANARY\nH=\"x\"#CANARY\n"
	_, err := ParseEnv("cluster.env", []byte(in))
	if err == nil {
		t.Fatal("no error")
	}
	var got []string
	for line := range strings.Lines(err.Error()) {
		if !strings.HasPrefix(line, "  ") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		"cluster.env:2:1: this line is not NAME=value",
		"cluster.env:3:1: this line is not NAME=value",
		"cluster.env:4:1: this line is not NAME=value",
		"cluster.env:5:1: this line is not NAME=value",
		`cluster.env:6:1: variable "A" is set twice`,
		"cluster.env:7:3: the quote is not closed on this line",
		"cluster.env:8:3: the quote is not closed on this line",
		"cluster.env:9:6: text after the closing quote",
		"cluster.env:10:10: unknown escape in double quotes",
		"cluster.env:11:10: unknown escape in double quotes",
		"cluster.env:12:10: this is not UTF-8 text",
		"cluster.env:13:1: this line is not NAME=value",
		"cluster.env:14:6: text after the closing quote",
		"13 problems",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if strings.Contains(err.Error(), "CANARY") {
		t.Error("the error repeats a value")
	}
}

func FuzzParseEnv(f *testing.F) {
	for _, seed := range []string{"A=b # c\n", "export A='x'", `A="\n\$"`, "A", "A=\"\\", "\ufeff A = b\r\n", "A=1\nA=2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		vars, _ := ParseEnv("f", data)
		for name, v := range vars {
			if nameLen(name) != len(name) || name == "" || v.Pos.Line == 0 {
				t.Errorf("bad variable %q at %v", name, v.Pos)
			}
			// Whatever a value holds, double quotes can say it.
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "$", `\$`).Replace(v.Value)
			again, err := ParseEnv("f", []byte(name+`="`+quoted+`" # comment`))
			if err != nil || again[name].Value != v.Value {
				t.Errorf("%q came back as %q, %v", v.Value, again[name].Value, err)
			}
		}
	})
}
