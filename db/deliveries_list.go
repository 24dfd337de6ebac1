package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
)

// Delivery gives one message. Faults: NotFound.
func (d *DB) Delivery(ctx context.Context, id string) (alert.Delivery, error) {
	var r deliveryRow
	err := d.view(ctx).Raw("SELECT * FROM deliveries WHERE id=?", id).Take(&r).Error
	if isNotFound(err) {
		return alert.Delivery{}, fault.NotFound("There is no such message")
	}
	if err != nil {
		return alert.Delivery{}, fmt.Errorf("read message %s: %w", id, away(err))
	}
	return r.delivery()
}

// Deliveries gives a page of messages, the latest first.
func (d *DB) Deliveries(ctx context.Context, f alert.DeliveryFilter, p sched.PageRequest) (sched.PageOf[alert.Delivery], error) {
	w := &where{}
	w.scope("team_id", f.Scope)
	for _, x := range []struct{ column, value string }{
		{"channel_id", f.Channel}, {"incident_id", f.Incident}, {"state", string(f.State)}, {"kind", string(f.Kind)},
	} {
		if x.value != "" {
			w.and(x.column+"=?", x.value)
		}
	}
	rows, page, err := keyset(p, w, "id", false, func(q string, args []any) ([]deliveryRow, error) {
		var rows []deliveryRow
		err := d.view(ctx).Raw("SELECT * FROM deliveries"+q, args...).Scan(&rows).Error
		return rows, err
	}, func(r deliveryRow) string { return r.ID })
	out := sched.PageOf[alert.Delivery]{Next: page.Next, Prev: page.Prev, Items: make([]alert.Delivery, len(rows))}
	for i, r := range rows {
		if err != nil {
			break
		}
		out.Items[i], err = r.delivery()
	}
	if err != nil {
		return sched.PageOf[alert.Delivery]{}, fmt.Errorf("list messages: %w", away(err))
	}
	return out, nil
}

// AddDelivery stores a message that a person asked for, with the audit row.
// Faults: Conflict, when its channel is gone.
func (d *DB) AddDelivery(ctx context.Context, x alert.Delivery, e access.Entry) error {
	return d.tx(ctx, "add a message", func(tx *gorm.DB) error {
		var n int
		if err := tx.Raw("SELECT COUNT(*) FROM channels WHERE id=?"+d.dialect.forShare, x.ChannelID).Scan(&n).Error; err != nil {
			return err
		}
		if n == 0 {
			return fault.Conflict("The channel is not there any more")
		}
		if err := d.insertDeliveries(tx, []alert.Delivery{x}); err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// EndDelivery stores what became of a message that was sent apart from the
// queue, if it has not ended yet.
func (d *DB) EndDelivery(ctx context.Context, x alert.Delivery) error {
	return d.tx(ctx, "end a message", func(tx *gorm.DB) error {
		r, err := rowOfDelivery(x)
		if err != nil {
			return err
		}
		return r.settle(tx)
	})
}

// InsertDeliveries stores messages; what a channel has already is left out.
func (d *DB) InsertDeliveries(ctx context.Context, all []alert.Delivery) error {
	return d.tx(ctx, "store messages", func(tx *gorm.DB) error { return d.insertDeliveries(tx, all) })
}

// ChannelHead gives id, team, kind and name of a channel, and the team's name.
// Faults: NotFound.
func (d *DB) ChannelHead(ctx context.Context, id string) (alert.Channel, string, error) {
	var r struct {
		ID, Kind, Name string
		TeamID         int64
		Team           maybe
	}
	err := d.view(ctx).Raw("SELECT c.id, c.team_id, c.kind, c.name, t.name AS team FROM channels c LEFT JOIN teams t ON t.id=c.team_id WHERE c.id=?", id).Take(&r).Error
	if isNotFound(err) {
		return alert.Channel{}, "", fault.NotFound("There is no such channel")
	}
	if err != nil {
		return alert.Channel{}, "", fmt.Errorf("read channel %s: %w", id, away(err))
	}
	return alert.Channel{ID: r.ID, TeamID: r.TeamID, Kind: alert.ChannelKind(r.Kind), Name: r.Name}, string(r.Team), nil
}
