package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func TestCommandsAreOpenToATeamOnlyWhenSomebodyOpenedThem(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		var before []bool
		set := func(team int64, on bool) error {
			return d.SetTeamCommands(ctx, team, on, func(was bool) access.Entry {
				before = append(before, was)
				return access.Entry{At: time.UnixMilli(1_796_000_000_000), Actor: access.Actor{Kind: access.System, Name: "root"}, Action: "team.open_commands", TeamID: team}
			})
		}
		open := func(team int64) bool {
			on, err := d.RunsCommands(ctx, team)
			require.NoError(t, err)
			return on
		}
		require.False(t, open(shop.ID))
		require.NoError(t, set(shop.ID, true))
		require.True(t, open(shop.ID))
		require.False(t, open(depot.ID))
		require.False(t, open(9999), "a team that isn't there")
		stored, err := d.Team(ctx, shop.Code)
		require.NoError(t, err)
		require.True(t, stored.Commands)
		require.NoError(t, set(shop.ID, false))
		require.False(t, open(shop.ID))
		require.Equal(t, []bool{false, true}, before)
		require.Equal(t, fault.KindNotFound, fault.KindOf(set(9999, true)))
	})
}
