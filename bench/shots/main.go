// Command shots signs in to a running ax and writes a picture of every page in
// both themes, at 1440 and 390 px. Run it by `make shots`, which starts the
// demo for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	cd "github.com/chromedp/chromedp"
)

func main() {
	base := flag.String("base", "http://127.0.0.1:8080", "address of ax")
	login := flag.String("login", "demo", "login")
	password := flag.String("password", "", "password")
	out := flag.String("out", "shots", "folder for the pictures")
	setup := flag.String("setup", "", "address of the setup page of a new installation")
	lang := flag.String("lang", "en", "en or zh-CN")
	flag.Parse()
	if err := shoot(*base, *login, *password, *setup, *out, *lang); err != nil {
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

// page is a picture's name and where it is taken: a path, or a page from which
// the first link that a selector finds is followed.
type page struct{ name, path, link string }

func pages() []page {
	return []page{
		{"dashboard", "/", ""}, {"tasks", "/tasks", ""}, {"task-new", "/tasks/new", ""}, {"search", "/search?q=order", ""},
		{"task", "/tasks/notify.webhook-redeliver", ""}, {"task-edit", "/tasks/billing.settle-daily/edit", ""},
		{"task-pause", "/tasks/billing.settle-daily/confirm/pause", ""},
		{"instances", "/instances", ""},
		{"instance-succeeded", "/instances?state=succeeded", `main a[href^="/instances/"]`},
		{"instance-failed", "/instances?state=failed", `main a[href^="/instances/"]`},
		{"instance-retrying", "/instances?state=retrying", `main a[href^="/instances/"]`},
		{"dead-letters", "/dead-letters", ""}, {"dead-letter", "/dead-letters", `main a[href^="/dead-letters/"]`},
		{"calendars", "/calendars", ""}, {"calendar", "/calendars/cn-workdays", ""}, {"calendar-edit", "/calendars/cn-workdays/edit", ""},
		{"calendar-choose", "/calendars/import", ""}, {"calendar-import", "/calendars/cn-workdays/import", ""}, {"calendar-new", "/calendars/new", ""},
		{"queues", "/queues", ""}, {"nodes", "/nodes", ""}, {"api", "/api/docs", ""}, {"error-404", "/nothing-here", ""},
	}
}

func shoot(base, login, password, setup, out, lang string) error {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	ctx, stop := cd.NewExecAllocator(context.Background(), append(cd.DefaultExecAllocatorOptions[:], cd.ExecPath(chromium), cd.NoSandbox)...)
	defer stop()
	ctx, stop = cd.NewContext(ctx)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	if err := picture(ctx, base+"/login", filepath.Join(out, "login"), lang); err != nil {
		return err
	}
	if setup != "" {
		if err := picture(ctx, setup, filepath.Join(out, "setup"), lang); err != nil {
			return err
		}
	}
	if err := signIn(ctx, base, login, password); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	for _, p := range pages() {
		url := base + p.path
		if p.link != "" {
			if url, err = follow(ctx, url, p.link); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			if url == "" {
				fmt.Println("no example of", p.name)
				continue
			}
		}
		if err := picture(ctx, url, filepath.Join(out, p.name), lang); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

func signIn(ctx context.Context, base, login, password string) error {
	script := fmt.Sprintf(`document.querySelector('[name=login]').value=%q; document.querySelector('[name=password]').value=%q; document.querySelector('main form').requestSubmit(); true`, login, password)
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

// follow gives the address of the first link on a page; "" when there is none
// for a minute.
func follow(ctx context.Context, url, selector string) (link string, err error) {
	for range 60 {
		if err := cd.Do(ctx, cd.Navigate(url)); err != nil {
			return "", err
		}
		link, err = cd.Run(ctx, cd.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.href ?? ''", selector)))
		if link != "" || err != nil {
			break
		}
		time.Sleep(time.Second)
	}
	return link, err
}

// picture writes a page in both themes and both widths.
func picture(ctx context.Context, url, to, lang string) error {
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1440, 390} {
			cookies := fmt.Sprintf("document.cookie='ax_theme=%s; path=/'; document.cookie='ax_lang=%s; path=/'; true", theme, lang)
			if err := cd.Do(ctx, cd.EmulateViewport(width, 900), cd.Navigate(url)); err != nil {
				return err
			}
			if _, err := cd.Run(ctx, cd.Evaluate[bool](cookies)); err != nil {
				return err
			}
			if err := cd.Do(ctx, cd.Navigate(url)); err != nil {
				return err
			}
			png, err := cd.Run(ctx, cd.FullScreenshot(100))
			if err != nil {
				return err
			}
			if err := os.WriteFile(fmt.Sprintf("%s-%s-%d.png", to, theme, width), png, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
