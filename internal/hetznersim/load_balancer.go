package hetznersim

type balancer struct{ common }

const kindLoadBalancer = "load_balancer"

func (st *state) balancersOf(int64) []int64            { return []int64{} }
func (st *state) leaveBalancers(int64)                 {}
func (st *state) freeOfBalancers(*server, int64) error { return nil }
