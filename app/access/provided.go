package access

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ProviderID is who somebody is at a provider. Subject is the provider's own
// word for the person, for ever; e-mail addresses and names change hands.
type ProviderID struct {
	Issuer  string
	Subject string
}

// key finds the identity: both parts, compared byte by byte.
func (id ProviderID) key() string { return digest(id.Issuer + "\x00" + id.Subject) }

// maxSubject is the bound of a subject, in bytes, by the standard.
const maxSubject = 255

// Valid tells whether it can be kept.
func (id ProviderID) Valid() bool {
	return id.Subject != "" && len(id.Subject) <= maxSubject && strings.ToValidUTF8(id.Subject, "") == id.Subject &&
		!strings.ContainsFunc(id.Subject, isControl)
}

// Assertion is what a provider says of somebody who signed in there.
type Assertion struct {
	ProviderID
	Login  string // what the person is called there; may be no login of ax
	Email  string
	Name   string
	Groups []string
}

// Provided is what a person has, and what of it came from the provider.
type Provided struct {
	Person         Person // ID 0: nobody is bound to the identity
	Admin, Auditor bool   // came from the provider
	Roles          map[int64]Role
	FromProvider   map[int64]bool // teams
	OtherAdmins    int            // that may sign in
	Teams          []Team         // all
}

// ProvidedChange is what a sign-in makes of it.
type ProvidedChange struct {
	Person         Person // ID 0: a new one
	Admin, Auditor bool   // come from the provider
	// Roles are the memberships that change, all by the provider; "" takes one
	// away.
	Roles map[int64]Role
	// Entries tell of it. Where the actor, or an object that is a person, has
	// no id, it is the new one's.
	Entries []Entry
}

// providedStore keeps who people are at the provider. Each method is one
// transaction.
type providedStore interface {
	// ApplyProvided locks the person of the identity, asks change what to
	// store, and stores it: a new person is bound to the identity. Conflict:
	// the login is taken, or somebody else was bound meanwhile.
	ApplyProvided(ctx context.Context, id ProviderID, key string, change func(Provided) (ProvidedChange, error)) (Person, error)
	// SpendState notes that an answer was used, and tells whether this call
	// did, not an earlier one.
	SpendState(ctx context.Context, hash string, until time.Time) (bool, error)
}

// settle works out what the groups make of what is there. Rights and
// memberships that were given in ax stay as they are.
func settle(was Provided, g granted, tell func(Entry) Entry) ProvidedChange {
	is := ProvidedChange{Person: was.Person, Roles: map[int64]Role{}}
	is.Person.Admin, is.Admin = provide(was.Person.Admin, was.Admin, g.admin)
	is.Person.Auditor, is.Auditor = provide(was.Person.Auditor, was.Auditor, g.auditor)
	if was.Person.Admin && !is.Person.Admin && was.OtherAdmins == 0 { // an installation keeps one
		is.Person.Admin, is.Admin = true, true
	}
	if was.Person.ID != 0 && (is.Person.Admin != was.Person.Admin || is.Person.Auditor != was.Person.Auditor) {
		is.Person.Epoch++
		is.Entries = append(is.Entries, tell(Entry{Action: "user.rights", Object: was.Person.Object(), Changes: diffPerson(was.Person, is.Person)}))
	}
	ended := false
	for _, t := range slices.SortedFunc(slices.Values(was.Teams), func(a, b Team) int { return cmp.Compare(a.ID, b.ID) }) {
		has, wants := was.Roles[t.ID], g.roles[t.ID]
		if has == wants || has != "" && !was.FromProvider[t.ID] {
			continue
		}
		is.Roles[t.ID] = wants
		ended = ended || has != ""
		is.Entries = append(is.Entries, tell(Entry{Action: "team.member", Object: t.Object(), TeamID: t.ID,
			Changes: []Change{{Field: is.Person.Login, Old: string(has), New: string(wants)}}}))
	}
	if ended { // as with a role that is changed by hand
		is.Person.Epoch++
	}
	return is
}

// provide works out a right: has tells whether the person has it, given
// whether the provider gave it, wants whether it gives it now.
func provide(has, given, wants bool) (is, isGiven bool) {
	if has && !given {
		return true, false // given in ax
	}
	return wants, wants
}

// loginFor makes a login of ax from what the provider calls the person.
func (a Assertion) loginFor() string {
	for _, name := range []string{a.Login, a.Email} {
		login := strings.Trim(strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune("._@-", r):
				return r
			}
			return '-'
		}, foldLogin(name)), "-")
		if login = strings.TrimRight(clip(login, 64), "-"); loginShape.MatchString(login) {
			return login
		}
	}
	return "user-" + a.key()[:12]
}

// newcomer is the person that a first sign-in makes, without a password.
func (a Assertion) newcomer(now time.Time) Person {
	p := Person{Login: a.loginFor(), Name: a.Name, Email: a.Email, CreatedAt: now}
	if checkName("name", p.Name) != nil || p.Name == "" {
		p.Name = p.Login
	}
	if checkEmail(p.Email) != nil {
		p.Email = ""
	}
	return p
}

// groupsTold is what the audit keeps of the groups: how many,
// since their names may be many and long.
func (a Assertion) groupsTold() Change {
	return Change{Field: "groups", New: strconv.Itoa(len(slices.Compact(slices.Sorted(slices.Values(a.Groups)))))}
}
