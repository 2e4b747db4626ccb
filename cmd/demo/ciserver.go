package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// ciServer serves the commit statuses of the pull requests, as GitHub and
// Gitea do, on the loopback interface.
type ciServer struct {
	url  string
	http *http.Server
	done chan error

	mu      sync.Mutex
	pending map[string]int // commit -> how often it is not ready yet
}

func serveCI(ctx context.Context, prs []*pull) (*ciServer, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the CI status: %w", err)
	}
	s := &ciServer{
		url:     "http://" + l.Addr().String(),
		done:    make(chan error, 1),
		pending: make(map[string]int),
	}
	for _, p := range prs {
		s.pending[p.head] = p.pending
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /repos/{owner}/{repo}/commits/{sha}/status", s.status)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { s.done <- s.http.Serve(l) }()
	return s, nil
}

func (s *ciServer) close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// status answers for one commit.
func (s *ciServer) status(w http.ResponseWriter, r *http.Request) {
	sha := r.PathValue("sha")
	state := "success"
	s.mu.Lock()
	left, known := s.pending[sha]
	if left > 0 {
		state = "pending"
		s.pending[sha]--
	}
	s.mu.Unlock()
	if !known {
		http.NotFound(w, r)
		return
	}
	type status struct {
		Context string `json:"context"`
		State   string `json:"state"`
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // a lost answer is asked for again
		"sha": sha, "state": state, "total_count": 1,
		"statuses": []status{{Context: "build", State: state}},
	})
}
