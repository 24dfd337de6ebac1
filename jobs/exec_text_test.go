package jobs

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWhatATargetSentBecomesReadableText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, out string }{
		"line ends":       {"a\r\nb\rc\td", "a\nb␍c\td"},
		"escape and null": {"\x1b[31mred\x00\x7f", "␛[31mred␀␡"},
		"bad bytes":       {"a\xff\xc3", "a\ufffd\ufffd"},
		"right to left":   {"a\u202eb", `a\u202eb`},
		"line separators": {"a\u2028b\u0085c", `a\u2028b\u0085c`},
		"joined emoji":    {"\U0001F468\u200d\U0001F4BB", "\U0001F468\u200d\U0001F4BB"},
		"Chinese":         {"订单已关闭", "订单已关闭"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.out, readable(c.in)) })
	}
}

func TestALineIsShortAndOne(t *testing.T) {
	t.Parallel()
	long := oneLine("a\n b\t\tc\r\n" + strings.Repeat("错", 600))
	require.True(t, strings.HasPrefix(long, "a b c 错"))
	require.Equal(t, 500, utf8.RuneCountInString(long))
	require.True(t, strings.HasSuffix(long, "…"))
}

func TestACutNeverSplitsACharacter(t *testing.T) {
	t.Parallel()
	for n := range 10 {
		got := firstBytes("a错b错", n)
		require.LessOrEqual(t, len(got), n)
		require.True(t, utf8.ValidString(got))
	}
}
