package app

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/views"
)

// showGallery shows one example page, or lists them all. It exists in
// development only.
func (a *App) showGallery(c *gin.Context) (reply, error) {
	name := c.Query("name")
	if name == "" {
		return fragment(templ.ComponentFunc(galleryIndex)), nil
	}
	for _, e := range views.Gallery() {
		if e.Name == name {
			v := views.GalleryViewer(a.viewer(c).Lang, a.viewer(c).Theme)
			return show(inContext(e, v)), nil
		}
	}
	return reply{status: http.StatusNotFound}, fault.NotFound("There is nothing at this address")
}

// inContext renders the example for its own viewer instead of ours.
func inContext(e views.Example, v views.Viewer) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return e.Component.Render(e.For(ctx, v), w)
	})
}

// galleryIndex lists the examples.
func galleryIndex(_ context.Context, w io.Writer) error {
	for _, e := range views.Gallery() {
		if _, err := fmt.Fprintf(w, "<p><a href=\"/dev/gallery?name=%[1]s\">%[1]s</a></p>\n", html.EscapeString(e.Name)); err != nil {
			return err
		}
	}
	return nil
}
