package views

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/a-h/templ"
)

// Render renders c whole before it writes a byte, so that a page that fails
// half way can still become a clean 500.
func Render(ctx context.Context, w io.Writer, c templ.Component) error {
	var page bytes.Buffer
	if err := c.Render(ctx, &page); err != nil {
		return fmt.Errorf("render page: %w", err)
	}
	if _, err := page.WriteTo(w); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
