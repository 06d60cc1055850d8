// Package legacy knows where Talos 1.14 keeps what older contracts keep in the
// v1alpha1 document: which legacy field moved to which document, which of them
// Talos refuses beside its generated documents, and how a patch that was
// written for an older contract reads in the new vocabulary.
//
// Facts are one table, [Homes]; [Conflicts] and [Convert] are pure functions
// over parsed YAML that apply it. They run before substitution and before any
// secret is filled in, so ${NAME} travels with its field.
//
// A field is only converted if the result means the same to Talos; whatever
// cannot be expressed stays where it is and is reported. Two differences of
// Talos' own merge remain, because no patch can express them: the new documents
// replace searchDomains and the credential provider configuration, where the
// legacy fields were merged across layers.
package legacy
