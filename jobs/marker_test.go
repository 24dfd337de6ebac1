package jobs_test

import (
	"testing"

	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

func TestEveryNodeLearnsOfAWipeOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		check := func(m *jobs.Marker) bool {
			t.Helper()
			wiped, err := m.Check(t.Context())
			require.NoError(t, err)
			return wiped
		}
		a, b := jobs.NewMarker(r, queues), jobs.NewMarker(r, queues)
		require.True(t, check(a), "a Redis that never had the key counts as wiped")
		require.False(t, check(a))
		require.False(t, check(b), "the first look finds the key of another node")

		require.NoError(t, r.Client().FlushAll(t.Context()).Err())
		require.True(t, check(b))
		require.True(t, check(a), "another value than the one it knew")
		require.False(t, check(a))
		require.False(t, check(b))
	})
}

func TestAWipeThatIsOwedIsToldAgain(t *testing.T) {
	t.Parallel()
	m := jobs.NewMarker(redistest.Embedded(t), queues)
	_, err := m.Check(t.Context())
	require.NoError(t, err)
	m.Owe()
	wiped, err := m.Check(t.Context())
	require.NoError(t, err)
	require.True(t, wiped)
	wiped, err = m.Check(t.Context())
	require.NoError(t, err)
	require.False(t, wiped)
}
