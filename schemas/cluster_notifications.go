package schemas

// Types of notifications, by Flux' names of its providers.
const (
	Slack        = "slack"
	Matrix       = "matrix"
	Telegram     = "telegram"
	Discord      = "discord"
	MSTeams      = "msteams"
	GitHub       = "github"
	GitLab       = "gitlab"
	Gitea        = "gitea"
	Generic      = "generic"
	GenericHMAC  = "generic-hmac"
	Alertmanager = "alertmanager"
)

// Notification is a place that Flux sends its events to.
type Notification struct {
	// Its name, unique among them.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"ops"`
	// What takes the events: a chat; the status of commits at GitHub, GitLab or Gitea;
	// a webhook, with a signature or without; or Alertmanager, which sends mail too.
	Type string `yaml:"type" required:"true" enum:"slack,matrix,telegram,discord,msteams,github,gitlab,gitea,generic,generic-hmac,alertmanager" example:"matrix"`
	// Its URL, unless that is the secret: of the Matrix server, the repository, the
	// webhook, or the API of Alertmanager.
	Address string `yaml:"address" format:"url" otherwise:"Slack's API; for github and gitea, gitops.repository; required for matrix, gitlab, generic-hmac and alertmanager" example:"https://matrix.example.com"`
	// The channel, room or chat.
	Channel string `yaml:"channel" format:"nonEmpty" otherwise:"none; required for slack, matrix and telegram" example:"'!abcdef:example.com'"`
	// The secret variable with what proves who Flux is: the token; the secret key of
	// generic-hmac; for discord, msteams and generic the URL of the webhook.
	Variable string `yaml:"variable" format:"variable" otherwise:"NOTIFY_ and the name in capitals; none for alertmanager" example:"MATRIX_TOKEN"`
	// Whether it is told of failures alone, or of everything.
	Severity string `yaml:"severity" enum:"error,info" otherwise:"info for the status of commits, else error" example:"info"`
	// The kinds of Flux' objects whose events it gets, in the namespace flux-system.
	Kinds []string `yaml:"kinds" enum:"GitRepository,OCIRepository,HelmRepository,HelmChart,HelmRelease,Kustomization,Bucket,ImageRepository,ImagePolicy,ImageUpdateAutomation" otherwise:"Kustomization for the status of commits, else that and the source" example:"[Kustomization, HelmRelease]"`
	// Regular expressions of messages that it does not get.
	Exclude []string `yaml:"exclude" format:"nonEmpty" otherwise:"none" example:"['^Dependencies do not meet ready condition']"`
}
