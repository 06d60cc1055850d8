package catalogue

import "github.com/talosgen/talosgen/internal/secret"

// Variables with tokens of the Hetzner Cloud project for one addon alone, which
// nobody has to give: a token that got away is replaced where it was, and the
// others stay.
const (
	csiToken        = "HCLOUD_TOKEN_CSI"
	autoscalerToken = "HCLOUD_TOKEN_AUTOSCALER"
)

// tokenKey is where the Secret of the cloud controller has the token that all
// use who have none of their own. apply reads it too.
const tokenKey = "token"

// ownTokens are the keys of tokens of one's own in that Secret, by variable.
var ownTokens = map[string]string{csiToken: "csi-token", autoscalerToken: "autoscaler-token"}

// token is where an addon finds its token in the Secret of the cloud controller,
// and what it is: that of the variable, if it is given, else that of all. Without
// the cloud controller the Secret is somebody else's, and has one.
func (f *facts) token(variable string) (key string, value secret.String) {
	if on, _ := f.enabled(hcloudCCM()); on && !f.Secrets[variable].IsZero() {
		return ownTokens[variable], f.Secrets[variable]
	}
	return tokenKey, f.Secrets[hcloudToken]
}

// tokenSecret is the part of the Secret that an addon reads, for a checksum:
// nobody tells a program that its token is another one.
func (f *facts) tokenSecret(variable string) object {
	key, value := f.token(variable)
	return secretObject(kubeSystem, hcloudSecret, map[string]string{key: value.Reveal()})
}

// addTokens adds the tokens of one's own that are given for addons that there are.
func (f *facts) addTokens(texts map[string]string) {
	for variable, of := range map[string]entry{csiToken: hcloudCSI(), autoscalerToken: autoscaler()} {
		if on, _ := f.enabled(of); on && !f.Secrets[variable].IsZero() {
			texts[ownTokens[variable]] = f.Secrets[variable].Reveal()
		}
	}
}
