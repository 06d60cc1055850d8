package catalogue_test

func init() {
	for kind, object := range map[string]func() any{
		"cert-manager.io/v1 ClusterIssuer":                   func() any { return new(clusterIssuer) },
		"gateway.networking.k8s.io/v1 GatewayClass":          func() any { return new(gatewayClass) },
		"gateway.networking.k8s.io/v1 Gateway":               func() any { return new(gateway) },
		"gateway.networking.k8s.io/v1 HTTPRoute":             func() any { return new(httpRoute) },
		"gateway.envoyproxy.io/v1alpha1 EnvoyProxy":          func() any { return new(envoyProxy) },
		"gateway.envoyproxy.io/v1alpha1 ClientTrafficPolicy": func() any { return new(clientTrafficPolicy) },
		"traefik.io/v1alpha1 Middleware":                     func() any { return new(middleware) },
		"cilium.io/v2 CiliumLoadBalancerIPPool":              func() any { return new(ciliumPool) },
		"cilium.io/v2alpha1 CiliumL2AnnouncementPolicy":      func() any { return new(ciliumAnnouncement) },
		"cilium.io/v2 CiliumBGPClusterConfig":                func() any { return new(ciliumBGPCluster) },
		"cilium.io/v2 CiliumBGPPeerConfig":                   func() any { return new(ciliumBGPPeer) },
		"cilium.io/v2 CiliumBGPAdvertisement":                func() any { return new(ciliumAdvertisement) },
		"metallb.io/v1beta1 IPAddressPool":                   func() any { return new(metalLBPool) },
		"metallb.io/v1beta1 L2Advertisement":                 func() any { return new(metalLBAdvertisement) },
		"metallb.io/v1beta1 BGPAdvertisement":                func() any { return new(metalLBAdvertisement) },
		"metallb.io/v1beta2 BGPPeer":                         func() any { return new(metalLBPeer) },
	} {
		kinds[kind] = object
	}
}

// What the definitions of others have of what is used here.
type (
	objectKey struct {
		Group       string `json:"group"`
		Kind        string `json:"kind"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		SectionName string `json:"sectionName"`
	}
	secretKey struct {
		Name string `json:"name"`
		Key  string `json:"key"`
	}
	clusterIssuer struct {
		object
		Spec struct {
			ACME struct {
				Server              string    `json:"server"`
				Email               string    `json:"email"`
				PrivateKeySecretRef secretKey `json:"privateKeySecretRef"`
				Solvers             []struct {
					Selector struct {
						DNSZones []string `json:"dnsZones"`
						DNSNames []string `json:"dnsNames"`
					} `json:"selector"`
					DNS01 struct {
						Cloudflare struct {
							APITokenSecretRef secretKey `json:"apiTokenSecretRef"`
						} `json:"cloudflare"`
						Webhook struct {
							GroupName  string `json:"groupName"`
							SolverName string `json:"solverName"`
							Config     struct {
								TokenSecretKeyRef secretKey `json:"tokenSecretKeyRef"`
							} `json:"config"`
						} `json:"webhook"`
					} `json:"dns01"`
					HTTP01 struct {
						Ingress struct {
							IngressClassName string `json:"ingressClassName"`
						} `json:"ingress"`
						GatewayHTTPRoute struct {
							ParentRefs []objectKey `json:"parentRefs"`
						} `json:"gatewayHTTPRoute"`
					} `json:"http01"`
				} `json:"solvers"`
			} `json:"acme"`
		} `json:"spec"`
	}
	gatewayClass struct {
		object
		Spec struct {
			ControllerName string    `json:"controllerName"`
			ParametersRef  objectKey `json:"parametersRef"`
		} `json:"spec"`
	}
	gateway struct {
		object
		Spec struct {
			GatewayClassName string `json:"gatewayClassName"`
			Infrastructure   struct {
				Annotations map[string]string `json:"annotations"`
			} `json:"infrastructure"`
			Listeners []struct {
				Name          string `json:"name"`
				Hostname      string `json:"hostname"`
				Protocol      string `json:"protocol"`
				Port          int32  `json:"port"`
				AllowedRoutes struct {
					Namespaces struct {
						From string `json:"from"`
					} `json:"namespaces"`
				} `json:"allowedRoutes"`
				TLS struct {
					Mode            string      `json:"mode"`
					CertificateRefs []objectKey `json:"certificateRefs"`
				} `json:"tls"`
			} `json:"listeners"`
		} `json:"spec"`
	}
	httpRoute struct {
		object
		Spec struct {
			ParentRefs []objectKey `json:"parentRefs"`
			Rules      []struct {
				Filters []struct {
					Type            string `json:"type"`
					RequestRedirect struct {
						Scheme     string `json:"scheme"`
						Port       int32  `json:"port"`
						StatusCode int    `json:"statusCode"`
					} `json:"requestRedirect"`
				} `json:"filters"`
			} `json:"rules"`
		} `json:"spec"`
	}
	envoyProxy struct {
		object
		Spec struct {
			Provider struct {
				Type       string `json:"type"`
				Kubernetes struct {
					EnvoyDeployment struct {
						Replicas int32 `json:"replicas"`
					} `json:"envoyDeployment"`
					EnvoyService struct {
						Annotations           map[string]string `json:"annotations"`
						Type                  string            `json:"type"`
						ExternalTrafficPolicy string            `json:"externalTrafficPolicy"`
						Patch                 struct {
							Type  string         `json:"type"`
							Value map[string]any `json:"value"`
						} `json:"patch"`
					} `json:"envoyService"`
				} `json:"kubernetes"`
			} `json:"provider"`
		} `json:"spec"`
	}
	clientTrafficPolicy struct {
		object
		Spec struct {
			TargetRefs    []objectKey `json:"targetRefs"`
			ProxyProtocol struct {
				Optional bool `json:"optional"`
			} `json:"proxyProtocol"`
		} `json:"spec"`
	}
	middleware struct {
		object
		Spec struct {
			RedirectScheme struct {
				Scheme    string `json:"scheme"`
				Permanent bool   `json:"permanent"`
			} `json:"redirectScheme"`
		} `json:"spec"`
	}
	selector struct {
		MatchLabels      map[string]string `json:"matchLabels"`
		MatchExpressions []struct {
			Key      string   `json:"key"`
			Operator string   `json:"operator"`
			Values   []string `json:"values"`
		} `json:"matchExpressions"`
	}
	ciliumPool struct {
		object
		Spec struct {
			Blocks []struct {
				CIDR  string `json:"cidr"`
				Start string `json:"start"`
				Stop  string `json:"stop"`
			} `json:"blocks"`
		} `json:"spec"`
	}
	ciliumAnnouncement struct {
		object
		Spec struct {
			Interfaces      []string `json:"interfaces"`
			LoadBalancerIPs bool     `json:"loadBalancerIPs"`
			ServiceSelector selector `json:"serviceSelector"`
		} `json:"spec"`
	}
	ciliumBGPCluster struct {
		object
		Spec struct {
			BGPInstances []struct {
				Name     string `json:"name"`
				LocalASN int64  `json:"localASN"`
				Peers    []struct {
					Name          string `json:"name"`
					PeerASN       int64  `json:"peerASN"`
					PeerAddress   string `json:"peerAddress"`
					PeerConfigRef struct {
						Name string `json:"name"`
					} `json:"peerConfigRef"`
				} `json:"peers"`
			} `json:"bgpInstances"`
		} `json:"spec"`
	}
	ciliumBGPPeer struct {
		object
		Spec struct {
			Families []struct {
				AFI            string   `json:"afi"`
				SAFI           string   `json:"safi"`
				Advertisements selector `json:"advertisements"`
			} `json:"families"`
		} `json:"spec"`
	}
	ciliumAdvertisement struct {
		object
		Spec struct {
			Advertisements []struct {
				AdvertisementType string `json:"advertisementType"`
				Service           struct {
					Addresses []string `json:"addresses"`
				} `json:"service"`
				Selector selector `json:"selector"`
			} `json:"advertisements"`
		} `json:"spec"`
	}
	metalLBPool struct {
		object
		Spec struct {
			Addresses []string `json:"addresses"`
		} `json:"spec"`
	}
	metalLBAdvertisement struct {
		object
		Spec struct {
			IPAddressPools []string `json:"ipAddressPools"`
			Interfaces     []string `json:"interfaces"`
		} `json:"spec"`
	}
	metalLBPeer struct {
		object
		Spec struct {
			MyASN       int64  `json:"myASN"`
			PeerASN     int64  `json:"peerASN"`
			PeerAddress string `json:"peerAddress"`
		} `json:"spec"`
	}
)
