//go:build linux

package talosenv

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"
)

// registry serves images to the nodes. Which registry an image is asked for
// from makes no difference, and neither does its version, unless there is an
// image with that tag: "kubelet:v1.37.1".
type registry struct {
	images map[string]image
	server *http.Server
	url    string

	mu     sync.Mutex
	blobs  map[string]blob   // by digest
	latest map[string]string // digests of manifests, by image, as in images
}

func startRegistry(address netip.Addr, images map[string]image) (*registry, error) {
	listener, err := net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
	if err != nil {
		return nil, err
	}

	r := &registry{
		images: images,
		url:    "http://" + listener.Addr().String(),
		blobs:  map[string]blob{},
		latest: map[string]string{},
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/{$}", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /v2/{path...}", r.serve)

	r.server = &http.Server{Handler: mux}

	go func() { _ = r.server.Serve(listener) }() // ends by stop

	return r, nil
}

func (r *registry) stop() error {
	return r.server.Close()
}

// serve answers for /v2/<name>/manifests/<tag or digest> and
// /v2/<name>/blobs/<digest>.
func (r *registry) serve(w http.ResponseWriter, request *http.Request) {
	rest, reference := path.Split(request.PathValue("path"))
	rest, kind := path.Split(path.Clean(rest))

	digest := reference

	if kind == "manifests" && !strings.HasPrefix(reference, "sha256:") {
		var err error
		if digest, err = r.manifest(path.Base(rest), reference); err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
	}

	r.mu.Lock()
	b, found := r.blobs[digest]
	r.mu.Unlock()

	if !found {
		http.Error(w, "no "+digest, http.StatusNotFound)
		return
	}

	w.Header().Set("Content-Type", b.mediaType)
	w.Header().Set("Content-Length", fmt.Sprint(b.size))
	w.Header().Set("Docker-Content-Digest", digest)

	if request.Method != http.MethodHead {
		// A node that breaks off asks again.
		_ = b.write(w)
	}
}

// manifest returns the digest of an image's manifest, and makes the image when
// it is asked for first.
func (r *registry) manifest(name, tag string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if _, tagged := r.images[name+":"+tag]; tagged {
		name += ":" + tag
	}

	if digest, ok := r.latest[name]; ok {
		return digest, nil
	}

	files, ok := r.images[name]
	if !ok {
		return "", fmt.Errorf("there is no image %s:%s", name, tag)
	}

	digest, blobs, err := files.blobs()
	if err != nil {
		return "", err
	}

	for digest, b := range blobs {
		r.blobs[digest] = b
	}

	r.latest[name] = digest

	return digest, nil
}
