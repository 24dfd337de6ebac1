package db

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"
)

// Millis is an instant as the ledger stores it: BIGINT epoch milliseconds in
// UTC. The zero time is NULL. Text and DATETIME columns would compare and read
// differently on each dialect, and by the zone of server and client.
type Millis struct{ time.Time }

// at cuts t to the millisecond in UTC. The zero time stays zero.
func at(t time.Time) Millis {
	if t.IsZero() {
		return Millis{}
	}
	return Millis{time.UnixMilli(t.UnixMilli()).UTC()}
}

// Value implements driver.Valuer.
func (m Millis) Value() (driver.Value, error) {
	if m.IsZero() {
		return nil, nil
	}
	return m.UnixMilli(), nil
}

// Scan implements sql.Scanner.
func (m *Millis) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m = Millis{}
	case int64:
		*m = Millis{time.UnixMilli(v).UTC()}
	case []byte:
		return m.parse(string(v))
	case string:
		return m.parse(v)
	default:
		return fmt.Errorf("read an instant from %T: want an integer", src)
	}
	return nil
}

func (m *Millis) parse(s string) error {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return fmt.Errorf("read an instant from %q: %w", s, err)
	}
	*m = Millis{time.UnixMilli(ms).UTC()}
	return nil
}

// GormDataType keeps GORM from treating the column as a DATETIME.
func (Millis) GormDataType() string { return "bigint" }
