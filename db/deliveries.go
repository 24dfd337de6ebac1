package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
)

// deliveryRow is a row of deliveries.
type deliveryRow struct {
	ID         string
	TeamID     int64
	ChannelID  string
	IncidentID *string
	Object     string
	Dedupe     string
	Kind       string
	Message    string
	State      string
	CreatedAt  Millis
	DueAt      Millis
	Tries      int
	SentAt     Millis
	EndedAt    Millis
	MergedInto *string
	Verdict    string
	Status     int
	Code       string
	Body       string
	TookMs     int64
	ReplayOf   *string
}

// TableName is read by GORM.
func (deliveryRow) TableName() string { return "deliveries" }

// none is NULL for an empty text.
func none(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func rowOfDelivery(x alert.Delivery) (deliveryRow, error) {
	body, err := json.Marshal(x.Message)
	if err != nil {
		return deliveryRow{}, fmt.Errorf("write message %s: %w", x.ID, err)
	}
	return deliveryRow{
		ID: x.ID, TeamID: x.TeamID, ChannelID: x.ChannelID, IncidentID: none(x.IncidentID), Object: clip(x.Object, 100), Dedupe: clip(x.Dedupe, 191),
		Kind: string(x.Kind), Message: string(body), State: string(x.State), CreatedAt: at(x.CreatedAt), DueAt: at(x.DueAt), Tries: x.Tries,
		SentAt: at(x.SentAt), EndedAt: at(x.EndedAt), MergedInto: none(x.MergedInto), Verdict: string(x.Answer.Verdict), Status: x.Answer.Status,
		Code: clip(x.Answer.Code, 64), Body: clip(x.Answer.Body, 500), TookMs: x.Answer.Took.Milliseconds(), ReplayOf: none(x.ReplayOf),
	}, nil
}

func (r deliveryRow) delivery() (alert.Delivery, error) {
	x := alert.Delivery{
		ID: r.ID, TeamID: r.TeamID, ChannelID: r.ChannelID, IncidentID: text(r.IncidentID), Object: r.Object, Dedupe: r.Dedupe,
		Kind: alert.MessageKind(r.Kind), State: alert.DeliveryState(r.State), CreatedAt: r.CreatedAt.Time, DueAt: r.DueAt.Time, Tries: r.Tries,
		SentAt: r.SentAt.Time, EndedAt: r.EndedAt.Time, MergedInto: text(r.MergedInto), ReplayOf: text(r.ReplayOf),
		Answer: alert.Answer{
			Verdict: alert.Verdict(r.Verdict), Status: r.Status, Code: r.Code, Body: r.Body, Took: time.Duration(r.TookMs) * time.Millisecond,
		},
	}
	if err := json.Unmarshal([]byte(r.Message), &x.Message); err != nil {
		return x, fmt.Errorf("read message %s: %w", r.ID, err)
	}
	return x, nil
}

// insertDeliveries stores messages; what the channel has already, by dedupe, is
// left out.
func (d *DB) insertDeliveries(tx *gorm.DB, all []alert.Delivery) error {
	const columns = "id, team_id, channel_id, incident_id, object, dedupe, kind, message, state, created_at, due_at, replay_of"
	for len(all) > 0 {
		n := min(len(all), 100)
		args := make([]any, 0, 12*n)
		for _, x := range all[:n] {
			r, err := rowOfDelivery(x)
			if err != nil {
				return err
			}
			args = append(args, r.ID, r.TeamID, r.ChannelID, r.IncidentID, r.Object, r.Dedupe, r.Kind, r.Message, r.State, r.CreatedAt, r.DueAt, r.ReplayOf)
		}
		const row = "(?,?,?,?,?,?,?,?,?,?,?,?)"
		err := tx.Exec("INSERT INTO deliveries ("+columns+") VALUES "+strings.Repeat(row+",", n-1)+row+" "+d.dialect.doNothing("deliveries"), args...).Error
		if err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// DueChannels are the channels to which something may be sent at now, the
// longest waiting first.
func (d *DB) DueChannels(ctx context.Context, now time.Time, most int) ([]alert.DueChannel, error) {
	var rows []struct {
		ID    string
		Since Millis
	}
	err := d.view(ctx).Raw("SELECT c.id, MIN(d.due_at) AS since FROM deliveries d JOIN channels c ON c.id=d.channel_id"+
		" WHERE d.state=? AND d.due_at<=? AND c.off_at IS NULL AND (c.claimed_until IS NULL OR c.claimed_until<=?) AND (c.free_at IS NULL OR c.free_at<=?)"+
		" GROUP BY c.id ORDER BY since LIMIT ?", string(alert.Waiting), at(now), at(now), at(now), most).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("look for messages that are due: %w", away(err))
	}
	out := make([]alert.DueChannel, len(rows))
	for i, r := range rows {
		out[i] = alert.DueChannel{ID: r.ID, Since: r.Since.Time}
	}
	return out, nil
}

// TakeDeliveries claims a channel and takes what is due of it, in the order of
// its making; of one object nothing before what was made earlier. ok is false
// when the channel is off, rests, or is claimed.
func (d *DB) TakeDeliveries(ctx context.Context, t alert.Taking) (kind alert.ChannelKind, taken []alert.Delivery, ok bool, err error) {
	err = d.tx(ctx, "take messages of a channel", func(tx *gorm.DB) error {
		taken, ok = nil, false
		won := tx.Exec("UPDATE channels SET claim=?, claimed_until=? WHERE id=? AND off_at IS NULL"+
			" AND (claimed_until IS NULL OR claimed_until<=?) AND (free_at IS NULL OR free_at<=?)",
			t.Claim, at(t.Until), t.Channel, at(t.Now), at(t.Now))
		if won.Error != nil || won.RowsAffected == 0 {
			return won.Error
		}
		if err := tx.Raw("SELECT kind FROM channels WHERE id=?", t.Channel).Scan(&kind).Error; err != nil {
			return err
		}
		ok = true
		var rows []deliveryRow
		err := tx.Raw("SELECT * FROM deliveries d WHERE d.channel_id=? AND d.state=? AND d.due_at<=? AND NOT EXISTS ("+
			"SELECT 1 FROM deliveries e WHERE e.channel_id=d.channel_id AND e.object=d.object AND e.object<>'' AND e.id<d.id AND e.state=? AND e.due_at>?"+
			") ORDER BY d.id LIMIT ?", t.Channel, string(alert.Waiting), at(t.Now), string(alert.Waiting), at(t.Now), t.Most).Scan(&rows).Error
		if err != nil || len(rows) == 0 {
			return d.giveBack(tx, t.Channel, t.Claim, err)
		}
		ids := make([]string, len(rows))
		for i, r := range rows {
			x, err := r.delivery()
			if err != nil {
				return err
			}
			x.Tries++
			taken, ids[i] = append(taken, x), r.ID
		}
		return tx.Exec("UPDATE deliveries SET tries=tries+1, sent_at=? WHERE id IN (?)", at(t.Now), ids).Error
	})
	return kind, taken, ok, err
}

func (d *DB) giveBack(tx *gorm.DB, channel, claim string, err error) error {
	if err != nil {
		return err
	}
	return tx.Exec("UPDATE channels SET claim=NULL, claimed_until=NULL WHERE id=? AND claim=?", channel, claim).Error
}

// SettleDeliveries stores what became of messages and gives the channel back,
// if the claim still holds it: what another node took meanwhile is its own.
func (d *DB) SettleDeliveries(ctx context.Context, s alert.Settling) error {
	return d.tx(ctx, "settle messages", func(tx *gorm.DB) error {
		held := tx.Exec("UPDATE channels SET claim=NULL, claimed_until=NULL, free_at=? WHERE id=? AND claim=?", at(s.FreeAt), s.Channel, s.Claim)
		if held.Error != nil || held.RowsAffected == 0 {
			return held.Error
		}
		for _, x := range s.Done {
			r, err := rowOfDelivery(x)
			if err != nil {
				return err
			}
			if err := r.settle(tx); err != nil {
				return err
			}
		}
		if s.OffWhy == "" {
			return nil
		}
		return tx.Exec("UPDATE channels SET off_at=?, off_why=? WHERE id=? AND off_at IS NULL", at(s.Now), clip(s.OffWhy, 500), s.Channel).Error
	})
}

// settle writes what became of a message that waits.
func (r deliveryRow) settle(tx *gorm.DB) error {
	return tx.Exec("UPDATE deliveries SET state=?, due_at=?, tries=?, sent_at=?, ended_at=?, merged_into=?, verdict=?, status=?, code=?, body=?, took_ms=? WHERE id=? AND state=?",
		r.State, r.DueAt, r.Tries, r.SentAt, r.EndedAt, r.MergedInto, r.Verdict, r.Status, r.Code, r.Body, r.TookMs, r.ID, string(alert.Waiting)).Error
}

// ExpireDeliveries gives up what waits since before then.
func (d *DB) ExpireDeliveries(ctx context.Context, before, now time.Time) error {
	var n int
	err := d.view(ctx).Raw("SELECT COUNT(*) FROM (SELECT id FROM deliveries WHERE state=? AND due_at<=? AND created_at<? LIMIT 1) AS old",
		string(alert.Waiting), at(now), at(before)).Scan(&n).Error
	if err != nil || n == 0 {
		return away(err)
	}
	return d.tx(ctx, "give up old messages", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE deliveries SET state=?, ended_at=? WHERE state=? AND due_at<=? AND created_at<?",
			string(alert.Refused), at(now), string(alert.Waiting), at(now), at(before)).Error
	})
}

// deliveryLife is how long messages are kept in the log.
const deliveryLife = 30 * 24 * time.Hour

// PruneDeliveries forgets what ended long ago, a batch at a time.
func (d *DB) PruneDeliveries(ctx context.Context, now time.Time) error {
	const batch = 1000
	for {
		n := 0
		err := d.tx(ctx, "prune deliveries", func(tx *gorm.DB) error {
			var ids []string
			err := tx.Raw("SELECT id FROM deliveries WHERE ended_at<? ORDER BY ended_at LIMIT ?", at(now.Add(-deliveryLife)), batch).Scan(&ids).Error
			if n = len(ids); err != nil || n == 0 {
				return err
			}
			return tx.Exec("DELETE FROM deliveries WHERE id IN (?)", ids).Error
		})
		if err != nil || n < batch {
			return err
		}
	}
}
