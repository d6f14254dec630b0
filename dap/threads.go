package dap

import (
	"context"
	"fmt"

	godap "github.com/google/go-dap"
)

// threads lists the threads. While the program runs, it lists the known ones.
func (s *server) threads(context.Context, struct{}) (any, error) {
	body := godap.ThreadsResponseBody{Threads: []godap.Thread{}}
	if s.phase.get() == phaseEnded {
		return body, nil
	}
	list, err := s.query.Threads()
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		name := t.Name
		if name == "" {
			name = fmt.Sprintf("Thread %d", t.Number)
		}
		body.Threads = append(body.Threads, godap.Thread{Id: int(t.ID), Name: name})
	}
	return body, nil
}
