package views

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"ax/app/access"
)

// auditWords say in plain words what was done. The object's name follows. A
// test finds the actions of the code that are not here.
var auditWords = map[string]string{
	"access.refuse": msg("Refused"),

	"session.create": msg("Signed in"),
	"session.end":    msg("Signed out"),
	"session.refuse": msg("Refused a sign-in"),
	"receipt.refuse": msg("Refused a word with a forged token"),

	"session.renew":      msg("Went on in a new session"),
	"session.end_others": msg("Ended the other sessions of"),

	"second_step.begin":    msg("Began to switch the second step on for"),
	"second_step.on":       msg("Switched the second step on for"),
	"second_step.off":      msg("Switched the second step off for"),
	"second_step.take_off": msg("Took the second step off"),
	"second_step.codes":    msg("Made new recovery codes for"),
	"second_step.recover":  msg("Used a recovery code of"),
	"second_step.refuse":   msg("Refused a code of"),

	"user.password_refuse": msg("Refused a change of the password of"),
	"user.bind":            msg("Bound to a subject of the provider:"),
	"user.chat_ids":        msg("Changed the chat ids of"),
	"user.create":          msg("Created the person"),
	"user.disable":         msg("Disabled the person"),
	"user.enable":          msg("Enabled the person"),
	"user.password":        msg("Changed the password of"),
	"user.password_link":   msg("Made a password link for"),
	"user.preferences":     msg("Changed the preferences of"),
	"user.rights":          msg("Changed the rights of"),

	"team.create":         msg("Created the team"),
	"team.rename":         msg("Renamed the team"),
	"team.member":         msg("Changed who is in the team"),
	"token.create":        msg("Created the token"),
	"token.revoke":        msg("Revoked the token"),
	"broker.create":       msg("Added the broker"),
	"broker.update":       msg("Changed the broker"),
	"broker.delete":       msg("Removed the broker"),
	"secret.create":       msg("Set the secret"),
	"secret.update":       msg("Changed the secret"),
	"secret.delete":       msg("Removed the secret"),
	"invitation.create":   msg("Invited"),
	"invitation.withdraw": msg("Withdrew the invitation of"),
	"executor.register":   msg("Registered the executor"),
	"executor.leave":      msg("Signed the executor off"),
	"allowance.create":    msg("Opened the range"),
	"allowance.delete":    msg("Closed the range"),
	"team.open_commands":  msg("Opened commands to the team"),
	"team.close_commands": msg("Closed commands to the team"),
	"setup.link":          msg("Created the setup link"),

	"task.create":  msg("Created the task"),
	"task.update":  msg("Changed the task"),
	"task.move":    msg("Moved the task"),
	"task.archive": msg("Archived the task"),
	"task.enable":  msg("Enabled the task"),
	"task.disable": msg("Disabled the task"),
	"task.pause":   msg("Paused the task"),
	"task.resume":  msg("Resumed the task"),
	"task.trigger": msg("Ran the task now"),
	"task.test":    msg("Called the target as a test"),

	"instance.cancel": msg("Canceled the instance"),
	"letter.edit":     msg("Changed the dead letter"),
	"letter.replay":   msg("Replayed the dead letter"),

	"queue.pause":  msg("Paused the queue"),
	"queue.resume": msg("Resumed the queue"),
	"node.drain":   msg("Drained the node"),
	"node.resume":  msg("Let take work again: the node"),

	"calendar.create": msg("Created the calendar"),
	"calendar.update": msg("Changed the calendar"),
	"calendar.days":   msg("Changed days of the calendar"),
	"calendar.import": msg("Imported days into the calendar"),
	"calendar.delete": msg("Deleted the calendar"),

	"incident.acknowledge": msg("Acknowledged the incident"),
	"incident.reopen":      msg("Took back the acknowledgement of"),
	"incident.note":        msg("Wrote to the incident"),
	"delivery.replay":      msg("Sent the message again:"),
	"channel.test":         msg("Sent a test message to"),

	"rule.create":         msg("Created the rule"),
	"rule.update":         msg("Changed the rule"),
	"rule.enable":         msg("Switched the rule on:"),
	"rule.disable":        msg("Switched the rule off:"),
	"rule.delete":         msg("Deleted the rule"),
	"rule.seed":           msg("Made the first alert rules"),
	"channel.create":      msg("Created the channel"),
	"channel.update":      msg("Changed the channel"),
	"channel.on":          msg("Switched the channel on:"),
	"channel.off":         msg("Switched the channel off:"),
	"channel.delete":      msg("Deleted the channel"),
	"subscription.create": msg("Subscribed"),
	"subscription.delete": msg("Ended a subscription of"),
	"silence.create":      msg("Silenced"),
	"silence.end":         msg("Ended the silence of"),
}

// AuditActions are the actions that have words, by name.
func AuditActions() []string {
	out := make([]string, 0, len(auditWords))
	for action := range auditWords {
		out = append(out, action)
	}
	slices.Sort(out)
	return out
}

// auditWord is what was done; an action of another version of ax is its name.
func auditWord(ctx context.Context, action string) string {
	said, ok := auditWords[action]
	if !ok {
		return action
	}
	return t(ctx, said)
}

// auditObject is what a row shows of its object, and where that has a page.
func auditObject(e access.Entry) (name, href string) {
	name = e.Object.Name
	if name == "" {
		name = e.Object.ID
	}
	if e.Action == "calendar.delete" || e.Object.Name == "" && e.Object.ID == "" {
		return name, ""
	}
	switch e.Object.Kind {
	case "user":
		if e.Object.ID == "" { // a login that nobody has
			return name, ""
		}
		return name, userURL(e.Object.Name)
	case "team":
		return name, "/teams/" + url.PathEscape(e.Object.Name)
	case "task":
		return name, taskURL(e.Object.Name)
	case "calendar":
		return name, calendarURL(e.Object.Name)
	case "dead_letter":
		return name, "/dead-letters/" + url.PathEscape(e.Object.ID)
	case "instance":
		return name, "/instances/" + url.PathEscape(e.Object.ID)
	}
	return name, ""
}

// refusedRight says what the actor of a refusal wanted to do; "" when it is
// not known.
func refusedRight(ctx context.Context, e access.Entry) string {
	verb := changeOf(e, "right")
	for _, r := range access.Matrix() {
		if string(r.Verb) == verb {
			return text(ctx, r.Words)
		}
	}
	return verb
}

// refusedTimes is of how many refusals the entry tells.
func refusedTimes(e access.Entry) int {
	n, err := strconv.Atoi(changeOf(e, access.TimesField))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// changeOf is the new value of a field of the entry's changes.
func changeOf(e access.Entry, field string) string {
	for _, c := range e.Changes {
		if c.Field == field {
			return c.New
		}
	}
	return ""
}

// auditActor is who did it, with what it is when it is no person.
func auditActor(ctx context.Context, a access.Actor) string {
	switch {
	case a.Name == "":
		return t(ctx, "somebody")
	case a.Kind == access.Token:
		return t(ctx, "token %s", a.Name)
	}
	return a.Name
}
