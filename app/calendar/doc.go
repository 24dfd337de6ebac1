// Package calendar tells workdays from days off. A calendar has a week (which
// weekdays are workdays) and listed days that differ from it: public holidays,
// and weekend days that are worked in their place. It knows no zone: a day is
// a date, and whoever asks says which date it is where he stands.
package calendar
