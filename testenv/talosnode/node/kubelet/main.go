// Command kubelet stands for the kubelet on nodes that need none: it is as
// healthy as Talos asks for, and runs nothing.
package main

import (
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	log.Println("this is not the real kubelet:", os.Args)

	http.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("ok"))
	})

	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:10248", nil)) }()

	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}
