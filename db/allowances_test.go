package db_test

import (
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func openedTo(team int64, prefix string) (access.Allowance, access.Entry) {
	now := time.UnixMilli(1_796_000_000_000).UTC()
	a := access.Allowance{TeamID: team, Prefix: netip.MustParsePrefix(prefix), Reason: "the till 收银台", CreatedBy: "root", CreatedAt: now}
	return a, access.Entry{At: now, Actor: access.Actor{Kind: access.System, Name: "root"}, Action: "allowance.create", Object: a.Object(), TeamID: team, Reason: a.Reason}
}

func TestTheListOfATeamIsItsOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		for team, prefixes := range map[int64][]string{shop.ID: {"fd12::/32", "10.1.0.0/16"}, depot.ID: {"10.1.0.0/16"}} {
			for _, p := range prefixes {
				a, e := openedTo(team, p)
				_, err := d.InsertAllowance(ctx, a, 50, e)
				require.NoError(t, err)
			}
		}
		list, err := d.Allowances(ctx, shop.ID)
		require.NoError(t, err)
		require.Len(t, list, 2)
		want, _ := openedTo(shop.ID, "10.1.0.0/16")
		want.ID = list[0].ID
		require.Equal(t, want, list[0])

		gone := func(was access.Allowance) access.Entry {
			_, e := openedTo(was.TeamID, was.Prefix.String())
			e.Action, e.Object = "allowance.delete", was.Object()
			return e
		}
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.DeleteAllowance(ctx, depot.ID, want.ID, gone)), "by another team's page")
		require.NoError(t, d.DeleteAllowance(ctx, shop.ID, want.ID, gone))
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.DeleteAllowance(ctx, shop.ID, want.ID, gone)))
		list, err = d.Allowances(ctx, shop.ID)
		require.NoError(t, err)
		require.Len(t, list, 1)
		list, err = d.Allowances(ctx, depot.ID)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, 4, count(t, d, "audit_log WHERE action LIKE 'allowance.%' AND object_id<>'' AND reason='the till 收银台'"))
	})
}

func TestARangeIsThereOnceAndThereIsAMost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		ranges := []string{"10.1.0.0/16", "10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16"}
		errs := make([]error, len(ranges))
		var done sync.WaitGroup
		for i, p := range ranges {
			a, e := openedTo(team.ID, p)
			done.Go(func() { _, errs[i] = d.InsertAllowance(t.Context(), a, 3, e) })
		}
		done.Wait()
		refused := 0
		for _, err := range errs {
			if err != nil {
				refused++
				require.Equal(t, "prefix", fault.Fields(err)[0].Name, "%v", err)
			}
		}
		require.Equal(t, 2, refused)
		require.Equal(t, 3, count(t, d, "target_allowances"))
		a, e := openedTo(999, "10.1.0.0/16")
		_, err := d.InsertAllowance(t.Context(), a, 3, e)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestARangeThatIsNoneIsAnErrorAndOpensNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO target_allowances (team_id, prefix, reason, created_by, created_at) VALUES (1,'everything','','',1)")
		_, err := d.Allowances(t.Context(), 1)
		require.ErrorContains(t, err, "allowance 1")
		require.ErrorContains(t, d.DeleteAllowance(t.Context(), 1, 1, func(access.Allowance) access.Entry { return access.Entry{} }), "allowance 1")
		require.False(t, errors.Is(err, db.ErrAway))
	})
}
