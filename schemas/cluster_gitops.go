package schemas

// Engines of GitOps.
const (
	Flux     = "flux"
	ArgoCD   = "argocd"
	NoEngine = "none"
)

// EngineTitle is the name of an engine for people.
func EngineTitle(engine string) string {
	if engine == ArgoCD {
		return "Argo CD"
	}
	return "Flux"
}

// Ways to prove to a Git server who one is.
const (
	DeployKey = "deployKey"
	Token     = "token"
	Public    = "public"
)

// Where the components of the engine come from.
const (
	Managed  = "managed"
	Existing = "existing"
	Operator = "operator" // the Flux Operator
)

// GitOps says what runs the addons in the cluster from Git.
type GitOps struct {
	// What watches the repository and runs what is in it. With none, apply keeps
	// all addons itself.
	Engine string `yaml:"engine" enum:"flux,argocd,none" otherwise:"flux if a repository or oci.url is given, else none" example:"flux"`
	// The URL of the repository, as the cluster reaches it.
	Repository string `yaml:"repository" format:"gitRepository" otherwise:"none; required with argocd, and with flux unless oci.url is given" example:"ssh://git@github.com/example/clusters.git"`
	// The branch that the engine follows.
	Branch string `yaml:"branch" default:"main" format:"gitBranch" example:"production"`
	// Where the rendered tree of the environment is in that repository.
	Path string `yaml:"path" format:"repositoryPath" otherwise:"rendered/ and the name of the environment" example:"clusters/rendered/prod"`
	// How the engine proves to the Git server who it is: with an SSH key that
	// talosgen secrets sync makes, with a token in the secret variable GIT_TOKEN,
	// or not at all.
	Auth string `yaml:"auth" enum:"deployKey,token,public" otherwise:"deployKey for ssh://, public for https://" example:"token"`
	// The user name that goes with the token.
	User string `yaml:"user" default:"git" format:"nonEmpty" example:"oauth2"`
	// Public keys of the Git server, as in a known_hosts file, for servers other
	// than github.com, gitlab.com, bitbucket.org, codeberg.org and git.sr.ht.
	KnownHosts []string `yaml:"knownHosts" format:"knownHost" otherwise:"those of the servers that talosgen knows" example:"[git.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKq5mUPMFi1JP3kPyvyVvYmCeS0bLqTPqbHoTbS9mHCT]"`
	// OpenPGP public keys, as gpg --armor --export prints them, one in each item.
	// Flux then runs a commit only if one of them signed it.
	VerifyKeys []string `yaml:"verifyKeys" format:"pgpPublicKey" otherwise:"none: Flux runs every commit of the branch" example:"[\"-----BEGIN PGP PUBLIC KEY BLOCK-----\\n\\nmDMEZ0example\\n-----END PGP PUBLIC KEY BLOCK-----\"]"`
	// How often the engine looks whether the cluster is as Git says.
	Interval string `yaml:"interval" default:"10m" format:"duration" example:"5m"`
	// Whether talosgen installs the components of the engine, or the Flux Operator,
	// which installs them, or they run already.
	Components string `yaml:"components" default:"managed" enum:"managed,operator,existing" example:"existing"`
	// How Argo CD is to run the addons, with engine: argocd.
	ArgoCD ArgoCDSettings `yaml:"argocd"`
	// What the Flux Operator installs, with components: operator.
	Instance FluxInstance `yaml:"instance"`
	// An artifact in a registry that the engine takes instead of a repository: what a
	// pipeline has pushed there of it.
	OCI OCISource `yaml:"oci"`
	// Whom Flux tells what becomes of it: its objects Provider and Alert.
	Notifications []Notification `yaml:"notifications" otherwise:"none"`
}
