package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
)

// eventsName is the setting that names since when rows are read for webhooks.
const eventsName = "events.cursor"

// Listeners are the channels that are told of instances and dead letters of
// their team; not those that are off since before the moment.
func (d *DB) Listeners(ctx context.Context, off time.Time) ([]alert.Listener, error) {
	var rows []struct {
		ChannelID string
		TeamID    int64
		Events    string
		CreatedAt Millis
	}
	err := d.view(ctx).Raw("SELECT s.channel_id, s.team_id, s.events, s.created_at FROM subscriptions s JOIN channels c ON c.id=s.channel_id"+
		" WHERE s.events<>'' AND s.team_id<>0 AND (c.off_at IS NULL OR c.off_at>=?) ORDER BY s.channel_id, s.id", at(off)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read which webhooks are told of events: %w", away(err))
	}
	var out []alert.Listener
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].ChannelID != r.ChannelID {
			out = append(out, alert.Listener{ChannelID: r.ChannelID, TeamID: r.TeamID, Since: map[alert.EventType]time.Time{}})
		}
		since := out[len(out)-1].Since
		for name := range strings.SplitSeq(r.Events, ",") {
			switch e := alert.EventType(name); e {
			case alert.InstanceFinished, alert.LetterOpened, alert.LetterSolved:
				if had, ok := since[e]; !ok || r.CreatedAt.Before(had) {
					since[e] = r.CreatedAt.Time
				}
			}
		}
		if len(since) == 0 {
			out = out[:len(out)-1]
		}
	}
	return out, nil
}

// EventCursor is since when rows are read for webhooks; the zero time: they
// never were.
func (d *DB) EventCursor(ctx context.Context) (time.Time, error) {
	return momentOf(d.view(ctx), "", eventsName)
}

// SetEventCursor moves it.
func (d *DB) SetEventCursor(ctx context.Context, t time.Time) error {
	return d.tx(ctx, "note which events are told", func(tx *gorm.DB) error {
		if _, err := d.takeMoment(tx, eventsName, t); err != nil {
			return err
		}
		return setMoment(tx, eventsName, t)
	})
}

// eventInstance is an instance with the codes of its task and team.
type eventInstance struct {
	Instance instanceRow `gorm:"embedded"`
	Task     string
	Team     maybe
}

// UntoldInstances are the team's that ended since the moment and that the
// channel has no message of, the first to end first.
func (d *DB) UntoldInstances(ctx context.Context, l alert.Listener, since time.Time, most int) ([]alert.InstanceFacts, error) {
	var rows []eventInstance
	err := d.view(ctx).Raw("SELECT i.*, t.code AS task, m.code AS team FROM "+d.dialect.byIndex("instances i", "instances_finished")+
		" JOIN tasks t ON t.id=i.task_id LEFT JOIN teams m ON m.id=i.team_id"+
		" WHERE i.finished_at>=? AND i.team_id=? AND NOT EXISTS (SELECT 1 FROM deliveries x WHERE x.channel_id=? AND x.dedupe=i.id)"+
		" ORDER BY i.finished_at, i.id LIMIT ?", at(since), l.TeamID, l.ChannelID, most).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read which instances ended: %w", away(err))
	}
	out := make([]alert.InstanceFacts, len(rows))
	for i, r := range rows {
		out[i] = alert.FactsOfInstance(r.Instance.instance(), r.Task, string(r.Team))
	}
	return out, nil
}

// UntoldOpened are the team's letters that were opened since the moment and
// that the channel has no message of, the first first.
func (d *DB) UntoldOpened(ctx context.Context, l alert.Listener, since time.Time, most int) ([]alert.LetterFacts, error) {
	return d.untold(ctx, l, "opened_at", since, most, func(r markedLetter) string { return alert.OpenedDedupe(r.ID, r.Opens) })
}

// UntoldSolved is the same of letters that were closed.
func (d *DB) UntoldSolved(ctx context.Context, l alert.Listener, since time.Time, most int) ([]alert.LetterFacts, error) {
	return d.untold(ctx, l, "closed_at", since, most, func(r markedLetter) string { return alert.SolvedDedupe(r.ID, r.Moment.Time) })
}

// markedLetter is what is needed of a letter to see whether it was told of.
type markedLetter struct {
	ID     int64
	Opens  int
	Moment Millis
}

// untold goes through the letters by the moment, a page at a time, until so many
// are found that the channel was not told of.
func (d *DB) untold(ctx context.Context, l alert.Listener, column string, since time.Time, most int, dedupe func(markedLetter) string) ([]alert.LetterFacts, error) {
	const page = 1000
	var ids []int64
	last := markedLetter{Moment: at(since)}
	for {
		var rows []markedLetter
		err := d.view(ctx).Raw("SELECT id, opens, "+column+" AS moment FROM "+d.dialect.byIndex("dead_letters", "dead_letters_"+strings.TrimSuffix(column, "_at"))+
			" WHERE "+column+">=? AND ("+column+">? OR id>?) AND team_id=? ORDER BY "+column+", id LIMIT ?",
			last.Moment, last.Moment, last.ID, l.TeamID, page).Scan(&rows).Error
		if err != nil {
			return nil, fmt.Errorf("read which dead letters were %s: %w", strings.TrimSuffix(column, "_at"), away(err))
		}
		told, err := d.told(ctx, l.ChannelID, rows, dedupe)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if !told[dedupe(r)] && len(ids) < most {
				ids = append(ids, r.ID)
			}
		}
		if len(rows) < page || len(ids) == most {
			return d.letterFacts(ctx, ids, column)
		}
		last = rows[len(rows)-1]
	}
}

// told tells of which letters the channel has a message.
func (d *DB) told(ctx context.Context, channel string, rows []markedLetter, dedupe func(markedLetter) string) (map[string]bool, error) {
	if len(rows) == 0 {
		return map[string]bool{}, nil
	}
	keys := make([]string, len(rows))
	for i, r := range rows {
		keys[i] = dedupe(r)
	}
	var have []string
	err := d.view(ctx).Raw("SELECT dedupe FROM deliveries WHERE channel_id=? AND dedupe IN ?", channel, keys).Scan(&have).Error
	if err != nil {
		return nil, fmt.Errorf("read what a channel was told of: %w", away(err))
	}
	out := make(map[string]bool, len(have))
	for _, k := range have {
		out[k] = true
	}
	return out, nil
}

// letterFacts reads letters with the codes of their task and team. What is not
// what it was any more, because it was opened meanwhile, is left out.
func (d *DB) letterFacts(ctx context.Context, ids []int64, column string) ([]alert.LetterFacts, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []struct {
		Letter letterRow `gorm:"embedded"`
		Task   string
		Team   maybe
	}
	err := d.view(ctx).Raw("SELECT l.*, u.login AS assignee, t.code AS task, m.code AS team FROM dead_letters l"+
		" JOIN tasks t ON t.id=l.task_id LEFT JOIN teams m ON m.id=l.team_id LEFT JOIN users u ON u.id=l.assignee_id"+
		" WHERE l.id IN ? AND l."+column+" IS NOT NULL ORDER BY l."+column+", l.id", ids).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read dead letters: %w", away(err))
	}
	out := make([]alert.LetterFacts, len(rows))
	for i, r := range rows {
		out[i] = alert.FactsOfLetter(r.Letter.letter(), r.Task, string(r.Team))
	}
	return out, nil
}
