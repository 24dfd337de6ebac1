package access

import (
	"regexp"
	"slices"
	"strings"

	"ax/app/fault"
)

// MaxTokenExecutors is how many executors one token may register.
const MaxTokenExecutors = 20

// executorForm is a name of an executor, as tasks write it.
var executorForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// checkExecutors looks at the names that a token of a role is to register.
func checkExecutors(role Role, names []string) []fault.FieldError {
	for _, name := range names {
		if !executorForm.MatchString(name) {
			return one(fault.Field("executors", "%q is not a name of an executor: up to 64 lower-case letters, digits, dots, hyphens and underscores", name))
		}
	}
	switch {
	case len(names) > MaxTokenExecutors:
		return one(fault.Field("executors", "At most %d names; these are %d", MaxTokenExecutors, len(names)))
	case len(names) > 0 && role.Valid() && role.rank() < minRole[Register].rank():
		return one(fault.Field("executors", "A token that registers executors needs the role %s", string(minRole[Register])))
	}
	return nil
}

// ReadExecutors reads names as they are typed: apart by commas, spaces or
// lines.
func ReadExecutors(typed string) []string {
	return strings.FieldsFunc(typed, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}

// MayRegister tells whether the token's bearer may register an executor of the
// name.
func (t APIToken) MayRegister(name string) bool { return slices.Contains(t.Executors, name) }

// changes of a new token, for the audit.
func (t APIToken) changes() []Change {
	out := []Change{{Field: "role", New: string(t.Role)}, {Field: "expires_at", New: stamp(t.ExpiresAt)}}
	if len(t.Executors) > 0 {
		out = append(out, Change{Field: "executors", New: strings.Join(t.Executors, ", ")})
	}
	return out
}
