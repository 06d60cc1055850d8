// Package kubeflags knows flags, feature gates and admission plugins of the programs
// of Kubernetes that begin or end with a minor version: a program does not start with
// one that it does not know.
//
// Sources: of feature gates the names that are declared in k8s.io/kubernetes,
// k8s.io/apiserver, k8s.io/apiextensions-apiserver and k8s.io/component-base, of each
// minor against the one before; of flags and plugins the declarations in cmd/, in
// pkg/kubeapiserver/options and in the options of k8s.io/apiserver, in the same way.
// Gates that patches of older minors have got, or may have, by what
// versioned_feature_list.yaml says of them, only end. What is not listed is not known
// here, and never a fault. Flags that other modules declare are not listed.
package kubeflags
