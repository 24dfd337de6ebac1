// Package telemetry is what a process tells Prometheus of its own work, and a
// collector of OpenTelemetry of instances on their way from the request to the
// last word of their target. It wraps the seams that the engine has anyway, so
// neither the rules nor the queue know of it; only main imports it.
//
// The trace of an instance is the instance's id and its first span follows from
// that (sched.TraceID, sched.SpanID): nothing is stored or sent for it, and the
// spans of all processes and attempts stand together.
package telemetry
