package db_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// secretOf is a secret of the team, and the audit row of its making.
func secretOf(team int64, name string) (access.Secret, access.Entry) {
	now := time.UnixMilli(1_796_000_000_000).UTC()
	s := access.Secret{
		ID: strings.ReplaceAll(dbtest.ID(), "-", ""), TeamID: team, Name: name, Hosts: []string{"[::1]:8080", "pay.example.com"},
		CreatedBy: "ada", CreatedAt: now, ChangedBy: "ada", ChangedAt: now,
	}
	return s, access.Entry{At: now, Actor: cli, Action: "secret.create", Object: s.Object(), TeamID: team}
}

func storeSecret(t *testing.T, d *db.DB, team int64, name, sealed string) access.Secret {
	t.Helper()
	s, e := secretOf(team, name)
	require.NoError(t, d.InsertSecret(t.Context(), s, sealed, 100, e))
	return s
}

// naming makes a task of the team whose calls carry the secret.
func naming(secret string) dbtest.TaskOption {
	return func(t *sched.Task) {
		t.Spec.Target.Headers = map[string]string{"Authorization": "Bearer " + access.SecretRef(secret)}
	}
}

func TestSecretsAreTheTeamsAndKnowWhoNamesThem(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		pay := storeSecret(t, d, shop.ID, "PAY_TOKEN", "sealed-1")
		storeSecret(t, d, shop.ID, "AXTOKEN", "sealed-2")
		storeSecret(t, d, depot.ID, "PAY_TOKEN", "sealed-3")
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.a"), naming("PAY_TOKEN"))
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.b"), naming("PAY_TOKEN"))
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.gone"), naming("PAY_TOKEN"), func(t *sched.Task) { t.ArchivedAt = dbtest.Start() })
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.words"), func(t *sched.Task) { t.Spec.Payload = []byte(`"{{secret:PAY_TOKEN}}"`) })

		list, err := d.Secrets(ctx, shop.ID)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, "AXTOKEN", list[0].Name)
		want := pay
		want.Tasks = 2
		require.Equal(t, want, list[1])
		got, sealed, err := d.Secret(ctx, shop.ID, "PAY_TOKEN")
		require.NoError(t, err)
		require.Equal(t, pay, got)
		require.Equal(t, "sealed-1", sealed)
		for _, name := range []string{"pay_token", "NONE", ""} {
			_, _, err = d.Secret(ctx, shop.ID, name)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), "%q", name)
		}

		err = d.DeleteSecret(ctx, pay, access.Entry{At: dbtest.Start(), Actor: cli, Action: "secret.delete", Object: pay.Object(), TeamID: shop.ID})
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.ErrorContains(t, err, "PAY_TOKEN is named by pay.a, pay.b; take it out of the headers there first")
		foreign := pay
		foreign.TeamID = depot.ID
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.DeleteSecret(ctx, foreign, access.Entry{At: dbtest.Start(), Action: "secret.delete"})))
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.ChangeSecret(ctx, foreign, "x", access.Entry{At: dbtest.Start(), Action: "secret.update"})))

		exec(t, d, "UPDATE tasks SET archived_at=1 WHERE team_id=?", shop.ID)
		require.NoError(t, d.DeleteSecret(ctx, pay, access.Entry{At: dbtest.Start(), Actor: cli, Action: "secret.delete", Object: pay.Object(), TeamID: shop.ID}))
		require.Equal(t, 2, count(t, d, "secrets"))
		require.Equal(t, 1, count(t, d, "audit_log WHERE action='secret.delete'"), "what is refused leaves no row")
	})
}

func TestASecretIsChangedInPlace(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		s := storeSecret(t, d, team.ID, "PAY_TOKEN", "sealed-1")
		entry := access.Entry{At: dbtest.Start(), Actor: cli, Action: "secret.update", Object: s.Object(), TeamID: team.ID}
		s.Hosts, s.ChangedBy, s.ChangedAt = []string{"bank.example.com"}, "bob", s.ChangedAt.Add(time.Hour)
		require.NoError(t, d.ChangeSecret(t.Context(), s, "", entry))
		got, sealed, err := d.Secret(t.Context(), team.ID, "PAY_TOKEN")
		require.NoError(t, err)
		require.Equal(t, s, got)
		require.Equal(t, "sealed-1", sealed)
		require.NoError(t, d.ChangeSecret(t.Context(), s, "sealed-2", entry))
		_, sealed, err = d.Secret(t.Context(), team.ID, "PAY_TOKEN")
		require.NoError(t, err)
		require.Equal(t, "sealed-2", sealed)
		require.NoError(t, d.ChangeSecret(t.Context(), s, "sealed-2", entry), "the same again")
	})
}

func TestASecretsNameIsThereOnceAndThereIsAMost(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		names := []string{"A", "A", "B", "C", "D"}
		errs := make([]error, len(names))
		var done sync.WaitGroup
		for i, name := range names {
			s, e := secretOf(team.ID, name)
			done.Go(func() { errs[i] = d.InsertSecret(t.Context(), s, fmt.Sprint("sealed", i), 3, e) })
		}
		done.Wait()
		refused := 0
		for _, err := range errs {
			if err != nil {
				refused++
				require.Equal(t, "name", fault.Fields(err)[0].Name, "%v", err)
			}
		}
		require.Equal(t, 2, refused)
		require.Equal(t, 3, count(t, d, "secrets"))
		s, e := secretOf(999, "A")
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.InsertSecret(t.Context(), s, "x", 3, e)))
	})
}

func TestSecretsOfTeamsAreSealedAnewToo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before, both, after := vaultOf(t, "a"), vaultOf(t, "b", "a"), vaultOf(t, "b")
		team := dbtest.MakeTeam(t, d)
		now := func() time.Time { return dbtest.Start() }
		to := access.Destination{Host: "pay.example.com", Port: "443"}
		_, err := access.NewSecrets(d, before, now).Add(t.Context(), cli, team, access.NewSecret{Name: "PAY_TOKEN", Value: "canary of pay", Hosts: to.Host})
		require.NoError(t, err)
		_, err = both.Reseal(t.Context(), d)
		require.NoError(t, err)
		plain, err := access.NewSecrets(d, after, now).Reveal(t.Context(), team.ID, "PAY_TOKEN", to)
		require.NoError(t, err)
		require.Equal(t, "canary of pay", plain)
		_, err = access.NewSecrets(d, before, now).Reveal(t.Context(), team.ID, "PAY_TOKEN", to)
		require.ErrorContains(t, err, "does not open here")
	})
}

// A secret that is only shown as a certificate is named all the same.
func TestASecretThatIsACertificateIsNamedByItsTasks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		shop := dbtest.MakeTeam(t, d)
		cert := storeSecret(t, d, shop.ID, "PAY_CERT", "sealed")
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.tls"), func(t *sched.Task) { t.Spec.Target.HTTP = &sched.HTTPRules{ClientCert: "PAY_CERT"} })
		list, err := d.Secrets(t.Context(), shop.ID)
		require.NoError(t, err)
		require.Equal(t, 1, list[0].Tasks)
		err = d.DeleteSecret(t.Context(), cert, access.Entry{At: dbtest.Start(), Action: "secret.delete", TeamID: shop.ID})
		require.ErrorContains(t, err, "PAY_CERT is named by pay.tls")
	})
}
