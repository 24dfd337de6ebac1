package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	cd "github.com/chromedp/chromedp"
)

// observe notes when each line is first in the page.
const observe = `(() => {
  window.axSeen = {};
  const look = () => { const now = Date.now(); document.querySelectorAll('#log .tx').forEach(e => { const t = e.textContent.trim(); if (t.startsWith('at ') && !(t in window.axSeen)) window.axSeen[t] = now; }); };
  look(); window.axSeen = Object.fromEntries(Object.keys(window.axSeen).map(k => [k, 0]));
  new MutationObserver(look).observe(document.body, {childList: true, subtree: true, characterData: true});
  return true;
})()`

// watch looks at the page of an instance in a browser until its lines are there.
func watch(ctx context.Context, base, id string, lines int) ([]time.Duration, error) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	ctx, stop := cd.NewExecAllocator(ctx, append(cd.DefaultExecAllocatorOptions[:], cd.ExecPath(chromium), cd.NoSandbox)...)
	defer stop()
	ctx, stop = cd.NewContext(ctx)
	defer stop()
	if err := signIn(ctx, base); err != nil {
		return nil, err
	}
	if err := cd.Do(ctx, cd.Navigate(base+"/instances/"+id)); err != nil {
		return nil, err
	}
	for range 100 { // until the attempt has a log to watch
		if there, err := cd.Run(ctx, cd.Evaluate[bool](`!!document.querySelector('#log')`)); err != nil || there {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, err := cd.Run(ctx, cd.Evaluate[bool](observe)); err != nil {
		return nil, err
	}
	var seen map[string]float64
	for {
		time.Sleep(time.Second)
		got, err := cd.Run(ctx, cd.Evaluate[map[string]float64](`window.axSeen || {}`))
		if err != nil {
			return nil, err
		}
		if len(got) < len(seen) { // the page was loaded anew at the end
			break
		}
		if seen = got; len(seen) >= lines {
			break
		}
	}
	var lags []time.Duration
	for line, ms := range seen {
		if lag, ok := lagOf(line, time.UnixMilli(int64(ms))); ok && ms > 0 {
			lags = append(lags, lag)
		}
	}
	return lags, nil
}

func signIn(ctx context.Context, base string) error {
	script := fmt.Sprintf(`document.querySelector('[name=login]').value='ada'; document.querySelector('[name=password]').value=%q; document.querySelector('main form').requestSubmit(); true`, password)
	if err := cd.Do(ctx, cd.Navigate(base+"/login")); err != nil {
		return err
	}
	if _, err := cd.Run(ctx, cd.Evaluate[bool](script)); err != nil {
		return err
	}
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		at, err := cd.Run(ctx, cd.Evaluate[string]("location.pathname"))
		if err == nil && !strings.HasPrefix(at, "/login") {
			return nil
		}
	}
	return fmt.Errorf("still on the login page")
}
