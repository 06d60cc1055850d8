package hetznersim

import (
	"net/http"
	"slices"
)

// service is what a load balancer listens to.
type service struct {
	Protocol    string       `json:"protocol"`
	Listen      int          `json:"listen_port"`
	Destination int          `json:"destination_port"`
	Proxy       bool         `json:"proxyprotocol"`
	HTTP        *serviceHTTP `json:"http,omitempty"`
	Check       healthCheck  `json:"health_check"`
}

type serviceHTTP struct {
	CookieName     string  `json:"cookie_name"`
	CookieLifetime int     `json:"cookie_lifetime"`
	TimeoutIdle    int     `json:"timeout_idle"`
	Certificates   []int64 `json:"certificates"`
	Redirect       bool    `json:"redirect_http"`
	Sticky         bool    `json:"sticky_sessions"`
}

type healthCheck struct {
	Protocol string     `json:"protocol"`
	Port     int        `json:"port"`
	Interval int        `json:"interval"` // in seconds
	Timeout  int        `json:"timeout"`  // in seconds
	Retries  int        `json:"retries"`
	HTTP     *checkHTTP `json:"http,omitempty"`
}

type checkHTTP struct {
	Domain      *string  `json:"domain"`
	Path        string   `json:"path"`
	Response    string   `json:"response"`
	StatusCodes []string `json:"status_codes"`
	TLS         bool     `json:"tls"`
}

// serviceInput is a service as requests have it: what is absent has a default,
// or stays as it is.
type serviceInput struct {
	Protocol    *string `json:"protocol"`
	Listen      *int    `json:"listen_port"`
	Destination *int    `json:"destination_port"`
	Proxy       *bool   `json:"proxyprotocol"`
	HTTP        *struct {
		CookieName     *string  `json:"cookie_name"`
		CookieLifetime *int     `json:"cookie_lifetime"`
		TimeoutIdle    *int     `json:"timeout_idle"`
		Certificates   *[]int64 `json:"certificates"`
		Redirect       *bool    `json:"redirect_http"`
		Sticky         *bool    `json:"sticky_sessions"`
	} `json:"http"`
	Check *struct {
		Protocol *string `json:"protocol"`
		Port     *int    `json:"port"`
		Interval *int    `json:"interval"`
		Timeout  *int    `json:"timeout"`
		Retries  *int    `json:"retries"`
		HTTP     *struct {
			Domain      *string   `json:"domain"`
			Path        *string   `json:"path"`
			Response    *string   `json:"response"`
			StatusCodes *[]string `json:"status_codes"`
			TLS         *bool     `json:"tls"`
		} `json:"http"`
	} `json:"health_check"`
}

// complete makes a service of a request, with defaults, and checks it.
func (in serviceInput) complete(at string) (service, error) {
	s := service{Protocol: deref(in.Protocol)}
	switch s.Protocol {
	case "http":
		s.Listen, s.Destination = 80, 80
	case "https":
		s.Listen, s.Destination = 443, 80
	}
	s.Check = healthCheck{Protocol: "http", Interval: 15, Timeout: 10, Retries: 3}
	if s.Protocol == "tcp" {
		s.Check.Protocol = "tcp"
	}
	s.Check.Port = deref(in.Destination)
	if s.Check.Port == 0 {
		s.Check.Port = s.Destination
	}
	return in.over(s, at)
}

// over returns a service with what a request changes, and checks it.
func (in serviceInput) over(s service, at string) (service, error) {
	set(&s.Protocol, in.Protocol)
	set(&s.Listen, in.Listen)
	set(&s.Destination, in.Destination)
	set(&s.Proxy, in.Proxy)
	s.HTTP = in.http(s)
	s.Check = in.check(s.Check)
	var v invalid
	s.validate(&v, at)
	return s, v.err()
}

// set sets a value if there is one.
func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (in serviceInput) http(s service) *serviceHTTP {
	if s.Protocol == "tcp" {
		return nil
	}
	next := serviceHTTP{CookieName: "HCLBSTICKY", CookieLifetime: 300, TimeoutIdle: 50, Certificates: []int64{}}
	if s.HTTP != nil {
		next = *s.HTTP
	}
	if h := in.HTTP; h != nil {
		set(&next.CookieName, h.CookieName)
		set(&next.CookieLifetime, h.CookieLifetime)
		set(&next.TimeoutIdle, h.TimeoutIdle)
		set(&next.Certificates, h.Certificates)
		set(&next.Redirect, h.Redirect)
		set(&next.Sticky, h.Sticky)
	}
	return &next
}

func (in serviceInput) check(c healthCheck) healthCheck {
	h := in.Check
	if h != nil {
		set(&c.Protocol, h.Protocol)
		set(&c.Port, h.Port)
		set(&c.Interval, h.Interval)
		set(&c.Timeout, h.Timeout)
		set(&c.Retries, h.Retries)
	}
	if c.Protocol != "http" {
		c.HTTP = nil
		return c
	}
	none := ""
	next := checkHTTP{Domain: &none, Path: "/", StatusCodes: []string{"2??", "3??"}}
	if c.HTTP != nil {
		next = *c.HTTP
	}
	if h != nil && h.HTTP != nil {
		if h.HTTP.Domain != nil {
			next.Domain = h.HTTP.Domain
		}
		set(&next.Path, h.HTTP.Path)
		set(&next.Response, h.HTTP.Response)
		set(&next.StatusCodes, h.HTTP.StatusCodes)
		set(&next.TLS, h.HTTP.TLS)
	}
	c.HTTP = &next
	return c
}

func (s service) validate(v *invalid, at string) {
	port := func(n int) bool { return n >= 1 && n <= 65535 }
	v.check(s.Protocol == "tcp" || s.Protocol == "http" || s.Protocol == "https", at+"protocol", "Must be one of: tcp, http, https.")
	v.check(port(s.Listen), at+"listen_port", "Must be between 1 and 65535.")
	v.check(port(s.Destination), at+"destination_port", "Must be between 1 and 65535.")
	c := s.Check
	v.check(c.Protocol == "tcp" || c.Protocol == "http", at+"health_check.protocol", "Must be one of: tcp, http.")
	v.check(port(c.Port), at+"health_check.port", "Must be between 1 and 65535.")
	v.check(c.Interval >= 3 && c.Interval <= 60, at+"health_check.interval", "Must be between 3 and 60.")
	v.check(c.Timeout >= 1 && c.Timeout <= 60, at+"health_check.timeout", "Must be between 1 and 60.")
	v.check(c.Retries >= 1 && c.Retries <= 5, at+"health_check.retries", "Must be between 1 and 5.")
	v.check(s.Protocol != "https" || s.HTTP != nil && len(s.HTTP.Certificates) > 0, at+"http.certificates", missing)
}

// putService adds a service to a load balancer that has room for it.
func (c *call) putService(id int64, s service) error {
	b := c.st.balancers.get(id)
	if err := s.besides(b.Services); err != nil {
		return err
	}
	if len(b.Services) >= c.st.cat.lbType(idOrName(b.Type)).Services {
		return overLimit("services limit exceeded", "load_balancer_services_limit")
	}
	c.st.balancers.change(id, func(b *balancer) { b.Services = with(b.Services, s) })
	return nil
}

// besides refuses a service that listens where another one does.
func (s service) besides(others []service) error {
	for _, o := range others {
		for _, port := range s.ports() {
			if slices.Contains(o.ports(), port) {
				return fail("source_port_already_used", "source port %d is already in use", port)
			}
		}
	}
	return nil
}

// ports are those that a service listens on: also for HTTP, if it redirects that
// to HTTPS.
func (s service) ports() []int {
	if s.Protocol == "https" && s.HTTP != nil && s.HTTP.Redirect && s.Listen != 80 {
		return []int{s.Listen, 80}
	}
	return []int{s.Listen}
}

func addService(c *call, b *balancer) (reply, error) {
	in, err := decode[serviceInput](c)
	if err != nil {
		return reply{}, err
	}
	s, err := in.complete("")
	if err != nil {
		return reply{}, err
	}
	if err := c.putService(b.ID, s); err != nil {
		return reply{}, err
	}
	// It was put there to be checked; it is there when the action ends.
	after := c.st.balancers.get(b.ID).Services
	c.st.balancers.put(b)
	return c.changeBalancer("add_service", b, func(b *balancer) { b.Services = after })
}

func updateService(c *call, b *balancer) (reply, error) {
	in, err := decode[serviceInput](c)
	if err != nil {
		return reply{}, err
	}
	i, err := b.service(in.Listen)
	if err != nil {
		return reply{}, err
	}
	s, err := in.over(b.Services[i], "")
	if err != nil {
		return reply{}, err
	}
	next := slices.Clone(b.Services)
	next[i] = s
	if err := s.besides(slices.Delete(slices.Clone(b.Services), i, i+1)); err != nil {
		used := err.(*apiError)
		used.Status = http.StatusUnprocessableEntity // which it has in this call alone
		return reply{}, used
	}
	return c.changeBalancer("update_service", b, func(b *balancer) { b.Services = next })
}

// deleteService ends at once: Hetzner's own client does not wait for it before it
// changes the load balancer further.
func deleteService(c *call, b *balancer) (reply, error) {
	in, err := decode[serviceInput](c)
	if err != nil {
		return reply{}, err
	}
	i, err := b.service(in.Listen)
	if err != nil {
		return reply{}, err
	}
	next := slices.Delete(slices.Clone(b.Services), i, i+1)
	c.st.balancers.change(b.ID, func(b *balancer) { b.Services = next })
	return c.acted(c.done("delete_service", b.ref()))
}

// service finds the service of a port.
func (b *balancer) service(listen *int) (int, error) {
	if listen == nil {
		return 0, badField("listen_port", missing)
	}
	i := slices.IndexFunc(b.Services, func(s service) bool { return s.Listen == *listen })
	if i < 0 {
		return 0, fail("not_found", "service with listen port %d not found", *listen)
	}
	return i, nil
}
