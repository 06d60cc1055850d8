package catalogue_test

func init() {
	kinds["notification.toolkit.fluxcd.io/v1beta3 Provider"] = func() any { return new(fluxProvider) }
	kinds["notification.toolkit.fluxcd.io/v1beta3 Alert"] = func() any { return new(fluxAlert) }
}

// What Flux' definitions have of what is used here.
type (
	fluxProvider struct {
		object
		Spec struct {
			Type      string `json:"type"`
			Address   string `json:"address"`
			Channel   string `json:"channel"`
			SecretRef struct {
				Name string `json:"name"`
			} `json:"secretRef"`
		} `json:"spec"`
	}
	fluxAlert struct {
		object
		Spec struct {
			ProviderRef struct {
				Name string `json:"name"`
			} `json:"providerRef"`
			EventSeverity string `json:"eventSeverity"`
			EventSources  []struct {
				Kind string `json:"kind"`
				Name string `json:"name"`
			} `json:"eventSources"`
			EventMetadata map[string]string `json:"eventMetadata"`
			ExclusionList []string          `json:"exclusionList"`
		} `json:"spec"`
	}
)
