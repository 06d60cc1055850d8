package render

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// variant is what addons are made of that is secret: what it is, or something
// else of the same shape.
type variant struct {
	real       bool
	scope      *subst.Scope
	secrets    map[string]secret.String // variables
	autoscaled map[string]secret.String // machine configurations, by pool
	files      memFS                    // those of the repository, decrypted; nil until they are needed
}

// realVariant is what it is. Without keys, the secrets that addons need look
// like some.
func (c *compiler) realVariant() *variant {
	v := &variant{real: true, scope: c.Scope, secrets: map[string]secret.String{}, autoscaled: map[string]secret.String{}}
	for name, value := range c.secrets.Variables {
		v.secrets[name] = secret.New(value.Value)
	}
	for _, need := range catalogue.Needs(c.addonFacts(v)) {
		if value, there := c.Scope.Lookup(need.Name); need.Readable && there {
			v.secrets[need.Name] = secret.New(value.Value)
		}
	}
	if c.secrets.Operator == nil {
		_, hasFile := c.Raw[c.File(source.SecretsName)]
		for _, need := range catalogue.Needs(c.addonFacts(v)) {
			if _, there := v.secrets[need.Name]; there || !hasFile {
				v.secrets[need.Name] = secret.New(need.Shape)
			}
		}
	}
	return v
}

// otherVariant is something else: of secrets that can be made, other ones.
func (c *compiler) otherVariant() *variant {
	v := c.realVariant()
	v.real = false
	others := c.others()
	vars := maps.Clone(c.Scope.Vars)
	for name, value := range vars {
		if value.Secret {
			value.Value = others.Of(value.Value)
			vars[name] = value
		}
	}
	v.scope = &subst.Scope{Parent: c.Scope.Parent, Vars: vars}
	for name, value := range v.secrets {
		v.secrets[name] = secret.New(others.Of(value.Reveal()))
	}
	for _, need := range catalogue.Needs(c.addonFacts(v)) {
		if need.Generate == nil {
			continue
		}
		if made, err := need.Generate(others.Random(need.Name)); err == nil {
			v.secrets[need.Name] = made
		}
	}
	return v
}

// others are keyed with what nobody knows who does not know the secrets: whoever
// writes a template must not foresee them. They stay the same from render to
// render, so that what one finds the next one finds too.
func (c *compiler) others() leak.Others { return leak.NewOthers(c.derivedKey("others")) }

// derivedKey is a key for a purpose, which stays the same when the operators
// change.
func (c *compiler) derivedKey(purpose string) []byte {
	secret := "without keys"
	if c.secrets.File != nil {
		secret = c.secrets.File.KeyringBinding.Reveal()
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("talosgen v1 key\x00" + purpose))
	return mac.Sum(nil)
}

// addonFacts are what the catalogue decides from.
func (c *compiler) addonFacts(v *variant) catalogue.Facts {
	f := catalogue.Facts{
		Environment: c.Name, Cluster: c.Config.Cluster, Infrastructure: *c.Infra, Secrets: v.secrets, Autoscaled: v.autoscaled,
		Near: c.Config.Near, ClusterRecipient: placeholder.AgeRecipient,
	}
	if c.secrets.File != nil {
		if public, err := sopsage.PublicKeys(c.File(source.SecretsName), []byte(c.secrets.File.ClusterAgeKey.Reveal())); err == nil && len(public) > 0 {
			f.ClusterRecipient = public[0]
		}
	}
	return f
}

// autoscaledConfigs adds the complete machine configurations of the servers that
// the autoscaler makes.
func (c *compiler) autoscaledConfigs(v, other *variant) error {
	var problems diag.List
	for _, n := range c.Autoscaled {
		cfg, err := c.compose(n)
		if err != nil {
			if c.secrets.Operator == nil {
				continue // reported, or not certain
			}
			problems.AddErr(err)
			continue
		}
		for _, v := range []*variant{v, other} {
			text, err := configText(cfg, v.real, c.others())
			problems.AddErr(err)
			v.autoscaled[n.Pool] = secret.New(text)
		}
	}
	return problems.Err()
}

// configText is a machine configuration as Talos reads it; unless real is set
// with other secrets.
func configText(cfg *machine.Config, real bool, others leak.Others) (string, error) {
	var b strings.Builder
	for i, d := range cfg.Documents() {
		if i > 0 {
			b.WriteString("---\n")
		}
		text, err := d.Text()
		if err != nil {
			return "", err
		}
		if real {
			b.Write(text)
			continue
		}
		leaves, err := d.Leaves()
		if err != nil {
			return "", err
		}
		isSecret, err := cfg.Secret(d)
		if err != nil {
			return "", err
		}
		written := 0
		for j := range leaves {
			if l := &leaves[j]; isSecret[j] {
				b.Write(text[written:l.ValueStart])
				b.WriteString(strconv.Quote(others.Of(l.Value)) + "\n")
				written = l.End
			}
		}
		b.Write(text[written:])
	}
	return b.String(), nil
}

// keyedChecksum makes of the checksum of something secret one that tells only
// whether it changed. Its key stays the same when the operators change, so that
// nothing starts again because of that.
func (c *compiler) keyedChecksum(addon string) func(string) string {
	return func(checksum string) string {
		mac := hmac.New(sha256.New, []byte("without keys"))
		if c.secrets.File != nil {
			mac = hmac.New(sha256.New, []byte(c.secrets.File.ChecksumKey.Or(c.secrets.File.KeyringBinding).Reveal()))
		}
		for _, text := range []string{"talosgen v1 checksum", c.Name, addon, checksum} {
			mac.Write([]byte(text + "\x00"))
		}
		return hex.EncodeToString(mac.Sum(nil))
	}
}

// addonNames are the names of the addons that the environment may have
// directories for: those of the catalogue, and its own.
func (c *compiler) addonNames() []string {
	names := append(catalogue.Names(), slices.Sorted(maps.Keys(c.Config.Addons))...)
	slices.Sort(names)
	return slices.Compact(names)
}
