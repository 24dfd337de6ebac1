// Package ui holds the pieces that pages are made of: marks, fields, tables,
// dialogs, charts. A piece knows nothing of tasks or instances and translates
// nothing: it gets values, and its words come in the viewer's language.
//
// It imports nothing of ax.
package ui
