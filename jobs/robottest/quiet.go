package robottest

import (
	"io"
	"log"
)

// quiet drops what servers say of connections that tests break.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
