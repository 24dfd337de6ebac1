package sched

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// TraceID is the trace of an instance: its own id. Every process and every
// attempt knows it, so none of them has to store or send one.
func TraceID(instanceID string) [16]byte {
	if raw, err := hex.DecodeString(strings.ReplaceAll(instanceID, "-", "")); err == nil && len(raw) == 16 {
		return [16]byte(raw)
	}
	sum := sha256.Sum256([]byte(instanceID))
	return [16]byte(sum[:16])
}

// SpanID is the span of a step that every process can name.
func SpanID(instanceID, step string) [8]byte {
	sum := sha256.Sum256([]byte(instanceID + "/" + step))
	return [8]byte(sum[:8])
}

// SpanID is the span of the call: what the target does is below it.
func (c Call) SpanID() [8]byte { return SpanID(c.InstanceID, strconv.Itoa(c.Attempt)) }
