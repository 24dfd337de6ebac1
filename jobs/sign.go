package jobs

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// minSecret is the shortest installation secret in bytes.
const minSecret = 16

// Signer signs calls and makes receipt tokens. Both keys are derived from the
// installation's secret: the one that targets get tells nothing of the other.
type Signer struct {
	callback []byte
	receipt  []byte
}

// NewSigner derives the keys. The secret has at least 16 bytes.
func NewSigner(secret []byte) (*Signer, error) {
	if len(secret) < minSecret {
		return nil, errors.New("derive signing keys: the secret is shorter than 16 bytes")
	}
	callback, err := hkdf.Key(sha256.New, secret, nil, "ax callback signature v1", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive the callback key: %w", err)
	}
	receipt, err := hkdf.Key(sha256.New, secret, nil, "ax receipt token v1", sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("derive the receipt key: %w", err)
	}
	return &Signer{callback: callback, receipt: receipt}, nil
}

// CallbackKey is what a target needs to check signatures, as text. The HMAC
// key is the text itself, so no receiver has to decode it.
func (s *Signer) CallbackKey() string { return hex.EncodeToString(s.callback) }

// Sign gives the Ax-Signature of a call: HMAC-SHA256 over
// "<epoch seconds>.<instance>.<body>" in hex, after "v1=".
func (s *Signer) Sign(at time.Time, instanceID string, body []byte) string {
	h := hmac.New(sha256.New, []byte(s.CallbackKey()))
	h.Write([]byte(strconv.FormatInt(at.Unix(), 10) + "." + instanceID + "."))
	h.Write(body)
	return "v1=" + hex.EncodeToString(h.Sum(nil))
}

// ReceiptToken lets its bearer report the end of one attempt:
// "<attempt>.<HMAC over instance and attempt>".
func (s *Signer) ReceiptToken(instanceID string, attempt int) string {
	no := strconv.Itoa(attempt)
	h := hmac.New(sha256.New, s.receipt)
	h.Write([]byte(instanceID + "." + no))
	return no + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// CheckReceipt tells of which attempt of the instance the token is; false: it
// is of another instance, or forged.
func (s *Signer) CheckReceipt(token, instanceID string) (attempt int, ok bool) {
	no, _, _ := strings.Cut(token, ".")
	attempt, err := strconv.Atoi(no)
	if err != nil || attempt < 1 {
		return 0, false
	}
	// The whole token is compared, so there is one spelling of each.
	if !hmac.Equal([]byte(token), []byte(s.ReceiptToken(instanceID, attempt))) {
		return 0, false
	}
	return attempt, true
}

// TestToken goes with a test call in place of a receipt's token. No receipt is
// taken by it.
func (s *Signer) TestToken(instanceID string) string {
	h := hmac.New(sha256.New, s.receipt)
	h.Write([]byte("test." + instanceID))
	return "test." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// IsTest tells whether the token went with the test call that was told of the
// instance.
func (s *Signer) IsTest(token, instanceID string) bool {
	return hmac.Equal([]byte(token), []byte(s.TestToken(instanceID)))
}

// Receipts gives a call the address and token of its receipt. Base is how
// targets reach the installation, such as https://ax.example.org.
type Receipts struct {
	Signer *Signer
	Base   string
}

// Receipt of one attempt.
func (r Receipts) Receipt(instanceID string, attempt int) (url, token string) {
	return r.Base + "/api/v1/instances/" + instanceID + "/receipt", r.Signer.ReceiptToken(instanceID, attempt)
}

// TestReceipt is what a test call carries in place of a receipt's address and
// token.
func (r Receipts) TestReceipt(instanceID string) (url, token string) {
	url, _ = r.Receipt(instanceID, 1)
	return url, r.Signer.TestToken(instanceID)
}
