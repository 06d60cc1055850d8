package machine

// TalosOptions are the options of the operating system.
type TalosOptions struct{}

// talos sets the options of the operating system.
func (b *optionBuilder) talos() {}
