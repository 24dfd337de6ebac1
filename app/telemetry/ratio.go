package telemetry

import (
	"encoding/binary"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// ratio decides by the last 56 bits of a trace's id, as W3C says that they are
// random. The library's own sampler goes by the 63 bits before the last, of
// which an instance's id fixes the first two: it would take none below a half
// and all above three quarters.
type ratio struct{ from uint64 } // of 1<<56: an id at or above it is taken

const randomBits = 1 << 56

func newRatio(share float64) ratio {
	return ratio{from: uint64((1 - share) * randomBits)}
}

func (r ratio) takes(id [16]byte) bool {
	return binary.BigEndian.Uint64(id[8:])&(randomBits-1) >= r.from
}

// ShouldSample makes ratio a sampler of the library: whatever a parent says,
// every process decides alike.
func (r ratio) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	out := sdk.SamplingResult{Decision: sdk.Drop, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
	if r.takes(p.TraceID) {
		out.Decision, out.Attributes = sdk.RecordAndSample, []attribute.KeyValue(nil)
	}
	return out
}

// Description implements the library's Sampler.
func (r ratio) Description() string {
	return fmt.Sprintf("AxRatio{%g}", 1-float64(r.from)/randomBits)
}
