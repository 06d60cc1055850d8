package plan

import "testing"

func TestBrief(t *testing.T) {
	const schematic = "ce4c980550dd2ab1b17bbf2b08801c7e"
	for _, tt := range []struct{ text, want string }{
		{"+ image/os=talos,talos_schematic_id=" + schematic + ",talos_version=v1.14.1/x86", "+ image/talos v1.14.1 ce4c980550dd x86"},
		{"os=talos,talos_schematic_id=" + schematic + ",talos_version=v1.15.0-beta.0 arm", "talos v1.15.0-beta.0 ce4c980550dd arm"},
		{"os=talos,talos_schematic_id=" + schematic + ",talos_version=v1.14.1", "talos v1.14.1 ce4c980550dd"},
		{"create image/os=talos,talos_schematic_id=" + schematic + ",talos_version=v1.14.1/x86: downloading https://x/y", "create image/talos v1.14.1 ce4c980550dd x86: downloading https://x/y"},
		// Whoever selects by labels of their own reads their own labels.
		{"image/os=talos,team=a/x86", "image/os=talos,team=a/x86"},
		{"server/os", "server/os"},
		{"", ""},
	} {
		if got := Brief(tt.text); got != tt.want {
			t.Errorf("%s\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
	}
}
