// Package sopsage is everything that talosgen does with SOPS and age, and the
// only package that imports them.
//
// It owns four things:
//
//   - [Keys]: the identities of a run, found where sops looks for them.
//   - Files that people write ([Encrypt], [Keys.Reencrypt], [Keys.Rekey],
//     [Keys.DecryptYAML]): exactly what the sops program does, through its library.
//   - [Keyring]: the data keys of an environment, wrapped for their recipients.
//   - Files that render writes ([DataKey.File], [DataKey.Open]): SOPS' format
//     without its tree walk, with nonces that are derived instead of random, so
//     that equal input gives equal bytes.
//
// # How a secret leaf is marked in a rendered file
//
// A rendered file is encrypted leaf by leaf. Its sops block says
// encrypted_comment_regex "^ secret$", so a leaf is encrypted if, and only if,
// the comment "# secret" stands behind it on its own line:
//
//	machine:
//	    token: ENC[…] # secret        key of a mapping, also after a nested block
//	    ca:
//	        key: ENC[…] # secret      first key of a nested mapping
//	        crt: readable
//	    certSANs:
//	        - ENC[…] # secret         item of a list, first or later
//	        - readable
//	    users:
//	        - password: ENC[…] # secret   first key of a mapping in a list
//	          name: readable
//	          - - ENC[…] # secret     lists in lists, at any depth
//
// Why behind, and not on a line above, where sops accepts it too: above the
// first key of a mapping in a list ("# secret" over "- password:") sops takes
// the comment for the whole item and expects every value in it to be encrypted,
// and the spelling that works ("- # secret", the key on the next line) does not
// survive: sops itself moves that comment above the item as soon as it rewrites
// the file. Behind the value it always means this one value, it survives "sops
// edit" and "sops set", and a secret stays one line of a diff.
//
// Further rules of the layout, each pinned by a test:
//
//   - No other comment of the file may be exactly "# secret". Comments with
//     other texts are free, on lines of their own or behind readable values.
//   - A value is a plain scalar on one line: an encrypted text holds no
//     character that needs quotes.
//   - An empty string is not encrypted, as in sops: write "" with or without
//     the marker.
//   - null is never encrypted; nothing with the value null may be a secret.
//   - Every mapping key must resolve to a string (quote 8080, true, null, 1.5,
//     2026-01-01), and no readable integer may exceed 64 signed bits: sops
//     refuses the whole file otherwise.
//   - A readable text that YAML takes for a date must be quoted: sops would
//     give it back as a date with a time. Numbers come back as the same number,
//     not in the same spelling (0o17 as 15, 1.50 as 1.5).
//   - [File.Encrypt] is called in the order in which the leaves stand in the
//     file, over all its documents: the MAC covers the order.
//   - Path elements are the mapping keys from the root of the leaf's own
//     document; list indexes are not part of a path.
//   - The block ([File.Block]) goes behind the last key of the first document,
//     and into that one only. A file without encrypted leaves needs none.
package sopsage
