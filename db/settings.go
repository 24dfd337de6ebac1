package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
)

// settingRow is a row of settings.
type settingRow struct {
	Name  string
	Value string
}

// TableName is read by GORM.
func (settingRow) TableName() string { return "settings" }

// takeSetting reads one setting; ok is false when there is none.
func takeSetting(tx *gorm.DB, lock, name string) (value string, ok bool, err error) {
	var rows []settingRow
	if err := tx.Raw("SELECT name, value FROM settings WHERE name=?"+lock, name).Scan(&rows).Error; err != nil {
		return "", false, fmt.Errorf("read setting %s: %w", name, away(err))
	}
	if len(rows) == 0 {
		return "", false, nil
	}
	return rows[0].Value, true, nil
}

// Setting reads one setting; ok is false when there is none.
func (d *DB) Setting(ctx context.Context, name string) (value string, ok bool, err error) {
	return takeSetting(d.view(ctx), "", name)
}

// SetSetting stores a setting, with the audit rows of the change.
func (d *DB) SetSetting(ctx context.Context, name, value string, entries ...access.Entry) error {
	return d.tx(ctx, "store setting "+name, func(tx *gorm.DB) error {
		err := tx.Exec("INSERT INTO settings (name, value) VALUES (?, ?) "+d.dialect.upsert("name", "value"), name, value).Error
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := recordAudit(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetSettingIfAbsent stores a setting that nobody has stored yet and gives the
// one that stands: of several nodes that start at once, all get the same.
func (d *DB) SetSettingIfAbsent(ctx context.Context, name, value string) (string, error) {
	stands, ok, err := d.Setting(ctx, name)
	if err != nil || ok {
		return stands, err
	}
	err = d.tx(ctx, "store setting "+name, func(tx *gorm.DB) error {
		return tx.Create(&settingRow{Name: name, Value: value}).Error
	})
	if err == nil {
		return value, nil
	}
	if !isDuplicate(err) {
		return "", err
	}
	stands, ok, err = d.Setting(ctx, name)
	if err == nil && !ok {
		err = fmt.Errorf("setting %s was there and is gone", name)
	}
	return stands, err
}
