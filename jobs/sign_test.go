package jobs_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"ax/jobs"

	"github.com/stretchr/testify/require"
)

func TestAReceiverCanCheckTheSignatureWithTheKeyItWasGiven(t *testing.T) {
	t.Parallel()
	s := signer(t)
	h := hmac.New(sha256.New, []byte(s.CallbackKey()))
	h.Write([]byte("1796000000." + instanceID + `.{"a":1}`))
	require.Equal(t, "v1="+hex.EncodeToString(h.Sum(nil)), s.Sign(time.Unix(1796000000, 999), instanceID, []byte(`{"a":1}`)))
}

func TestTheSignatureHoldsTimeInstanceAndBody(t *testing.T) {
	t.Parallel()
	s, at := signer(t), time.Unix(1796000000, 0)
	other, err := jobs.NewSigner([]byte("another secret of another installation"))
	require.NoError(t, err)
	seen := map[string]bool{
		s.Sign(at, "a", []byte("b")):                  true,
		s.Sign(at.Add(time.Second), "a", []byte("b")): true,
		s.Sign(at, "c", []byte("b")):                  true,
		s.Sign(at, "a", []byte("c")):                  true,
		other.Sign(at, "a", []byte("b")):              true,
	}
	require.Len(t, seen, 5)
}

func TestAReceiptTokenIsOfOneInstanceAndOneAttempt(t *testing.T) {
	t.Parallel()
	s := signer(t)
	token := s.ReceiptToken(instanceID, 3)
	attempt, ok := s.CheckReceipt(token, instanceID)
	require.True(t, ok)
	require.Equal(t, 3, attempt)
	other, err := jobs.NewSigner([]byte("another secret of another installation"))
	require.NoError(t, err)
	for name, forged := range map[string]string{
		"empty":            "",
		"only a number":    "3",
		"no proof":         "3.",
		"another attempt":  "4" + token[1:],
		"another spelling": "03" + token[1:],
		"a sign":           "+" + token,
		"attempt 0":        s.ReceiptToken(instanceID, 0),
		"cut":              token[:len(token)-1],
		"longer":           token + "A",
		"another key":      other.ReceiptToken(instanceID, 3),
		"another instance": s.ReceiptToken("0193b1f0-7d3a-7c4e-8a51-000000000000", 3),
	} {
		_, ok := s.CheckReceipt(forged, instanceID)
		require.False(t, ok, name)
	}
}

func TestAShortSecretIsRefused(t *testing.T) {
	t.Parallel()
	_, err := jobs.NewSigner([]byte("short"))
	require.Error(t, err)
}
