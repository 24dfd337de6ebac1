package app

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/gin-gonic/gin"

	"ax/views"
)

// flashLife bounds how long a word waits for its page.
const flashLife = time.Minute

// flash says what an action did, translated: on the next page, or in a toast
// when the answer is a fragment.
func (a *App) flash(c *gin.Context, format string, args ...any) {
	a.flashWith(c, views.Flash{Text: a.say(c, format, args...)})
}

// flashWith is flash with a detail, or for bad news. Texts come translated.
func (a *App) flashWith(c *gin.Context, f views.Flash) {
	if v, err := a.visit(c); err == nil {
		v.said = &f
	}
}

// keptFlash is the form in the cookie. It is shown as text, so it needs no
// signature: who can set cookies can do worse.
type keptFlash struct {
	Text   string `json:"t"`
	Detail string `json:"d,omitempty"`
	Bad    bool   `json:"b,omitempty"`
}

// keepFlash gives the browser what was said, for the page it goes on to.
func (a *App) keepFlash(c *gin.Context) {
	v, ok := visited(c)
	if !ok || v.said == nil {
		return
	}
	raw, err := json.Marshal(keptFlash{clip(v.said.Text, 500), clip(v.said.Detail, 500), v.said.Bad})
	if err == nil {
		a.setCookie(c, flashCookie, base64.RawURLEncoding.EncodeToString(raw), flashLife)
	}
}

// takeFlash gives what was said for this page, once.
func (a *App) takeFlash(c *gin.Context) *views.Flash {
	if v, ok := visited(c); ok && v.said != nil {
		return v.said
	}
	value := cookie(c, flashCookie)
	if value == "" {
		return nil
	}
	a.setCookie(c, flashCookie, "", -1)
	raw, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil
	}
	var k keptFlash
	if json.Unmarshal(raw, &k) != nil || k.Text == "" {
		return nil
	}
	return &views.Flash{Text: k.Text, Detail: k.Detail, Bad: k.Bad}
}

// toast is what app.js shows of an answer.
type toast struct {
	Text   string `json:"text"`
	Detail string `json:"detail,omitempty"`
	Kind   string `json:"kind,omitempty"`
}

// sayNow says in a toast what the handler has said, or the error.
func (a *App) sayNow(c *gin.Context, err error) {
	var said *views.Flash
	if v, ok := visited(c); ok {
		said = v.said
	}
	if err != nil && (said == nil || !said.Bad) {
		f := a.errorFlash(c, err)
		said = &f
	}
	if said == nil {
		return
	}
	t := toast{Text: said.Text, Detail: said.Detail}
	if said.Bad {
		t.Kind = "bad"
	}
	if header, err := asciiJSON(map[string]toast{"ax:toast": t}); err == nil {
		c.Header("HX-Trigger", header)
	}
}

// clip cuts text to n characters.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
