package views

import (
	"context"
	"regexp"
	"strconv"
	"strings"
)

// exchange is what went out or came back, taken apart for reading.
type exchange struct {
	first string // request line or status line
	head  string // headers
	body  string
	cut   string // a note when the body is not whole, translated
}

// cutNote is what the executor writes behind a body that it shortened.
var cutNote = regexp.MustCompile(`\n\[truncated: (more than )?(\d+) bytes\]$`)

// readExchange takes apart what the executor stored.
func readExchange(ctx context.Context, stored string) exchange {
	var x exchange
	if m := cutNote.FindStringSubmatch(stored); m != nil {
		stored = strings.TrimSuffix(stored, m[0])
		size, err := strconv.ParseInt(m[2], 10, 64)
		switch {
		case err != nil:
			x.cut = t(ctx, "Only the beginning is kept.")
		case m[1] != "":
			x.cut = t(ctx, "Only the beginning is kept; more than %s came.", bytesText(size))
		default:
			x.cut = t(ctx, "Only the beginning is kept; %s came.", bytesText(size))
		}
	}
	head, body, _ := strings.Cut(stored, "\n\n")
	x.first, x.head, _ = strings.Cut(head, "\n")
	x.body = body
	return x
}
