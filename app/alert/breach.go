package alert

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Member is one subject of a breach or an incident.
type Member struct {
	Subject  Subject   `json:"subject"`
	Value    float64   `json:"value"`
	Since    time.Time `json:"since,omitzero"`
	Detail   string    `json:"detail,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Owner    string    `json:"owner,omitempty"` // login of the task's owner
	Level    Level     `json:"level"`
}

// Breach is what breaks a rule at one moment, with one cause.
type Breach struct {
	Fingerprint string // of rule, team and cause; the same as long as the cause is
	TeamID      int64  // whose work it is; 0: the installation's
	Level       Level  // the loudest of the members
	Value       float64
	Host        string // what the members have in common, if it is a host
	Members     []Member
}

// fingerprint of a cause under a rule.
func fingerprint(rule, team int64, cause string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%d\x00%s", rule, team, cause))
	return hex.EncodeToString(sum[:16])
}

// key of a subject within its rule.
func (s Subject) key() string { return string(s.Kind) + "\x00" + s.Key }
