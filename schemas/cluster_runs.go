package schemas

// Notifications say whom talosgen tells of its runs.
type Notifications struct {
	// Webhooks that get a JSON document when a run begins, and when it has ended.
	Webhooks []Webhook `yaml:"webhooks" otherwise:"none"`
	// The status of the commit that is applied.
	CommitStatus CommitStatus `yaml:"commitStatus"`
}

// Webhook is a URL that runs are told to.
type Webhook struct {
	// Its name, unique among them.
	Name string `yaml:"name" required:"true" format:"dnsLabel" example:"ops"`
	// Its URL, which everyone may read. It begins with https://, or leads to this machine.
	URL string `yaml:"url" format:"url" otherwise:"that in urlVariable" example:"https://hooks.example.com/talosgen"`
	// The secret variable with its URL, if the URL alone lets everyone write there.
	URLVariable string `yaml:"urlVariable" format:"variable" otherwise:"none; either this or url" example:"OPS_WEBHOOK_URL"`
	// The secret variable with the key that documents are signed with, by HMAC-SHA256
	// in the header X-Hub-Signature-256.
	KeyVariable string `yaml:"keyVariable" format:"variable" otherwise:"none; required with url" example:"OPS_WEBHOOK_KEY"`
}

// CommitStatus says at which forge commits get a status.
type CommitStatus struct {
	// The forge. The token is that in GITHUB_TOKEN or GITLAB_TOKEN, in the environment of
	// the process.
	Forge string `yaml:"forge" enum:"github,gitlab" otherwise:"none: commits get no status" example:"github"`
	// The repository there.
	Repository string `yaml:"repository" format:"repositoryPath" otherwise:"that of the pipeline, by GITHUB_REPOSITORY or CI_PROJECT_PATH" example:"example/clusters"`
}
