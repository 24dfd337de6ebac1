// Package jobs is everything that touches Asynq, Redis or the outside of a
// run: the carrier that brings messages to workers, the loops, and the
// executors that call targets.
//
//	redis, queue, worker, marker, inspect, hint   the carrier
//	loops, maintenance                            what is done again and again
//	exec, egress, sign                            calls of targets
//	notify                                        messages to channels
//
// The carrier decides nothing: a message is a hint to look at a row of the
// ledger, its loss costs time and never work. Nothing here writes the ledger.
//
// The package imports the domain (app/sched, app/alert, …) and app/fault; never
// app, db or views.
package jobs
