package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ticket is what a call brought for its receipt.
type ticket struct {
	url, token string
	call       int64 // the sink's number of it
}

// misuse answers 202 and does with receipts what no target should:
//
//	many     50 in parallel, after 200 ms
//	mixed    25 successes and 25 failures in parallel: one of the two counts
//	foreign  a good token at another instance's address, then its own
//	forged   a token with other bytes, an empty one, none, for a receipt and
//	         for a progress; then the good one
//	older    attempt 1 answers 500; attempt 2 is reported with the token of 1:
//	         its failure changes nothing, its success counts
//	old      attempt 1 answers 500 for good; its replay is accepted, then the
//	         old instance is reported a success, which changes nothing; then
//	         the replay is
//	late     is reported after 3 s, when its deadline is over
//	ended    answers 200 at once, and is then reported a failure
func (s *sinkServer) misuse(w http.ResponseWriter, r *http.Request, how string, c call, n int64) {
	mine := ticket{r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token"), n}
	other, first := s.remember(c, mine)
	if (how == "older" && c.Attempt == 1) || (how == "old" && c.Replay == 0) {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if how == "ended" {
		w.WriteHeader(http.StatusOK)
	} else {
		w.WriteHeader(http.StatusAccepted)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		switch how {
		case "many":
			s.crowd(n, mine, func(int) string { return "succeeded" })
		case "mixed":
			s.crowd(n, mine, func(i int) string { return choose(i%2 == 0, "succeeded", "failed") })
			return // either may have been first
		case "foreign":
			s.try(n, "foreign", ticket{url: other.url, token: mine.token}, "succeeded")
		case "forged":
			for _, token := range []string{flip(mine.token), mine.token + "x", "x", ""} {
				s.try(n, "forged", ticket{url: mine.url, token: token}, "succeeded")
				s.try(n, "forged", ticket{url: strings.TrimSuffix(mine.url, "receipt") + "progress", token: token}, "succeeded")
			}
		case "older":
			s.try(n, "older failed", ticket{url: mine.url, token: first.token}, "failed")
			s.report(mine.url, first.token, first.call)
			return
		case "old":
			s.try(n, "old", s.ofReplay(c.Key), "succeeded")
		case "late":
			time.Sleep(3 * time.Second)
			s.try(n, "late", mine, "succeeded")
			return
		case "ended":
			s.try(n, "ended", mine, "failed")
			return
		}
		s.report(mine.url, mine.token, n)
	}()
}

// remember keeps the ticket and gives that of another instance, and that of
// this one's first attempt.
func (s *sinkServer) remember(c call, mine ticket) (other, first ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	other, s.last = s.last, mine
	if other.url == "" {
		other.url = strings.Replace(mine.url, c.Instance, "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", 1)
	}
	s.tickets[c.Instance+"/"+strconv.Itoa(c.Attempt)] = mine
	s.tickets[c.Key+"#"+strconv.Itoa(c.Replay)] = mine
	return other, s.tickets[c.Instance+"/1"]
}

// ofReplay is the ticket of the action's original instance.
func (s *sinkServer) ofReplay(key string) ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tickets[key+"#0"]
}

// flip changes the token's middle.
func flip(token string) string {
	raw := []byte(token)
	if i := len(raw) / 2; i < len(raw) {
		raw[i] = choose(raw[i] == 'A', byte('B'), byte('A'))
	}
	return string(raw)
}

func (s *sinkServer) crowd(n int64, t ticket, outcome func(int) string) {
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() { s.try(n, "crowd", t, outcome(i)) })
	}
	all.Wait()
}

// try sends a receipt until there is an answer that is not an outage, and
// notes it.
func (s *sinkServer) try(n int64, how string, t ticket, outcome string) {
	for range 40 {
		resp, err := s.http.Post(t.url, "application/json", bytes.NewBufferString(fmt.Sprintf(`{"token":%q,"outcome":%q,"message":%q}`, t.token, outcome, how)))
		if err == nil {
			said, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
				already := bytes.Contains(said, []byte(`"already":true`))
				s.end(call{N: n, Note: fmt.Sprintf("%s %s %d %t", how, outcome, resp.StatusCode, already)})
				return
			}
		}
		time.Sleep(250 * time.Millisecond)
	}
	s.end(call{N: n, Note: how + " never answered"})
}
