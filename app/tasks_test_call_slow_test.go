//go:build slow

package app_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The result stands under the button, and what was typed and not saved stays.
func TestATestCallIsShownInPlace(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	target := triedTarget(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") })
	b := h.tab("editor")
	b.open("/tasks/new")
	b.run(`document.getElementById('f-name').value = 'Half done'`)
	b.run(`document.getElementById('f-target-url').value = '` + target.url + `'`)
	b.run(`document.querySelector('[name="policy.idempotent"][value="true"]').checked = true`)
	b.run(`document.querySelector('#test-call button').click()`)
	b.is(`document.querySelector('[data-test=test-verdict]')?.textContent.includes('A run would have succeeded.')`)
	b.is(`document.getElementById('f-name').value === 'Half done' && location.pathname === '/tasks/new' && !document.querySelector('#test-call button').disabled`)
	require.EqualValues(t, 1, target.calls.Load())
	b.run(`document.getElementById('f-target-url').value = 'http://10.0.0.7/'`)
	b.run(`document.querySelector('#test-call button').click()`)
	b.is(`document.querySelector('[data-test=test-refused]')?.textContent.includes('10.0.0.7')`)
	require.EqualValues(t, 1, target.calls.Load())
}
