package gitops

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Names of what an artifact in a registry needs.
const (
	// OCISecret is the Secret with what Flux shows the registry.
	OCISecret = "talosgen-oci"
	// OCIVerifySecret is the Secret with the public keys of those who may sign
	// artifacts.
	OCIVerifySecret = "talosgen-oci-signers"
)

// ociRepository is the artifact with the tree. Paths in it are those of the
// repository that it was made of, so what it has besides does not enter either.
func (s Settings) ociRepository() manifest.Object {
	ref := map[string]any{}
	for key, value := range map[string]string{"tag": s.OCI.Tag, "semver": s.OCI.SemVer, "digest": s.OCI.Digest} {
		if value != "" {
			ref[key] = value
		}
	}
	spec := map[string]any{
		"interval": pollInterval,
		"url":      s.OCI.URL,
		"ref":      ref,
		"ignore":   onlyDirs(s.Path, AddonsDir, FluxDir),
	}
	if s.OCI.Insecure {
		spec["insecure"] = true
	}
	if s.Credentials != nil {
		spec["secretRef"] = map[string]any{"name": OCISecret}
	}
	if verify := s.ociVerification(); verify != nil {
		spec["verify"] = verify
	}
	return object("source.toolkit.fluxcd.io/v1", "OCIRepository", Name, spec)
}

// ociVerification says who has to have signed the artifact; nil if nobody has to.
func (s Settings) ociVerification() map[string]any {
	verify := map[string]any{"provider": "cosign"}
	switch {
	case len(s.OCI.VerifyKeys) > 0:
		verify["secretRef"] = map[string]any{"name": OCIVerifySecret}
	case len(s.OCI.VerifyIdentities) > 0:
		var identities []any
		for _, i := range s.OCI.VerifyIdentities {
			identities = append(identities, map[string]any{"issuer": i.Issuer, "subject": i.Subject})
		}
		verify["matchOIDCIdentity"] = identities
	default:
		return nil
	}
	return verify
}

// ociSecrets are what Flux shows the registry, and the keys of those who sign.
func (s Settings) ociSecrets() (all []manifest.Object) {
	if s.Credentials != nil {
		login := newSecret(OCISecret, s.Credentials)
		login["type"] = "kubernetes.io/dockerconfigjson"
		all = append(all, login)
	}
	if len(s.OCI.VerifyKeys) > 0 {
		keys := map[string]string{}
		for i, key := range s.OCI.VerifyKeys {
			keys["signer-"+strconv.Itoa(i+1)+".pub"] = key
		}
		all = append(all, newSecret(OCIVerifySecret, keys))
	}
	return all
}
