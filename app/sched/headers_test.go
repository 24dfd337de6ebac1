package sched

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestHeadersOfATarget(t *testing.T) {
	for name, c := range map[string]struct {
		written map[string]string
		want    map[string]string
		says    string
	}{
		"none":                     {},
		"names in any case":        {map[string]string{"x-shop": " 17 ", "ACCEPT": "text/plain"}, map[string]string{"X-Shop": "17", "Accept": "text/plain"}, ""},
		"a secret":                 {map[string]string{"authorization": "Bearer {{ secret:PAY_TOKEN }}"}, map[string]string{"Authorization": "Bearer {{secret:PAY_TOKEN}}"}, ""},
		"two in one":               {map[string]string{"X-Both": "{{secret:PAY_TOKEN}}/{{secret:OTHER}}"}, map[string]string{"X-Both": "{{secret:PAY_TOKEN}}/{{secret:OTHER}}"}, ""},
		"a credential as it is":    {map[string]string{"Authorization": "Bearer abc"}, nil, "Authorization looks like a credential"},
		"a key as it is":           {map[string]string{"X-Api-Key": "abc"}, nil, "X-Api-Key looks like a credential"},
		"another placeholder":      {map[string]string{"X-A": "{{biz_id}}"}, nil, "X-A: between braces only a secret"},
		"an open brace":            {map[string]string{"X-A": "{{secret:PAY_TOKEN"}, nil, "X-A: between braces only a secret"},
		"one of ax":                {map[string]string{"Idempotency-Key": "x"}, nil, "Idempotency-Key is not a task’s to set"},
		"one of ax, by its family": {map[string]string{"ax-anything": "x"}, nil, "Ax-Anything is not a task’s to set"},
		"the connection's":         {map[string]string{"transfer-encoding": "chunked"}, nil, "Transfer-Encoding is not a task’s to set"},
		"another host":             {map[string]string{"host": "other"}, nil, "Host is not a task’s to set"},
		"a line break":             {map[string]string{"X-A": "a\r\nX-B: b"}, nil, "X-A needs a value on one line"},
		"a line break in the name": {map[string]string{"X-A\nX-B": "a"}, nil, "is not the name of a header"},
		"a space in the name":      {map[string]string{"X A": "a"}, nil, "is not the name of a header"},
		"no name":                  {map[string]string{"": "a"}, nil, "is not the name of a header"},
		"no value":                 {map[string]string{"X-A": " "}, nil, "X-A needs a value"},
		"too long":                 {map[string]string{"X-A": strings.Repeat("x", 2001)}, nil, "X-A needs a value on one line, of at most 2000 characters"},
		"twice":                    {map[string]string{"x-a": "1", "X-A": "2"}, nil, "X-A is there twice"},
	} {
		t.Run(name, func(t *testing.T) {
			var bad problems
			got := bad.headers("target.headers", c.written)
			if c.says == "" {
				require.Empty(t, bad)
				require.Equal(t, c.want, got)
				return
			}
			require.Len(t, bad, 1)
			require.Equal(t, "target.headers", bad[0].Name)
			require.Contains(t, bad[0].Text.String(), c.says)
		})
	}
	many := map[string]string{}
	for i := range 21 {
		many["X-"+strings.Repeat("A", i+1)] = "1"
	}
	var bad problems
	require.Nil(t, bad.headers("target.headers", many))
	require.Len(t, bad, 1)
}

func TestATaskNamesOnlySecretsThatItsCallsGet(t *testing.T) {
	for name, c := range map[string]struct {
		url, value string
		says       string // "": it is taken
	}{
		"its host":                  {"https://pay.example.com/x", "{{secret:PAY_TOKEN}}", ""},
		"its host, in capitals":     {"https://PAY.example.com/x", "{{secret:PAY_TOKEN}}", ""},
		"its host, at another port": {"http://pay.example.com:8080/x", "{{secret:PAY_TOKEN}}", ""},
		"a host with its port":      {"https://bank.example.com/x", "{{secret:BANK}}", ""},
		"another port of it":        {"https://bank.example.com:8443/x", "{{secret:BANK}}", "The secret BANK is not for bank.example.com"},
		"another host":              {"https://evil.example.com/x", "{{secret:PAY_TOKEN}}", "The secret PAY_TOKEN is not for evil.example.com"},
		"its host's child":          {"https://a.pay.example.com/x", "{{secret:PAY_TOKEN}}", "is not for a.pay.example.com"},
		"none of the team":          {"https://pay.example.com/x", "{{secret:NONE}}", "The team has no secret NONE"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			o.secrets = []access.Secret{{Name: "BANK", Hosts: []string{"bank.example.com:443"}}, {Name: "PAY_TOKEN", Hosts: []string{"pay.example.com"}}}
			w := written(KindCron)
			w.Code, w.Target.URL, w.Target.Headers = "another", c.url, map[string]string{"X-Token": c.value}
			made, err := o.tasks.Create(t.Context(), as(access.Editor), w)
			if c.says == "" {
				require.NoError(t, err)
				require.Equal(t, map[string]string{"X-Token": c.value}, made.Spec.Target.Headers)
				return
			}
			require.Equal(t, []string{"target.headers"}, fieldNames(err))
			require.Contains(t, fault.Fields(err)[0].Text.String(), c.says)
		})
	}
	o := newOffice()
	o.fail["Secrets"] = errors.New("the ledger is away")
	w := written(KindCron)
	w.Code, w.Target.Headers = "another", map[string]string{"X-Token": "{{secret:PAY_TOKEN}}"}
	_, err := o.tasks.Create(t.Context(), as(access.Editor), w)
	require.ErrorContains(t, err, "the ledger is away")
}
