package cron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func FuzzParse(f *testing.F) {
	for _, c := range libraryCases {
		f.Add(c.expr)
	}
	for _, s := range []string{"", "TZ=0", "@every 1h", "@every 9999999h", "0 0 L-3W,15W * ?", "0 0 * * 7L,FRI#5", "\uff10 * * * *", "\xff", "* * * * * * * *ASDS"} {
		f.Add(s)
	}
	zones := []*time.Location{time.UTC}
	for _, name := range []string{"America/New_York", "Australia/Lord_Howe", "Pacific/Apia"} {
		loc, err := LoadZone(name)
		require.NoError(f, err)
		zones = append(zones, loc)
	}
	from := time.Date(2011, 12, 1, 0, 0, 0, 5, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			require.True(t, ok, "%T", err)
			require.Equal(t, strings.Count(e.Format, "%"), len(e.Args), e.Format)
			return
		}
		again, err := Parse(e.String())
		require.NoError(t, err)
		require.Equal(t, e, again)
		for _, loc := range zones {
			if next, ok := e.Next(from, loc); ok {
				require.True(t, next.After(from))
				require.True(t, e.Matches(next, loc))
				prev, ok := e.Prev(next.Add(1), loc)
				require.True(t, ok && prev.Equal(next))
			}
			for _, n := range e.Warnings(from, loc) {
				require.Equal(t, strings.Count(n.Format, "%"), len(n.Args), n.Format)
			}
		}
		require.NotEmpty(t, e.Words("en"))
		require.NotEmpty(t, e.Words("zh-CN"))
	})
}
