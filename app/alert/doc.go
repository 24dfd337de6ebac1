// Package alert tells people what goes wrong, once per cause, and when it is
// over.
//
//	rule          what is measured, of what, and where it is too much
//	reading       what a metric says of one subject at a moment
//	breach        readings of one cause that break a rule
//	incident      a breach from its start to its end
//	channel       where messages go: a chat robot, a webhook, e-mail
//	subscription  which channel is told of what
//	delivery      one message on its way to one channel: a row of the ledger
//	silence       a time in which messages are held back
//
// The rules decide on values that were read; the ledger stores an incident and
// its deliveries in one transaction, and only then is anything sent. A sweep
// sends what was not sent.
//
// The package imports app/access, app/cron, app/fault, app/sched and the
// standard library; never Gin, GORM, Asynq or templ. It declares the small
// interfaces that it needs where it calls them.
package alert
