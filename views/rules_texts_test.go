package views

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What rules say: faults, notes on cron, verbs of roles.
func TestEveryTextOfTheRulesHasItsChinese(t *testing.T) {
	t.Parallel()
	all, _ := texts(t)
	require.Empty(t, missing(all, func(at string) bool { return !strings.HasPrefix(at, "../views/") }))
}
