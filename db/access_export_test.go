package db

import (
	"gorm.io/gorm"

	"ax/app/access"
)

// RecordAuditIn lets the external tests write into their own transaction.
func RecordAuditIn(tx *gorm.DB, e access.Entry) error { return recordAudit(tx, e) }
