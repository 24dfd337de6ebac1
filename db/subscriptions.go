package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

// subscriptionRow is a row of subscriptions.
type subscriptionRow struct {
	ID        int64
	TeamID    int64
	ChannelID string
	RuleID    int64
	Events    string // apart by commas
	Level     string
	AfterMs   int64
	Zone      string
	CreatedBy string
	CreatedAt Millis
}

// TableName is read by GORM.
func (subscriptionRow) TableName() string { return "subscriptions" }

func subscriptionRowOf(s alert.Subscription) subscriptionRow {
	events := make([]string, len(s.Events))
	for i, e := range s.Events {
		events[i] = string(e)
	}
	return subscriptionRow{
		TeamID: s.TeamID, ChannelID: s.ChannelID, RuleID: s.RuleID, Events: strings.Join(events, ","), Level: string(s.Level),
		AfterMs: s.After.Milliseconds(), Zone: s.Zone, CreatedBy: clip(s.CreatedBy, 100), CreatedAt: at(s.CreatedAt),
	}
}

func (r subscriptionRow) subscription() alert.Subscription {
	s := alert.Subscription{
		ID: r.ID, TeamID: r.TeamID, ChannelID: r.ChannelID, RuleID: r.RuleID, Level: alert.Level(r.Level),
		After: millis(r.AfterMs), Zone: r.Zone, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time,
	}
	for e := range strings.SplitSeq(r.Events, ",") {
		if e != "" {
			s.Events = append(s.Events, alert.EventType(e))
		}
	}
	return s
}

// subscribedRow is a subscription with its channel.
type subscribedRow struct {
	Subscription subscriptionRow `gorm:"embedded;embeddedPrefix:s_"`
	Owned        ownedRow        `gorm:"embedded"`
	Rule         *string
}

const subscribedSelect = "SELECT s.id AS s_id, s.team_id AS s_team_id, s.channel_id AS s_channel_id, s.rule_id AS s_rule_id, s.events AS s_events," +
	" s.level AS s_level, s.after_ms AS s_after_ms, s.zone AS s_zone, s.created_by AS s_created_by, s.created_at AS s_created_at, " +
	channelColumns + ownerColumns + ", r.name AS rule" +
	" FROM subscriptions s JOIN channels c ON c.id=s.channel_id LEFT JOIN alert_rules r ON r.id=s.rule_id" + ownerJoins

func (r subscribedRow) subscribed() alert.Subscribed {
	out := alert.Subscribed{Subscription: r.Subscription.subscription(), Channel: r.Owned.channel()}
	if r.Rule != nil {
		out.Rule = *r.Rule
	}
	if out.Channel.UserID != 0 && r.Owned.Login != nil {
		out.Login = *r.Owned.Login
	}
	out.On = out.Channel.On() && (out.Channel.UserID == 0 || len(out.Channel.To) > 0)
	return out
}

func subscribed(tx *gorm.DB, tail string, args ...any) ([]alert.Subscribed, error) {
	var rows []subscribedRow
	if err := tx.Raw(subscribedSelect+tail, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list subscriptions: %w", away(err))
	}
	out := make([]alert.Subscribed, len(rows))
	for i, r := range rows {
		out[i] = r.subscribed()
	}
	return out, nil
}

// SubscriptionsOf lists the subscriptions of the teams in the scope, 0 for the
// installation's, in the order of their making.
func (d *DB) SubscriptionsOf(ctx context.Context, s access.Scope) ([]alert.Subscribed, error) {
	w := &where{}
	w.scope("s.team_id", s)
	return subscribed(d.view(ctx), w.sql()+" ORDER BY s.id", w.args...)
}

// Subscriptions lists those of every team whose messages go out, for the
// evaluator: the channel is on, and a person that it is may still see the team.
func (d *DB) Subscriptions(ctx context.Context) ([]alert.Subscription, error) {
	all, err := d.SubscriptionsOf(ctx, access.Scope{All: true})
	if err != nil {
		return nil, err
	}
	var out []alert.Subscription
	for _, s := range all {
		if s.On {
			out = append(out, s.Subscription)
		}
	}
	return out, nil
}

// Subscriber gives a person with their role in the team, "" for none. Faults:
// NotFound (the person).
func (d *DB) Subscriber(ctx context.Context, team int64, login string) (access.Person, access.Role, error) {
	p, err := takeUser(d.view(ctx), "login=?", login)
	if err != nil {
		return access.Person{}, "", err
	}
	p.PasswordHash = ""
	var roles []access.Role
	err = d.view(ctx).Raw("SELECT role FROM memberships WHERE team_id=? AND user_id=?", team, p.ID).Scan(&roles).Error
	if err != nil {
		return access.Person{}, "", fmt.Errorf("read the membership of %s: %w", login, away(err))
	}
	if len(roles) == 0 {
		return p, "", nil
	}
	return p, roles[0], nil
}

// InsertSubscription stores a subscription, and makes the person's own channel
// unless the team has it already. Faults: NotFound (the team or the channel),
// Conflict at channel_id (told of the same already, or the team has most).
func (d *DB) InsertSubscription(ctx context.Context, s alert.Subscription, own *alert.Channel, most int, e access.Entry) (alert.Subscription, error) {
	made := s
	err := d.tx(ctx, "store a subscription", func(tx *gorm.DB) error {
		made = s
		n, err := d.countShared(tx, "subscriptions", s.TeamID, "1=1")
		if err != nil {
			return err
		}
		if n >= most {
			return taken("channel_id", "There are %d subscriptions, and no more are kept", n)
		}
		if made.ChannelID, err = d.channelFor(tx, s, own); err != nil {
			return err
		}
		row := subscriptionRowOf(made)
		var same int
		err = tx.Raw("SELECT COUNT(*) FROM subscriptions WHERE channel_id=? AND rule_id=? AND events=? AND level=? AND after_ms=?",
			row.ChannelID, row.RuleID, row.Events, row.Level, row.AfterMs).Scan(&same).Error
		if err != nil {
			return err
		}
		if same > 0 {
			return taken("channel_id", "It is told of that already")
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		made.ID = row.ID
		return recordAudit(tx, numbered(e, row.ID))
	})
	return made, err
}

// channelFor locks the channel of a subscription, which may be a person's own.
func (d *DB) channelFor(tx *gorm.DB, s alert.Subscription, own *alert.Channel) (string, error) {
	if own == nil {
		c, err := takeChannel(tx, d.dialect.forUpdate, s.ChannelID)
		if err == nil && c.TeamID != s.TeamID {
			err = access.NoObject()
		}
		return c.ID, err
	}
	var ids []string
	err := tx.Raw("SELECT id FROM channels WHERE user_id=? AND team_id=?"+d.dialect.forUpdate, own.UserID, own.TeamID).Scan(&ids).Error
	if err != nil || len(ids) > 0 {
		return strings.Join(ids, ""), err
	}
	r := channelRowOf(*own, "")
	if err := tx.Create(&r).Error; isDuplicate(err) { // two who subscribe a person of the installation at once
		return "", fault.Conflict("Somebody else subscribed %s just now; try again", own.Name)
	} else if err != nil {
		return "", err
	}
	return own.ID, nil
}

// DeleteSubscription ends a subscription. A person's own channel that is told of
// nothing any more goes with it, unless it is switched off: that stays known.
// Faults: NotFound, those of entry.
func (d *DB) DeleteSubscription(ctx context.Context, id int64, entry func(alert.Subscribed) (access.Entry, error)) error {
	return d.tx(ctx, "delete a subscription", func(tx *gorm.DB) error {
		found, err := subscribed(tx, " WHERE s.id=?", id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return access.NoObject()
		}
		was := found[0]
		if _, err := takeChannel(tx, d.dialect.forUpdate, was.ChannelID); err != nil {
			return err
		}
		e, err := entry(was)
		if err != nil {
			return err
		}
		gone := tx.Exec("DELETE FROM subscriptions WHERE id=?", id)
		if gone.Error != nil {
			return gone.Error
		}
		if gone.RowsAffected == 0 {
			return access.NoObject()
		}
		err = tx.Exec("DELETE FROM channels WHERE id=? AND user_id IS NOT NULL AND off_at IS NULL AND NOT EXISTS (SELECT 1 FROM subscriptions s WHERE s.channel_id=?)",
			was.ChannelID, was.ChannelID).Error
		if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}
