package schemas

// OCISource is an artifact in a registry that Flux takes the addons from.
type OCISource struct {
	// Where it is, without a tag.
	URL string `yaml:"url" format:"ociURL" otherwise:"none: the engine takes a repository" example:"oci://ghcr.io/example/clusters"`
	// The tag that the engine follows.
	Tag string `yaml:"tag" format:"imageTag" otherwise:"latest, without semver or digest" example:"prod"`
	// The range of versions whose newest one the engine follows.
	SemVer string `yaml:"semver" format:"nonEmpty" otherwise:"none" example:"1.x"`
	// The digest of the artifact: it changes with a render alone.
	Digest string `yaml:"digest" format:"ociDigest" otherwise:"none" example:"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	// The user whom the registry knows, with a token in the secret variable
	// OCI_TOKEN.
	User string `yaml:"user" format:"nonEmpty" otherwise:"none: everyone may read it" example:"clusters-reader"`
	// Whether the registry is reached without TLS, as in tests.
	Insecure bool `yaml:"insecure" default:"false" example:"true"`
	// Public keys of cosign. Flux then runs an artifact only if one of them signed it.
	VerifyKeys []string `yaml:"verifyKeys" format:"publicKey" otherwise:"none" example:"[\"-----BEGIN PUBLIC KEY-----\\nMFkwEwexample\\n-----END PUBLIC KEY-----\"]"`
	// Who has to have signed it without a key, as pipelines do. Flux then runs an
	// artifact only if one of them did.
	VerifyIdentities []OCIIdentity `yaml:"verifyIdentities" otherwise:"none"`
}

// OCIIdentity is who signed an artifact, as the certificate of the signature says.
type OCIIdentity struct {
	// A regular expression of who vouches for the subject.
	Issuer string `yaml:"issuer" required:"true" format:"nonEmpty" example:"'^https://token.actions.githubusercontent.com$'"`
	// A regular expression of the subject.
	Subject string `yaml:"subject" required:"true" format:"nonEmpty" example:"'^https://github.com/example/clusters/.*$'"`
}
