package telemetry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// idOf is an id as instances have them: version 7, with random bits at its end.
func idOf(i int) string {
	b := sha256.Sum256(fmt.Append(nil, i))
	copy(b[:6], []byte{0x01, 0x93, 0xb1, 0xf0, 0x7d, 0x3a})
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
