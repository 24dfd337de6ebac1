package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
)

// channelRow is a row of channels, without what the courier keeps of its pace.
type channelRow struct {
	ID         string
	TeamID     int64
	Kind       string
	Name       string
	Language   string
	Mention    string
	Hint       string
	Recipients string // apart by commas
	UserID     *int64
	BadText    maybe
	GoodText   maybe
	Sealed     string
	OffAt      Millis
	OffWhy     string
	Version    int
	CreatedBy  string
	CreatedAt  Millis
	ChangedBy  string
	ChangedAt  Millis
}

// TableName is read by GORM.
func (channelRow) TableName() string { return "channels" }

// channelColumns are those of channelRow but the secret.
const channelColumns = "c.id, c.team_id, c.kind, c.name, c.language, c.mention, c.hint, c.recipients, c.user_id, c.bad_text, c.good_text," +
	" c.off_at, c.off_why, c.version, c.created_by, c.created_at, c.changed_by, c.changed_at"

func channelRowOf(c alert.Channel, sealed string) channelRow {
	r := channelRow{
		ID: c.ID, TeamID: c.TeamID, Kind: string(c.Kind), Name: c.Name, Language: c.Language, Mention: string(c.Mention),
		Hint: clip(c.Hint, 200), Recipients: strings.Join(c.To, ","), BadText: maybe(c.Bad), GoodText: maybe(c.Good), Sealed: sealed,
		OffAt: at(c.OffAt), OffWhy: clip(c.OffWhy, 500), Version: c.Version,
		CreatedBy: clip(c.CreatedBy, 100), CreatedAt: at(c.CreatedAt), ChangedBy: clip(c.ChangedBy, 100), ChangedAt: at(c.ChangedAt),
	}
	if c.UserID != 0 {
		r.UserID, r.Recipients = &c.UserID, "" // read from the person
	}
	return r
}

func (r channelRow) channel() alert.Channel {
	c := alert.Channel{
		ID: r.ID, TeamID: r.TeamID, Kind: alert.ChannelKind(r.Kind), Name: r.Name, Language: r.Language, Mention: alert.Mentioning(r.Mention),
		Hint: r.Hint, Bad: string(r.BadText), Good: string(r.GoodText), OffAt: r.OffAt.Time, OffWhy: r.OffWhy, Version: r.Version,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.Time,
	}
	if r.Recipients != "" {
		c.To = strings.Split(r.Recipients, ",")
	}
	if r.UserID != nil {
		c.UserID = *r.UserID
	}
	return c
}

// ownerColumns and ownerJoins read it beside channels c. Of the installation's
// channels whoever is in any team gets what they may see anyway.
const (
	ownerColumns = ", u.login AS login, u.email AS email, u.language AS own_language," +
		" (u.id IS NOT NULL AND u.disabled=0 AND (u.admin=1 OR u.auditor=1 OR EXISTS" +
		" (SELECT 1 FROM memberships m WHERE m.user_id=u.id AND (m.team_id=c.team_id OR c.team_id=0)))) AS reaches"
	ownerJoins = " LEFT JOIN users u ON u.id=c.user_id"
)

// ownedRow is a channel with whose it is.
type ownedRow struct {
	Channel     channelRow `gorm:"embedded"`
	Login       *string
	Email       *string
	OwnLanguage *string
	Reaches     bool
}

// channel is the channel with the person's present address and language.
func (r ownedRow) channel() alert.Channel {
	c := r.Channel.channel()
	if c.UserID == 0 {
		return c
	}
	c.To = nil
	if r.Reaches && r.Email != nil && *r.Email != "" {
		c.To = []string{*r.Email}
	}
	if r.OwnLanguage != nil && *r.OwnLanguage != "" {
		c.Language = *r.OwnLanguage
	}
	return c
}

// ChannelsOf lists the channels of the scope and of the installation, by team
// and name.
func (d *DB) ChannelsOf(ctx context.Context, s access.Scope) ([]alert.Channel, error) {
	w := &where{}
	w.shared("c.team_id", s)
	var rows []ownedRow
	err := d.view(ctx).Raw("SELECT "+channelColumns+ownerColumns+" FROM channels c"+ownerJoins+w.sql()+" ORDER BY c.team_id, c.name", w.args...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", away(err))
	}
	out := make([]alert.Channel, len(rows))
	for i, r := range rows {
		out[i] = r.channel()
	}
	return out, nil
}

// Channel gives one with its sealed secret. Faults: NotFound.
func (d *DB) Channel(ctx context.Context, id string) (alert.Channel, string, error) {
	var r ownedRow
	q := "SELECT " + channelColumns + ", c.sealed" + ownerColumns + " FROM channels c" + ownerJoins + " WHERE c.id=?"
	err := d.view(ctx).Raw(q, id).Take(&r).Error
	if isNotFound(err) {
		return alert.Channel{}, "", access.NoObject()
	}
	if err != nil {
		return alert.Channel{}, "", fmt.Errorf("read a channel: %w", away(err))
	}
	return r.channel(), r.Channel.Sealed, nil
}

// InsertChannel stores a channel. Faults: NotFound (the team), Conflict at name
// (the team has it already, or has most of them).
func (d *DB) InsertChannel(ctx context.Context, c alert.Channel, sealed string, most int, e access.Entry) error {
	return d.tx(ctx, "store a channel", func(tx *gorm.DB) error {
		n, err := d.countShared(tx, "channels", c.TeamID, "user_id IS NULL")
		if err != nil {
			return err
		}
		if n >= most {
			return taken("name", "There are %d channels, and no more are kept", n)
		}
		r := channelRowOf(c, sealed)
		if err := tx.Create(&r).Error; isDuplicate(err) {
			return taken("name", "There is a channel with the name %q already", c.Name)
		} else if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// ChangeChannel locks a channel, asks change what is to become of it, and stores
// that with the audit row. Faults: NotFound, Conflict at name, those of change.
func (d *DB) ChangeChannel(ctx context.Context, id string, change func(alert.Channel, string) (alert.ChannelChange, error)) error {
	return d.tx(ctx, "change a channel", func(tx *gorm.DB) error {
		was, err := takeChannel(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		is, err := change(was.channel(), was.Sealed)
		if err != nil {
			return err
		}
		r := channelRowOf(is.Channel, is.Sealed)
		err = tx.Model(&channelRow{}).Where("id=?", id).Select("*").
			Omit("id", "team_id", "kind", "user_id", "created_at", "created_by").Updates(&r).Error
		if isDuplicate(err) {
			return taken("name", "There is a channel with the name %q already", is.Channel.Name)
		}
		if err != nil {
			return err
		}
		return recordAudit(tx, is.Entry)
	})
}

func takeChannel(tx *gorm.DB, lock, id string) (channelRow, error) {
	var r channelRow
	err := tx.Raw("SELECT * FROM channels WHERE id=?"+lock, id).Take(&r).Error
	if isNotFound(err) {
		err = access.NoObject()
	}
	return r, err
}

// DeleteChannel takes a channel away with its subscriptions. Faults: NotFound,
// Conflict (the hook of a task names it), those of entry.
func (d *DB) DeleteChannel(ctx context.Context, id string, entry func(was alert.Channel, subscriptions int) (access.Entry, error)) error {
	return d.tx(ctx, "delete a channel", func(tx *gorm.DB) error {
		was, err := takeChannel(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		if err := hookless(tx, id); err != nil {
			return err
		}
		gone := tx.Exec("DELETE FROM subscriptions WHERE channel_id=?", id)
		if gone.Error != nil {
			return gone.Error
		}
		if err := tx.Exec("DELETE FROM channels WHERE id=?", id).Error; err != nil {
			return err
		}
		e, err := entry(was.channel(), int(gone.RowsAffected))
		if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}
