package sched

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// rules are the address rules of the office: loopback is open to all, and
// 10.1.0.0/16 to the shop.
type rules struct{ book *book }

func (r rules) MayCall(_ context.Context, team int64, addr netip.Addr) (bool, error) {
	return addr.IsLoopback() || !addr.IsPrivate() || team == shop && netip.MustParsePrefix("10.1.0.0/16").Contains(addr), r.book.fail["MayCall"]
}

func TestATargetThatTheTeamMayNotCallIsRefusedWhenItIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		url  string
		says string // "": it is taken
	}{
		"a public address":           {"http://8.8.8.8/x", ""},
		"an address of the list":     {"http://10.1.2.3:8080/x", ""},
		"an address outside of it":   {"http://10.2.2.3:8080/x", "This team may not call 10.2.2.3, which is inside the network. An administrator can open it on the team's page."},
		"a private one of version 6": {"http://[fd12::7]/x", "This team may not call fd12::7, which is inside the network. An administrator can open it on the team's page."},
		"a metadata service":         {"http://169.254.169.254/latest", "169.254.169.254 is a metadata service of clouds, which nothing may call"},
		"the same, mapped":           {"http://[::ffff:169.254.169.254]/", "::ffff:169.254.169.254 is a metadata service of clouds, which nothing may call"},
		"a name, judged at the call": {"http://orders.internal/x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			w := written(KindCron)
			w.Code, w.Target.URL = "another", c.url
			_, err := o.tasks.Create(t.Context(), as(access.Editor), w)
			requireTarget(t, err, c.says)

			w = written(KindCron)
			w.Version, w.Target.URL = 1, c.url
			_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
			requireTarget(t, err, c.says)
		})
	}
}

func requireTarget(t *testing.T, err error, says string) {
	t.Helper()
	if says == "" {
		require.NoError(t, err)
		return
	}
	require.Equal(t, []fault.FieldError{{Name: "target.url", Text: fault.Fields(err)[0].Text}}, fault.Fields(err))
	require.Equal(t, says, fault.Fields(err)[0].Text.String())
}

func TestAnAddressThatStaysDoesNotStandInTheWayOfOtherChanges(t *testing.T) {
	o := newOffice()
	task, err := o.tasks.Get(t.Context(), as(access.Editor), "close-orders")
	require.NoError(t, err)
	w := written(KindCron)
	w.Version, w.Target.URL = task.Version, "http://10.2.2.3/x"
	task.Spec.Target.URL = w.Target.URL
	o.book.tasks[task.Code] = task
	_, err = o.tasks.Update(t.Context(), as(access.Editor), task.Code, w)
	require.NoError(t, err)
}

func TestATargetThatCannotBeJudgedIsNotStored(t *testing.T) {
	o := newOffice()
	o.fail["MayCall"] = errAway
	w := written(KindCron)
	w.Code, w.Target.URL = "another", "http://10.1.2.3/x"
	_, err := o.tasks.Create(t.Context(), as(access.Editor), w)
	require.ErrorIs(t, err, errAway)
	w = written(KindCron)
	w.Version, w.Target.URL = 1, "http://10.1.2.3/x"
	_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
	require.ErrorIs(t, err, errAway)
}
