package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// brokerRow is a row of brokers.
type brokerRow struct {
	ID        string
	TeamID    int64
	Name      string
	Kind      string
	Address   string
	TLS       bool
	Places    string // one on each line
	Sealed    string
	CreatedBy string
	CreatedAt Millis
	ChangedBy string
	ChangedAt Millis
}

// TableName is read by GORM.
func (brokerRow) TableName() string { return "brokers" }

func (r brokerRow) broker() access.Broker {
	return access.Broker{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Kind: access.BrokerKind(r.Kind), Address: r.Address, TLS: r.TLS, Places: strings.Split(r.Places, "\n"),
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.Time,
	}
}

// Brokers lists those of a team by name, with the number of tasks that name
// each. Their accounts stay where they are.
func (d *DB) Brokers(ctx context.Context, team int64) ([]access.Broker, error) {
	var rows []brokerRow
	q := "SELECT id, team_id, name, kind, address, tls, places, created_by, created_at, changed_by, changed_at FROM brokers WHERE team_id=? ORDER BY name"
	err := d.view(ctx).Raw(q, team).Scan(&rows).Error
	var naming map[string][]string
	if err == nil && len(rows) > 0 {
		naming, err = tasksPublishing(d.view(ctx), team)
	}
	if err != nil {
		return nil, fmt.Errorf("list the brokers of team %d: %w", team, away(err))
	}
	out := make([]access.Broker, len(rows))
	for i, r := range rows {
		out[i] = r.broker()
		out[i].Tasks = len(naming[r.Name])
	}
	return out, nil
}

// tasksPublishing gives, by the name of a broker, the codes of the team's tasks
// that name it.
func tasksPublishing(q *gorm.DB, team int64) (map[string][]string, error) {
	return tasksNaming(q, team, func(s sched.Spec) []string {
		if s.Target.Broker == "" {
			return nil
		}
		return []string{s.Target.Broker}
	}, `"broker":`)
}

// Broker gives one with its sealed account. Faults: NotFound.
func (d *DB) Broker(ctx context.Context, team int64, name string) (access.Broker, string, error) {
	var r brokerRow
	err := d.view(ctx).Raw("SELECT * FROM brokers WHERE team_id=? AND name=?", team, name).Take(&r).Error
	if isNotFound(err) {
		return access.Broker{}, "", fault.NotFound("There is no such broker")
	}
	if err != nil {
		return access.Broker{}, "", fmt.Errorf("read a broker of team %d: %w", team, away(err))
	}
	return r.broker(), r.Sealed, nil
}

// InsertBroker stores a broker. Faults: NotFound (the team), Conflict with the
// field (the team has the name already, or has most of them).
func (d *DB) InsertBroker(ctx context.Context, b access.Broker, sealed string, most int, e access.Entry) error {
	return d.tx(ctx, "store a broker", func(tx *gorm.DB) error {
		n, err := d.countOfTeam(tx, "brokers", b.TeamID)
		if err != nil {
			return err
		}
		if n >= most {
			return taken("name", "The team has %d brokers, and no more are kept", n)
		}
		r := brokerRow{
			ID: b.ID, TeamID: b.TeamID, Name: b.Name, Kind: string(b.Kind), Address: b.Address, TLS: b.TLS, Places: strings.Join(b.Places, "\n"), Sealed: sealed,
			CreatedBy: clip(b.CreatedBy, 100), CreatedAt: at(b.CreatedAt), ChangedBy: clip(b.ChangedBy, 100), ChangedAt: at(b.ChangedAt),
		}
		if err := tx.Create(&r).Error; isDuplicate(err) {
			return taken("name", "The team has a broker %s already", b.Name)
		} else if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// ChangeBroker stores its fields and, unless sealed is empty, another account.
// Faults: NotFound.
func (d *DB) ChangeBroker(ctx context.Context, b access.Broker, sealed string, e access.Entry) error {
	return d.tx(ctx, "change a broker", func(tx *gorm.DB) error {
		if err := d.lockBroker(tx, b); err != nil {
			return err
		}
		set := "address=?, tls=?, places=?, changed_by=?, changed_at=?"
		args := []any{b.Address, b.TLS, strings.Join(b.Places, "\n"), clip(b.ChangedBy, 100), at(b.ChangedAt)}
		if sealed != "" {
			set, args = set+", sealed=?", append(args, sealed)
		}
		if err := tx.Exec("UPDATE brokers SET "+set+" WHERE id=?", append(args, b.ID)...).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// DeleteBroker takes a broker away. Faults: NotFound, Conflict (a task names
// it).
func (d *DB) DeleteBroker(ctx context.Context, b access.Broker, e access.Entry) error {
	return d.tx(ctx, "delete a broker", func(tx *gorm.DB) error {
		if err := d.lockBroker(tx, b); err != nil {
			return err
		}
		naming, err := tasksPublishing(tx, b.TeamID)
		if err != nil {
			return err
		}
		if codes := naming[b.Name]; len(codes) > 0 {
			return fault.Conflict("%s is named by %s; give them another target first", b.Name, few(codes))
		}
		if err := tx.Exec("DELETE FROM brokers WHERE id=?", b.ID).Error; err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

func (d *DB) lockBroker(tx *gorm.DB, b access.Broker) error {
	var ids []string
	err := tx.Raw("SELECT id FROM brokers WHERE id=? AND team_id=?"+d.dialect.forUpdate, b.ID, b.TeamID).Scan(&ids).Error
	if err == nil && len(ids) == 0 {
		err = fault.NotFound("There is no such broker")
	}
	return err
}
