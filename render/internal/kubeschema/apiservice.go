package kubeschema

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// apiService is the one kind of the aggregation layer. Its own types are in
// k8s.io/kube-aggregator, with a server around them; these are its fields
// (kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1).
type apiService struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Service *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
			Port      *int32 `json:"port"`
		} `json:"service"`
		Group                 string `json:"group"`
		Version               string `json:"version"`
		InsecureSkipTLSVerify bool   `json:"insecureSkipTLSVerify"`
		CABundle              []byte `json:"caBundle"`
		GroupPriorityMinimum  int32  `json:"groupPriorityMinimum"`
		VersionPriority       int32  `json:"versionPriority"`
	} `json:"spec"`
	Status map[string]any `json:"status"`
}

// DeepCopyObject is what a scheme asks for; nothing here copies.
func (a *apiService) DeepCopyObject() runtime.Object {
	copied := *a
	return &copied
}

func addAPIService(s *runtime.Scheme) error {
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}, &apiService{})
	return nil
}
