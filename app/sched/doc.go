// Package sched is the engine's domain: tasks and their schedules, instances
// and their moves, and the loops that plan, hand over, run and sweep them.
//
//	task      the definition: schedule + target + policy
//	slot      the instant at which a schedule asks for a run
//	instance  one run of a task, for one slot or one request
//	attempt   one try to carry out an instance
//	gate      the row that is locked while limits of a task are judged
//	letter    dead letter: the open case of a business action that ended badly
//
// The ledger (package db) alone says what is to be done; a message of the
// carrier (package jobs) is a hint to look at a row. Every rule decides on
// values that were read, the store writes the decision with its guard, and
// only then is anything sent.
//
// The package imports app/access, app/cron, app/fault and the standard
// library; never Gin, GORM, Asynq or templ. It declares the small interfaces
// that it needs where it calls them.
package sched
