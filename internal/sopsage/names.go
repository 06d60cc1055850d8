package sopsage

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names tells who recipients are, as far as the comments of a .sops.yaml say: a
// comment behind a recipient that has a line of its own, one with the recipient in
// it ("# age1…: Alice"), one above an item of a list, or the anchor of an alias.
// It is what somebody wrote there, and no proof of anything.
func Names(config []byte, recipients []string) map[string]string {
	names := map[string]string{}
	above := ""
	for line := range strings.Lines(string(config)) {
		code, comment := cutComment(strings.TrimSpace(line))
		here := within(code, recipients)
		for _, r := range within(comment, recipients) {
			if names[r] == "" {
				names[r] = name(strings.ReplaceAll(comment, bare(r), ""))
			}
		}
		if len(here) == 1 && names[here[0]] == "" {
			names[here[0]] = nameOf(code, comment, above)
		}
		above = ""
		if code == "" && len(within(comment, recipients)) == 0 {
			above = comment
		}
	}
	return names
}

// nameOf is the name of the one recipient in a line.
func nameOf(code, comment, above string) string {
	if n := name(comment); n != "" {
		return n
	}
	for _, word := range strings.Fields(code) {
		if anchor, ok := strings.CutPrefix(word, "&"); ok {
			return name(anchor)
		}
	}
	if strings.HasPrefix(code, "- ") {
		return name(above)
	}
	return ""
}

// cutComment takes a line of YAML apart. A hash sign begins a comment at the
// beginning of the line, or behind a space; no recipient has one.
func cutComment(line string) (code, comment string) {
	if rest, ok := strings.CutPrefix(line, "#"); ok {
		return "", rest
	}
	code, comment, _ = strings.Cut(line, " #")
	return code, comment
}

// within are the recipients that occur in a text as words.
func within(text string, recipients []string) []string {
	var found []string
	for _, r := range recipients {
		at := strings.Index(text, bare(r))
		if at < 0 || slices.Contains(found, r) {
			continue
		}
		if rest := text[at+len(bare(r)):]; rest == "" || !isWord(rest[0]) {
			found = append(found, r)
		}
	}
	return found
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// bare is a recipient as .sops.yaml has it: without the type that
// [Recipients.Strings] puts in front of all but those of age.
func bare(recipient string) string {
	for _, kind := range []string{"pgp:", "kms:", "gcp_kms:", "azure_kv:", "hc_vault:", "hckms:"} {
		if rest, ok := strings.CutPrefix(recipient, kind); ok {
			return rest
		}
	}
	return recipient
}

// longestName is how much of a comment is shown.
const longestName = 60

// name makes a name of a comment, in characters that can be printed.
func name(comment string) string {
	text := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, comment)
	text = strings.Trim(text, " #:,=-")
	if runes := []rune(text); len(runes) > longestName {
		text = string(runes[:longestName]) + "…"
	}
	return text
}
