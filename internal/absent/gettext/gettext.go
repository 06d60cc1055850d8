// Package gettext takes the place of github.com/chai2010/gettext-go, by which kubectl
// translates its own messages: talosgen prints none of them (see decision 0018). It has
// what kubectl's library calls, and every text is as it was written.
package gettext

// Gettexter would have translations.
type Gettexter struct{}

// New has none.
func New(string, string, ...any) Gettexter { return Gettexter{} }

// BindLocale binds nothing.
func BindLocale(Gettexter) {}

// SetDomain returns the domain.
func SetDomain(domain string) string { return domain }

// SetLanguage returns the language.
func SetLanguage(language string) string { return language }

// PGettext returns the text.
func PGettext(_, text string) string { return text }

// PNGettext returns the text for so many.
func PNGettext(_, one, several string, n int) string {
	if n == 1 {
		return one
	}
	return several
}
