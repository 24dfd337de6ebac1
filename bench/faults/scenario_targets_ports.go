package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// deafPort is a port whose queue of connections is full and stays so: the
// kernel answers no more of them.
func (h *house) deafPort() (string, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	h.undo = append(h.undo, func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", err
	}
	if err := syscall.Listen(fd, 0); err != nil {
		return "", err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", err
	}
	addr := "127.0.0.1:" + strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for range 10 {
		conn, err := net.DialTimeout("tcp", addr, 300*time.Millisecond)
		if err != nil {
			return addr, nil // it is full
		}
		h.undo = append(h.undo, func() { _ = conn.Close() })
	}
	return "", errSkip{"the queue of a listener can't be filled here"}
}

// mutePort takes connections and says nothing.
func (h *house) mutePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	h.undo = append(h.undo, func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(io.Discard, conn) // until the caller hangs up
				_ = conn.Close()
			}()
		}
	}()
	return ln.Addr().String(), nil
}

// memoryGrowth is how much a worker may grow while targets send all they can,
// in MiB.
const memoryGrowth = 40

// watchMemory lets the load go on and notes how much a worker grew at most.
func watchMemory(d time.Duration) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		stop := h.sampleMemory(ctx, "worker", "memory grown, MiB")
		rest(ctx, d)
		return stop()
	}
}

// sampleMemory measures the processes of a role until the function that it
// gives is called; the fact is the most that one of them grew since the start.
func (h *house) sampleMemory(ctx context.Context, role, fact string) (stop func() error) {
	nodes := h.with(role)
	base := make([]float64, len(nodes))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		most := 0.0
		for first := true; ; first = false {
			for i, n := range nodes {
				now, err := residentMiB(n.p.pid())
				if err != nil {
					done <- err
					return
				}
				if first {
					base[i] = now
				}
				most = max(most, now-base[i])
			}
			h.mu.Lock()
			h.facts[fact] = most
			h.mu.Unlock()
			if ctx.Err() != nil {
				done <- nil
				return
			}
			rest(ctx, 200*time.Millisecond)
		}
	}()
	return func() error { cancel(); return <-done }
}

// residentMiB is the memory of a process that is in RAM.
func residentMiB(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(raw), "VmRSS:")
	if !ok {
		return 0, fmt.Errorf("process %d tells no VmRSS", pid)
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	return kib / 1024, err
}

// countGoroutines notes how many goroutines the workers have before the load
// has gone on.
func countGoroutines(d time.Duration) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		n, err := h.goroutines()
		if err != nil {
			return err
		}
		h.facts["goroutines before"] = n
		rest(ctx, d)
		return nil
	}
}

// goroutinesBack: a call that is over leaves nothing behind.
func (h *house) goroutinesBack() error {
	before, now := h.facts["goroutines before"], 0.0
	var err error
	late := within(20*time.Second, "the goroutines are gone", func() bool {
		now, err = h.goroutines()
		return err == nil && now <= before+20
	})
	h.facts["goroutines after"] = now
	if err != nil {
		return err
	}
	if late != nil {
		return fmt.Errorf("workers had %.0f goroutines and have %.0f", before, now)
	}
	return nil
}

// goroutines of all workers, by what they tell themselves.
func (h *house) goroutines() (float64, error) {
	sum := 0.0
	for _, n := range h.with("worker") {
		resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", n.metrics))
		if err != nil {
			return 0, err
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return 0, err
		}
		_, rest, ok := strings.Cut(string(raw), "\ngo_goroutines ")
		if !ok {
			return 0, fmt.Errorf("%s tells no go_goroutines", n.name)
		}
		v, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}
