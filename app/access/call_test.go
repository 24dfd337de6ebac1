package access

import (
	"strings"
	"testing"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func TestACallIsTheActorTheKeyAndTheRequest(t *testing.T) {
	a := Actor{Kind: Token, ID: 12}
	one, err := NewCall(a, "k-1", "POST", "/api/v1/tasks", []byte(`{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, "token 12", one.Scope)
	same, err := NewCall(a, "k-1", "POST", "/api/v1/tasks", []byte(`{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, one, same)
	for name, other := range map[string]func() (Call, error){
		"another person": func() (Call, error) {
			return NewCall(Actor{Kind: User, ID: 12}, "k-1", "POST", "/api/v1/tasks", []byte(`{"a":1}`))
		},
		"another path": func() (Call, error) { return NewCall(a, "k-1", "POST", "/api/v1/task", []byte(`s{"a":1}`)) },
		"another body": func() (Call, error) { return NewCall(a, "k-1", "POST", "/api/v1/tasks", []byte(`{"a":2}`)) },
	} {
		c, err := other()
		require.NoError(t, err)
		require.NotEqual(t, one, c, name)
	}
}

func TestAnOddIdempotencyKeyIsRefused(t *testing.T) {
	for _, key := range []string{"", "a\nb", "订单", "\x00", strings.Repeat("k", 256)} {
		_, err := NewCall(Actor{Kind: Token, ID: 12}, key, "POST", "/", nil)
		require.Equal(t, fault.KindMalformed, fault.KindOf(err), "%q", key)
	}
	_, err := NewCall(Actor{Kind: Token, ID: 12}, strings.Repeat("~", 255), "POST", "/", nil)
	require.NoError(t, err)
}
