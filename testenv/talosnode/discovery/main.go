// Command discovery is a discovery service for the nodes of one machine: it
// passes on what the members of a cluster say about themselves, which is
// encrypted, and keeps it in memory.
//
//	discovery <address>
package main

import (
	"log"
	"net"
	"os"

	"github.com/siderolabs/discovery-api/api/v1alpha1/server/pb"
	"google.golang.org/grpc"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: discovery <address>")
	}

	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}

	server := grpc.NewServer()
	pb.RegisterClusterServer(server, &service{clusters: map[string]*cluster{}})

	log.Fatal(server.Serve(listener))
}
