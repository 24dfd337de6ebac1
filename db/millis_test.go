package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMillisCutToTheMillisecondInUTC(t *testing.T) {
	shanghai := time.FixedZone("CST", 8*3600)
	m := at(time.Date(2026, 12, 1, 8, 0, 0, 5_999_999, shanghai))
	require.Equal(t, time.Date(2026, 12, 1, 0, 0, 0, 5_000_000, time.UTC), m.Time)
	require.True(t, at(time.Time{}).IsZero())
}

func TestMillisReadWhatAnyDriverHandsOver(t *testing.T) {
	want := time.UnixMilli(1_700_000_000_123).UTC()
	for name, src := range map[string]any{
		"integer": int64(1_700_000_000_123),
		"bytes":   []byte("1700000000123"),
		"text":    "1700000000123",
	} {
		t.Run(name, func(t *testing.T) {
			var m Millis
			require.NoError(t, m.Scan(src))
			require.Equal(t, want, m.Time)
		})
	}
	for name, src := range map[string]any{"float": 1.5, "time": want, "word": "yesterday", "empty": []byte{}} {
		t.Run("not a "+name, func(t *testing.T) {
			require.Error(t, new(Millis).Scan(src))
		})
	}
}

func TestTheZeroTimeIsNull(t *testing.T) {
	v, err := Millis{}.Value()
	require.NoError(t, err)
	require.Nil(t, v)
	m := at(time.UnixMilli(1))
	require.NoError(t, m.Scan(nil))
	require.True(t, m.IsZero())
}

func TestTheEpochIsNotNull(t *testing.T) {
	v, err := at(time.UnixMilli(0)).Value()
	require.NoError(t, err)
	require.Equal(t, int64(0), v)
}
