package plan

// Cost is the price of a month, before and after the changes.
type Cost struct {
	Currency string
	VATRate  string // in percent
	Lines    []CostLine
	Before   Price
	After    Price
}

// CostLine is the price of one object for a month.
type CostLine struct {
	Key    Key
	What   string // cpx31 in fsn1, IPv4 address, 10 GB volume
	Before Price
	After  Price
}
