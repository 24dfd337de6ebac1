package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"ax/app/calendar"
	"ax/app/fault"
	"ax/views"
)

// chooseImport asks into which calendar a file goes; ?calendar= is the answer.
func (a *App) chooseImport(c *gin.Context) (reply, error) {
	list, err := a.calendars.List(c.Request.Context(), actor(c))
	if err != nil {
		return reply{}, err
	}
	page := views.CalendarChoose{Chosen: clip(c.Query("calendar"), maxFilterText)}
	for _, l := range list {
		if !calendar.MayEdit(actor(c), &calendar.Calendar{TeamID: l.TeamID}) {
			continue
		}
		if l.Code == page.Chosen {
			return goTo("/calendars/%s/import", l.Code), nil
		}
		page.Calendars = append(page.Calendars, views.CalendarChoice{Code: l.Code, Name: l.Name})
	}
	if c.Query("calendar") != "" {
		err = fault.Invalid(fault.Field("calendar", "There is no calendar %q that you may change", page.Chosen))
		page.Errors = errorsOf(err)
	}
	return show(views.CalendarChoosePage(page)), err
}

// showImport shows the form that takes a file; ?year= is the one to be filled.
func (a *App) showImport(c *gin.Context) (reply, error) {
	cal, err := a.editableCalendar(c)
	if err != nil {
		return reply{}, err
	}
	page, err := a.importPage(c, cal, c.Query("year"))
	return show(views.CalendarImportPage(page)), err
}

func (a *App) importPage(c *gin.Context, cal *calendar.Calendar, year string) (views.CalendarImport, error) {
	_, tasks, err := a.calendars.Uses(c.Request.Context(), actor(c), cal.Code, 1)
	page := views.CalendarImport{CalendarRow: a.calendarRow(c, cal, tasks), Mode: calendar.ReplaceYears}
	if year != "" && year != "0" {
		page.Year = a.yearOf(c, year)
	}
	return page, err
}

// importDays first says what a file changes; only what was shown so is stored.
func (a *App) importDays(c *gin.Context) (reply, error) {
	cal, err := a.editableCalendar(c)
	if err != nil {
		return reply{}, err
	}
	f, file, err := a.fileForm(c)
	if err != nil {
		return reply{}, err
	}
	page, err := a.importPage(c, cal, f.text("year"))
	if err != nil {
		return reply{}, err
	}
	page.Text, page.Reason, page.Mode = f.raw("text"), f.text("reason"), calendar.Mode(f.text("mode"))
	if file.text != "" {
		page.Text, page.File = file.text, file.name
	}
	in := calendar.Import{Text: page.Text, Mode: page.Mode, Reason: page.Reason}
	page.Seen = seal(page.Text, string(page.Mode))
	if f.text("step") == "save" && f.text("seen") == page.Seen {
		in.Version = f.number("version")
		return a.storeImport(c, page, in)
	}
	if !utf8.ValidString(page.Text) {
		page.Text = "" // what is wrong with it is said; it can't be shown
	}
	return a.look(c, page, in, nil)
}

// look shows what the import would change; failed is why it wasn't stored.
func (a *App) look(c *gin.Context, page views.CalendarImport, in calendar.Import, failed error) (reply, error) {
	in.Version = 0
	read, err := a.calendars.Import(c.Request.Context(), actor(c), page.Calendar.Code, in, true)
	switch kind := fault.KindOf(err); {
	case err == nil:
		page.Read = &read
		effect, bad := a.outlook.Effect(c.Request.Context(), actor(c), read.Was, read.Calendar, read.Changes)
		if bad != nil {
			return reply{}, bad
		}
		page.Effect = &effect
	case kind == fault.KindInvalid:
		page.Errors = errorsOf(err)
	case kind == fault.KindMalformed || kind == fault.KindTooLarge:
		text, _ := fault.TextOf(err)
		page.Errors = []fault.FieldError{{Name: "text", Text: text}}
	default:
		return reply{}, err
	}
	if failed != nil {
		err = failed
		if text, ok := fault.TextOf(failed); ok && fault.KindOf(failed) == fault.KindConflict {
			page.Moved = views.TranslateText(a.viewer(c).Lang, text)
		} else {
			page.Errors = errorsOf(failed)
		}
	}
	return show(views.CalendarImportPage(page)), err
}

func (a *App) storeImport(c *gin.Context, page views.CalendarImport, in calendar.Import) (reply, error) {
	done, err := a.calendars.Import(c.Request.Context(), actor(c), page.Calendar.Code, in, false)
	if kind := fault.KindOf(err); err != nil && (kind == fault.KindConflict || kind == fault.KindInvalid) {
		stored, failed := a.editableCalendar(c)
		if failed != nil {
			return reply{}, failed
		}
		page.Calendar = stored
		return a.look(c, page, in, err)
	}
	if err != nil {
		return reply{}, err
	}
	a.flash(c, "%d days are imported", len(done.Changes))
	to := "/calendars/" + page.Calendar.Code
	if days := calendar.Sorted(done.Days); len(days) > 0 {
		to += "?year=" + strconv.Itoa(days[len(days)-1].Year())
	}
	return goTo(to), nil
}

// seal stands for what was shown, so that nothing else is stored.
func seal(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// sentFile is a file of a form.
type sentFile struct{ name, text string }

// fileForm reads a form with a file. A text area gives lines ended by CRLF,
// which are made plain, so that what comes back is what was sent.
func (a *App) fileForm(c *gin.Context) (*form, sentFile, error) {
	var file sentFile
	err := c.Request.ParseMultipartForm(maxBody)
	switch {
	case errors.Is(err, http.ErrNotMultipart):
		f, err := a.form(c)
		return f, file, err
	case err != nil:
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, file, tooLarge()
		}
		return nil, file, fault.Malformed("The form can’t be read")
	}
	defer func() { _ = c.Request.MultipartForm.RemoveAll() }()
	values := url.Values(c.Request.MultipartForm.Value)
	for name, v := range values {
		if !clean(name, 1) || !clean(strings.Join(v, ""), 1) {
			return nil, file, fault.Malformed("The form has characters that ax can’t read")
		}
	}
	if values.Has("text") {
		values.Set("text", areaLines(values.Get("text")))
	}
	for _, head := range c.Request.MultipartForm.File["file"] {
		raw, err := head.Open()
		if err != nil {
			return nil, file, fault.Malformed("The form can’t be read")
		}
		content, err := io.ReadAll(raw)
		_ = raw.Close()
		if err != nil {
			return nil, file, fault.Malformed("The form can’t be read")
		}
		file = sentFile{name: clip(path.Base(strings.ToValidUTF8(head.Filename, "\uFFFD")), 80), text: areaLines(string(content))}
	}
	return &form{values: values, zone: a.zoneOf(c)}, file, nil
}

// areaLines ends each line by a line feed, as a text area's come back.
func areaLines(s string) string {
	return strings.TrimLeft(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s), "\n")
}
