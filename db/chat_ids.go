package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
)

// chatIDRow is a row of chat_ids.
type chatIDRow struct {
	UserID int64
	Kind   string
	Value  string
}

// TableName is read by GORM.
func (chatIDRow) TableName() string { return "chat_ids" }

// ChatIDs gives how robots call a person, by kind.
func (d *DB) ChatIDs(ctx context.Context, user int64) (map[alert.ChannelKind]string, error) {
	var rows []chatIDRow
	if err := d.view(ctx).Raw("SELECT * FROM chat_ids WHERE user_id=?", user).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the chat ids of %s: %w", userTag(user), away(err))
	}
	out := make(map[alert.ChannelKind]string, len(rows))
	for _, r := range rows {
		out[alert.ChannelKind(r.Kind)] = r.Value
	}
	return out, nil
}

// SetChatIDs puts ids in the place of all that the person had.
func (d *DB) SetChatIDs(ctx context.Context, user int64, ids map[alert.ChannelKind]string, e access.Entry) error {
	return d.tx(ctx, "store the chat ids of "+userTag(user), func(tx *gorm.DB) error {
		if _, err := takeUser(tx, "id=?"+d.dialect.forUpdate, user); err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM chat_ids WHERE user_id=?", user).Error; err != nil {
			return err
		}
		for _, k := range alert.Mentioners() {
			if ids[k] == "" {
				continue
			}
			if err := tx.Create(&chatIDRow{UserID: user, Kind: string(k), Value: ids[k]}).Error; err != nil {
				return err
			}
		}
		return recordAudit(tx, e)
	})
}

// People gives those of the logins who may sign in, with their chat ids and
// e-mail addresses, by login. Owners of tasks are free text: who is not there is
// left out.
func (d *DB) People(ctx context.Context, logins []string) ([]alert.Person, error) {
	if len(logins) == 0 {
		return nil, nil
	}
	var rows []struct {
		ID                 int64
		Login, Name, Email string
		Kind, Value        *string
	}
	err := d.view(ctx).Raw("SELECT u.id, u.login, u.name, u.email, c.kind, c.value FROM users u LEFT JOIN chat_ids c ON c.user_id=u.id"+
		" WHERE u.login IN ? AND u.disabled=? ORDER BY u.login, c.kind", logins, false).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read people: %w", away(err))
	}
	var out []alert.Person
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].Login != r.Login {
			out = append(out, alert.Person{Login: r.Login, Name: r.Name, Email: r.Email, IDs: map[alert.ChannelKind]string{}})
		}
		if r.Kind != nil && r.Value != nil {
			out[len(out)-1].IDs[alert.ChannelKind(*r.Kind)] = *r.Value
		}
	}
	return out, nil
}
