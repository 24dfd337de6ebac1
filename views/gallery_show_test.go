package views

import (
	"flag"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	cd "github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var (
	serve = flag.String("serve", "", "address to serve the gallery at, until interrupted")
	shots = flag.String("shots", "", "folder to write a picture of every example to")
	only  = flag.String("only", "", "what the names of the examples to picture begin with")
)

// `make gallery`: all examples at one address, under the product's policy.
func TestServeTheGallery(t *testing.T) {
	if *serve == "" {
		t.Skip("no -serve")
	}
	l, err := net.Listen("tcp", *serve)
	require.NoError(t, err)
	t.Logf("http://%s/", l.Addr())
	require.NoError(t, newBrowserServer(t).Config.Serve(l))
}

// Pictures of all examples: both themes and languages, wide and narrow.
func TestShootTheGallery(t *testing.T) {
	if *shots == "" {
		t.Skip("no -shots")
	}
	require.NoError(t, os.MkdirAll(*shots, 0o755))
	s := newBrowserServer(t)
	ctx := newTab(t, s.URL+"/login")
	for _, width := range []int64{1440, 390} {
		do(t, ctx, cd.EmulateViewport(width, 900))
		for _, e := range Gallery() {
			if !strings.HasPrefix(e.Name, *only) {
				continue
			}
			for _, theme := range []string{"light", "dark"} {
				for _, lang := range []string{English, Chinese} {
					do(t, ctx, cd.Navigate(s.URL+"/"+e.Name+"?theme="+theme+"&lang="+lang))
					png, err := cd.Run(ctx, cd.FullScreenshot(100))
					require.NoError(t, err)
					name := e.Name + "-" + lang + "-" + theme + "-" + strconv.FormatInt(width, 10) + ".png"
					require.NoError(t, os.WriteFile(filepath.Join(*shots, name), png, 0o644))
				}
			}
		}
	}
}
