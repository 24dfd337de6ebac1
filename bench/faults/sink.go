package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// sink is the target of all tasks: a process of its own with a record of its
// own, so that ax can't spoil the evidence.
type sink struct {
	*process
	url    string
	record string
}

func startSink(dir string) (*sink, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(freePort())
	s := &sink{url: "http://127.0.0.1:" + port, record: filepath.Join(dir, "sink.jsonl")}
	if s.process, err = launch(dir, "sink", nil, self, "-sink", port, "-record", s.record); err != nil {
		return nil, err
	}
	return s, within(10*time.Second, "the sink answers", func() bool {
		resp, err := http.Get(s.url + "/ping")
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil
	})
}

// call is what the sink notes of one request: a line when it came, before any
// answer, and a line when it was done with.
type call struct {
	N        int64  `json:"n"`
	Done     bool   `json:"done,omitempty"`
	Path     string `json:"path,omitempty"`
	Key      string `json:"key,omitempty"`
	Instance string `json:"instance,omitempty"`
	Attempt  int    `json:"attempt,omitempty"`
	Replay   int    `json:"replay,omitempty"`
	Task     string `json:"task,omitempty"`
	At       int64  `json:"at"` // epoch ms
	Status   int    `json:"status,omitempty"`
	Broken   bool   `json:"broken,omitempty"`  // the caller hung up before the answer
	Receipt  string `json:"receipt,omitempty"` // what became of the receipt
	Note     string `json:"note,omitempty"`    // what else it tried, and what came of it
}

// recorder writes calls to the file; each line is out of the process before
// the call goes on.
type recorder struct {
	mu   sync.Mutex
	next int64
	out  *os.File
}

func (r *recorder) begin(c call) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	c.N = r.next
	r.write(c)
	return c.N
}

func (r *recorder) end(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Done = true
	r.write(c)
}

func (r *recorder) write(c call) {
	c.At = time.Now().UnixMilli()
	raw, err := json.Marshal(c)
	if err == nil {
		_, err = r.out.Write(append(raw, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the record can't be written:", err)
		os.Exit(1)
	}
}

// serveSink is the sink's process.
func serveSink(port, record string) error {
	out, err := os.OpenFile(record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s := &sinkServer{recorder: &recorder{out: out}, http: &http.Client{Timeout: 5 * time.Second}, tickets: map[string]ticket{}}
	srv := http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}
	return srv.ListenAndServe()
}

type sinkServer struct {
	*recorder
	http *http.Client

	tickets map[string]ticket // of attempts, by instance and number; guarded by the recorder's lock
	last    ticket
	healed  atomic.Bool // what is sick is well
}

func (s *sinkServer) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ping":
		return
	case "/heal":
		s.healed.Store(true)
		return
	}
	var body struct {
		Task string `json:"task"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body) // a body that isn't JSON has no task
	no := func(name string) int { n, _ := strconv.Atoi(r.Header.Get(name)); return n }
	c := call{
		Path: r.URL.Path, Key: r.Header.Get("Idempotency-Key"), Instance: r.Header.Get("Ax-Instance"),
		Attempt: no("Ax-Attempt"), Replay: no("Ax-Replay"), Task: body.Task,
	}
	n := s.begin(c)
	answer := &answering{ResponseWriter: w}
	s.behave(answer, r, c, n)
	s.end(call{N: n, Status: answer.status, Broken: r.Context().Err() != nil})
}

// answering notes the status.
type answering struct {
	http.ResponseWriter
	status int
}

func (a *answering) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// readCalls reads a record: what came, with its end if there was one.
func readCalls(file string) ([]call, []int64, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	var calls []call
	var ends []int64
	at := map[int64]int{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c call
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return nil, nil, fmt.Errorf("record of the sink: %w", err)
		}
		if !c.Done {
			at[c.N] = len(calls)
			calls, ends = append(calls, c), append(ends, 0)
			continue
		}
		i, ok := at[c.N]
		if !ok {
			continue // a receipt's fate, written after the end
		}
		if c.Note != "" {
			calls[i].Note += c.Note + "\n"
			continue
		}
		if c.Receipt != "" {
			calls[i].Receipt = c.Receipt
			continue
		}
		calls[i].Status, calls[i].Broken, ends[i] = c.Status, c.Broken, c.At
	}
	return calls, ends, lines.Err()
}
