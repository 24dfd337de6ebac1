package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachConstructorMakesItsKind(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want Kind
	}{
		"malformed":       {Malformed("no %s", "JSON"), KindMalformed},
		"unauthenticated": {Unauthenticated("no %s", "JSON"), KindUnauthenticated},
		"denied":          {Denied("no %s", "JSON"), KindDenied},
		"not found":       {NotFound("no %s", "JSON"), KindNotFound},
		"conflict":        {Conflict("no %s", "JSON"), KindConflict},
		"too large":       {TooLarge("no %s", "JSON"), KindTooLarge},
		"too many":        {TooMany("no %s", "JSON"), KindTooMany},
		"unavailable":     {Unavailable(io.EOF, "no %s", "JSON"), KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			require.EqualError(t, c.err, "no JSON")
			wrapped := fmt.Errorf("read the body: %w", c.err)
			require.Equal(t, c.want, KindOf(c.err))
			require.Equal(t, c.want, KindOf(wrapped), "wrapped, too")
			text, ok := TextOf(wrapped)
			require.True(t, ok)
			require.Equal(t, Text{Format: "no %s", Args: []any{"JSON"}}, text, "kept apart, for the viewer's language")
			require.Empty(t, Fields(wrapped))
		})
	}
}

func TestWhatIsNoFaultIsInternalAndNotShown(t *testing.T) {
	for _, err := range []error{nil, io.EOF, fmt.Errorf("dial: %w", io.EOF)} {
		require.Equal(t, KindInternal, KindOf(err))
		require.Nil(t, Fields(err))
		_, ok := TextOf(err)
		require.False(t, ok)
	}
}

func TestInvalidGathersFields(t *testing.T) {
	require.NoError(t, Invalid())
	err := Invalid(Field("cron", "minute %q is outside 0–59", "61"), Field("name", "A name is needed"))
	require.Equal(t, KindInvalid, KindOf(err))
	require.EqualError(t, err, `Some fields need another value: cron: minute "61" is outside 0–59; name: A name is needed`)
	fields := Fields(fmt.Errorf("create task: %w", err))
	require.Equal(t, []FieldError{
		{Name: "cron", Text: Text{Format: "minute %q is outside 0–59", Args: []any{"61"}}}, {Name: "name", Text: Text{Format: "A name is needed"}},
	}, fields)
}

// The cause is for the log: a page shows Error's text, which must not hold it.
func TestACauseIsReachedButNotShown(t *testing.T) {
	cause := errors.New("dial tcp: user ax, password hunter2")
	err := Unavailable(cause, "The database can't be reached")
	require.ErrorIs(t, err, cause)
	require.NotContains(t, err.Error(), "hunter2")
}

// A text without arguments is not a format: a percent sign in it stays.
func TestATextIsEnglish(t *testing.T) {
	require.Equal(t, "100% of it", Text{Format: "100% of it"}.String())
	require.Equal(t, "3 of 4", Text{Format: "%d of %d", Args: []any{3, 4}}.String())
}
