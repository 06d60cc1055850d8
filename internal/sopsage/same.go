package sopsage

// SameRecipients reports whether an encrypted file of a person's own is
// encrypted for exactly the recipients of a rule.
func SameRecipients(file string, data []byte, rule *Rule) (bool, error) {
	have, err := FileRecipients(file, data)
	return err == nil && have.Equal(rule.Recipients()), err
}

// FileRecipients returns who can read an encrypted file of a person's own.
func FileRecipients(file string, data []byte) (Recipients, error) {
	tree, err := storeFor(file, indentOf(data)).LoadEncryptedFile(data)
	if err != nil {
		return Recipients{}, unreadable(file, err)
	}
	return Recipients{groups: tree.Metadata.KeyGroups, threshold: tree.Metadata.ShamirThreshold}, nil
}
