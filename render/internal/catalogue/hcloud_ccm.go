package catalogue

import (
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	ccmName = "hcloud-cloud-controller-manager"
	// From the releases of hetznercloud/hcloud-cloud-controller-manager.
	ccmImage   = "docker.io/hetznercloud/hcloud-cloud-controller-manager"
	ccmVersion = "v1.35.0"

	// hcloudSecret is the Secret that everything for Hetzner Cloud reads the
	// token from, by convention.
	hcloudSecret = "hcloud"
)

// hcloudCCM is Hetzner's cloud controller manager: it tells Kubernetes which
// server a node is, makes load balancers for services and routes for pods.
func hcloudCCM() entry {
	e := entry{
		about:   "Hetzner's cloud controller manager: introduces nodes, makes load balancers for services and routes for pods",
		builtIn: true, defaultOn: "on Hetzner", options: "kubernetes.externalCloudProvider, hetzner.loadBalancers, hetzner.podRoutes, hetzner.robot",
		name: "hcloud-ccm", layer: Bootstrap, namespace: kubeSystem, fixed: true, hetzner: true, version: ccmVersion,
		onlyBy: "kubernetes.externalCloudProvider",
		wanted: func(f *facts) (bool, string) {
			return *f.Cluster.Kubernetes.ExternalCloudProvider, "kubernetes.externalCloudProvider"
		},
		needs: func(f *facts) []Need { return append(needToken(f), needRobot(f)...) },
	}
	e.build = func(f *facts, a *Addon) {
		secret := ccmSecret(f)
		a.Keep = true
		a.Objects = append([]object{secret}, ccmRBAC()...)
		a.Objects = append(a.Objects, ccmDaemonSet(f, ccmImage+":"+f.version(e), secret))
	}
	return e
}

// needRobot is the need of the account for dedicated servers, if there is one.
func needRobot(f *facts) []Need {
	r := f.Cluster.Hetzner.Robot
	if r.PasswordVariable == "" {
		return nil
	}
	return []Need{
		{Name: r.UserVariable, Option: "hetzner.robot.userVariable", What: "the user of Hetzner Robot's web service", Readable: true, Shape: "user"},
		{Name: r.PasswordVariable, Option: "hetzner.robot.passwordVariable", What: "the password of Hetzner Robot's web service", Shape: "password"},
	}
}

// ccmSecret names the network by its id if it is known by it alone.
func ccmSecret(f *facts) object {
	texts := map[string]string{tokenKey: f.Secrets[hcloudToken].Reveal()}
	f.addTokens(texts)
	if network := f.networkName(); network != "" {
		texts["network"] = network
	}
	if r := f.Cluster.Hetzner.Robot; r.PasswordVariable != "" {
		texts["robot-user"] = f.Secrets[r.UserVariable].Reveal()
		texts["robot-password"] = f.Secrets[r.PasswordVariable].Reveal()
	}
	return secretObject(kubeSystem, hcloudSecret, texts)
}

// networkName is the name of the private network, or its id.
func (f *facts) networkName() string {
	switch n := f.Infrastructure.Network; {
	case n == nil:
		return ""
	case n.Name != "":
		return n.Name
	default:
		return strconv.FormatInt(n.ExistingID, 10)
	}
}

// ccmRBAC is what its documentation asks for, and what choosing a leader takes.
func ccmRBAC() []object {
	role := "system:" + ccmName
	return []object{
		serviceAccount(kubeSystem, ccmName),
		clusterRole(role,
			rule("", "configmaps", "get list watch"),
			rule("", "events", "create patch update"),
			rule("", "nodes", "get list watch patch update delete"),
			rule("", "nodes/status", "patch"),
			rule("", "services", "list watch"),
			rule("", "services/status", "patch update"),
			rule("", "serviceaccounts", "create"),
			rule("coordination.k8s.io", "leases", "create get list watch update")),
		clusterRoleBinding(role+":restricted", role, kubeSystem, ccmName),
	}
}

func ccmDaemonSet(f *facts, image string, secret object) object {
	container := fields{
		"name": ccmName, "image": image,
		"args": []string{
			"--cloud-provider=hcloud", "--allow-untagged-cloud",
			"--route-reconciliation-period=30s", "--webhook-secure-port=0",
			"--feature-gates=CloudControllerManagerWatchBasedRoutesReconciliation=true",
			"--allocate-node-cidrs=true", "--cluster-cidr=" + strings.Join(f.Cluster.Network.PodCidrs, ","),
		},
		"env":             ccmEnv(f),
		"ports":           items{fields{"name": "metrics", "containerPort": 8233}},
		"resources":       fields{"requests": requests("100m", "50Mi")},
		"securityContext": confined(),
	}
	pod := fields{
		"serviceAccountName": ccmName,
		"priorityClassName":  "system-cluster-critical",
		"securityContext":    as(65532),
		"hostNetwork":        true,
		"dnsPolicy":          "Default",
		"nodeSelector":       onControlPlanes(),
		// It comes up before anything else: nodes are neither known to it nor,
		// without a CNI, ready.
		"tolerations": []fields{
			tolerateUninitialized(), tolerateControlPlanes(), tolerate("node.kubernetes.io/not-ready", ""), tolerate("CriticalAddonsOnly", ""),
		},
		"containers": []fields{container},
	}
	return daemonSet(kubeSystem, ccmName, checksum(secret), pod)
}

func ccmEnv(f *facts) []fields {
	values := loadBalancerEnv(f)
	values["HCLOUD_NETWORK_ROUTES_ENABLED"] = strconv.FormatBool(*f.Cluster.Hetzner.PodRoutes)
	if k := f.Cluster.Talos.KubePrism; k.Enabled {
		// Its way to the API needs no CNI.
		values["KUBERNETES_SERVICE_HOST"] = "127.0.0.1"
		values["KUBERNETES_SERVICE_PORT"] = strconv.Itoa(k.Port)
	}
	list := []fields{envSecret("HCLOUD_TOKEN", hcloudSecret, "token")}
	if f.networkName() != "" {
		list = append(list, envSecret("HCLOUD_NETWORK", hcloudSecret, "network"))
	}
	if f.Cluster.Hetzner.Robot.PasswordVariable != "" {
		values["ROBOT_ENABLED"] = "true"
		list = append(list, envSecret("ROBOT_USER", hcloudSecret, "robot-user"), envSecret("ROBOT_PASSWORD", hcloudSecret, "robot-password"))
	}
	return append(list, envs(values)...)
}

// loadBalancerEnv are the defaults for load balancers. Times are durations,
// whatever Hetzner's documentation says: a plain number ends the program.
func loadBalancerEnv(f *facts) map[string]string {
	b := f.Cluster.Hetzner.LoadBalancers
	values := map[string]string{
		"ENABLED":                 strconv.FormatBool(b.Enabled),
		"TYPE":                    b.Type,
		"ALGORITHM_TYPE":          b.Algorithm,
		"DISABLE_PUBLIC_NETWORK":  strconv.FormatBool(!b.PublicNetwork),
		"DISABLE_IPV6":            strconv.FormatBool(!b.IPv6),
		"DISABLE_PRIVATE_INGRESS": strconv.FormatBool(!b.PrivateIngress),
		"USE_PRIVATE_IP":          strconv.FormatBool(b.PrivateTargets),
		"USES_PROXYPROTOCOL":      strconv.FormatBool(b.ProxyProtocol),
		"HEALTH_CHECK_INTERVAL":   strconv.Itoa(b.HealthCheck.Interval) + "s",
		"HEALTH_CHECK_TIMEOUT":    strconv.Itoa(b.HealthCheck.Timeout) + "s",
		"HEALTH_CHECK_RETRIES":    strconv.Itoa(b.HealthCheck.Retries),
	}
	if location := f.loadBalancerLocation(); location != "" {
		values["LOCATION"] = location
	}
	if subnet := f.subnet("load-balancers"); subnet != nil {
		values["PRIVATE_SUBNET_IP_RANGE"] = subnet.IPRange
	}
	named := make(map[string]string, len(values))
	for name, value := range values {
		named["HCLOUD_LOAD_BALANCERS_"+name] = value
	}
	return named
}

// loadBalancerLocation is that of the first server if there is no region.
func (f *facts) loadBalancerLocation() string {
	if location := f.Cluster.Hetzner.LoadBalancers.Location; location != "" {
		return location
	}
	for _, s := range f.Infrastructure.Servers {
		if len(s.Locations) > 0 {
			return s.Locations[0]
		}
	}
	return ""
}

// subnet is the subnet of the private network for a purpose, or nil.
func (f *facts) subnet(purpose string) *schemas.InfraSubnet {
	if f.Infrastructure.Network == nil {
		return nil
	}
	for i, s := range f.Infrastructure.Network.Subnets {
		if s.Purpose == purpose {
			return &f.Infrastructure.Network.Subnets[i]
		}
	}
	return nil
}
