package app

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestACellIsNeverAFormula(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "orders": "orders", "a=1": "a=1", "1-2": "1-2", "'=1": "'=1", "价格": "价格",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		`=HYPERLINK("http://evil","x")`: `'=HYPERLINK("http://evil","x")`, "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
		"  =1": "'  =1", "\u00a0=1": "'\u00a0=1", "\ufeff=1": "'\ufeff=1", "＝1": "'＝1", "＠x": "'＠x", "   ": "   ",
	} {
		require.Equal(t, want, csvCell(in), "%q", in)
	}
}

func TestEveryTextComesBackFromItsCell(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \t\r\n]{0,2}[-=+@＝＋－＠][a-z",;=\r\n]{0,9}`)).Draw(r, "text")
		var file bytes.Buffer
		w := csv.NewWriter(&file)
		require.NoError(r, w.Write([]string{csvCell(in), "end"}))
		w.Flush()
		row, err := csv.NewReader(&file).Read()
		require.NoError(r, err)
		require.Equal(r, strings.ReplaceAll(csvCell(in), "\r\n", "\n"), row[0])
		require.Contains(r, []string{in, "'" + in}, csvCell(in))
		seen := []rune(strings.TrimLeft(csvCell(in), " \u00a0\u3000\ufeff"))
		require.False(r, len(seen) > 0 && strings.ContainsRune(formulaStart, seen[0]), "%q", csvCell(in))
	})
}
