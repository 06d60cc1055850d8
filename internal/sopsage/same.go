package sopsage

// SameRecipients reports whether an encrypted file of a person's own is
// encrypted for exactly the recipients of a rule.
func SameRecipients(file string, data []byte, rule *Rule) (bool, error) {
	tree, err := storeFor(file, indentOf(data)).LoadEncryptedFile(data)
	if err != nil {
		return false, unreadable(file, err)
	}
	have := Recipients{groups: tree.Metadata.KeyGroups, threshold: tree.Metadata.ShamirThreshold}
	return have.Equal(rule.Recipients()), nil
}
