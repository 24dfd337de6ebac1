package access

import (
	"context"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// The bounds of a password, in characters. argon2id has no 72-byte cut, so
// every character counts; the upper bound keeps a login cheap.
const (
	MinPassword = 10
	MaxPassword = 128
)

// Person is someone who signs in with a login and a password. (The kind of
// actor is called User, so the row can't be.)
type Person struct {
	ID           int64
	Login        string // lower case, unique
	Name         string
	Email        string
	PasswordHash string `json:"-"` // empty in lists; "" never verifies
	Admin        bool
	Auditor      bool
	Disabled     bool
	Language     string // en, zh-CN, or "" for what the browser asks for
	Zone         string // IANA name, or "" for the installation's
	Theme        string // auto, light, dark, or "" for auto
	Epoch        int    // raised to end every session of the person
	CreatedAt    time.Time
	LastLoginAt  time.Time // zero: never
}

// Shown is the name to show: the name, else the login.
func (p Person) Shown() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Login
}

// Object of the person in an audit row.
func (p Person) Object() Object { return object("user", p.ID, p.Login) }

// Hasher makes and checks password hashes. Both are slow on purpose.
type Hasher interface {
	// Hash gives a self-describing hash with a salt of its own.
	Hash(password string) (string, error)
	// Verify is false for a wrong password and for a hash it can't read.
	Verify(password, hash string) bool
}

// loginShape is the form of a login once it is in lower case.
var loginShape = regexp.MustCompile(`^[a-z0-9._@-]{2,64}$`)

// foldLogin is the stored form of what somebody typed.
func foldLogin(typed string) string { return strings.ToLower(strings.TrimSpace(typed)) }

// loginStore finds people by login; NotFound when there is none.
type loginStore interface {
	UserByLogin(ctx context.Context, login string) (Person, error)
}

// findLogin asks the store only for what can be a login: a database may
// refuse to compare with text that is none, which would look like a failure.
func findLogin(ctx context.Context, store loginStore, typed string) (Person, error) {
	login := foldLogin(typed)
	if !loginShape.MatchString(login) {
		return Person{}, fault.NotFound("There is no such user")
	}
	return store.UserByLogin(ctx, login)
}

func checkLogin(login string) []fault.FieldError {
	if loginShape.MatchString(login) {
		return nil
	}
	return one(fault.Field("login", "A login has 2 to 64 letters a–z, digits and . _ @ -"))
}

func checkPassword(login, password string) []fault.FieldError {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return one(fault.Field("password", "The password is not valid text"))
	case n < MinPassword || n > MaxPassword:
		return one(fault.Field("password", "A password has %d to %d characters", MinPassword, MaxPassword))
	case strings.EqualFold(password, login):
		return one(fault.Field("password", "The password must not be the login"))
	}
	return nil
}

func checkName(field, name string) []fault.FieldError {
	if utf8.ValidString(name) && utf8.RuneCountInString(name) <= 100 && !strings.ContainsFunc(name, isControl) {
		return nil
	}
	return one(fault.Field(field, "A name has at most 100 characters, on one line"))
}

func checkEmail(email string) []fault.FieldError {
	if email == "" {
		return nil
	}
	a, err := mail.ParseAddress(email)
	if err == nil && a.Address == email && len(email) <= 254 {
		return nil
	}
	return one(fault.Field("email", "This is not an e-mail address"))
}

// Preferences are what a person chooses for the console.
type Preferences struct {
	Language string
	Zone     string
	Theme    string
}

// check needs to know which zones load: zone data is the caller's.
func (p Preferences) check(zone func(string) bool) []fault.FieldError {
	var bad []fault.FieldError
	switch p.Language {
	case "", "en", "zh-CN":
	default:
		bad = append(bad, fault.Field("language", "The language is en or zh-CN"))
	}
	// LoadLocation takes "Local" for the server's own zone, which is no zone
	// of a person.
	if p.Zone != "" && (p.Zone == "Local" || !zone(p.Zone)) {
		bad = append(bad, fault.Field("zone", "There is no zone %q", p.Zone))
	}
	switch p.Theme {
	case "", "auto", "light", "dark":
	default:
		bad = append(bad, fault.Field("theme", "The theme is auto, light or dark"))
	}
	return bad
}

func one(f fault.FieldError) []fault.FieldError { return []fault.FieldError{f} }

func isControl(r rune) bool {
	return r < 0x20 || r == 0x7f || (r >= 0x80 && r < 0xa0) || r == 0x2028 || r == 0x2029
}
