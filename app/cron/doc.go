// Package cron reads cron expressions in both common dialects and says when
// they fire, when they fired last, and what they mean in words.
//
// It imports the standard library only, never reads a clock and holds no
// state: now is always a parameter.
//
// # Dialects
//
// Five fields follow Vixie cron (crontab(5)): minute, hour, day of month,
// month, weekday 0–7 where 0 and 7 are Sunday. If both day fields are
// restricted, a day matches when either does. A field whose text begins with
// * counts as unrestricted there, as in Vixie's source, so in "0 0 */2 * 1"
// both day fields must match.
//
// Six or seven fields follow Quartz (CronExpression): seconds first, weekday
// 1 = Sunday to 7 = Saturday, an optional year 1970–2099 last. One of the two
// day fields must be * or ?; both restricted is refused, as Quartz does.
//
// In both dialects:
//
//   - names JAN–DEC and SUN–SAT in any case;
//   - lists, ranges, steps; N/step runs from N to the end of the field, and
//     the end of the Vixie weekday is 7; a step longer than the field is
//     refused;
//   - ranges may wrap (22-2, FRI-MON, NOV-FEB, 25-5), except years;
//   - L last day of the month, L-n n days before it, nW the weekday
//     (Monday to Friday) nearest to day n within the month, LW and L-nW the
//     same for the last days; a month that lacks the day has no run;
//   - FRIL or 5L (Quartz: 6L) the last Friday, MON#2 the second Monday; a
//     lone L as weekday is Saturday in Quartz and refused in five fields,
//     where the week has no agreed end;
//   - ? in at most one day field, with the meaning of *;
//   - @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually;
//   - @every with a Go duration of whole seconds. Next and Prev place it on
//     the grid that begins at 1970-01-01T00:00:00Z; a schedule with its own
//     anchor takes the length from Every and does its own sum.
//
// An expression that can never fire is refused when it is parsed.
//
// # Clock changes
//
// Vixie's rule (cron(8)). When the second, minute or hour field begins with
// *, the expression follows real time: local times that are missing don't
// occur and repeated ones occur twice. Otherwise a local time that doesn't
// exist runs once at the end of the gap, and one that occurs twice runs once,
// at its first pass. Several missing times that end at one instant are one
// slot.
//
// Fire times are never built with time.Date in the zone, which picks one side
// of a gap or fold differently in different zones. The search walks the
// segments of Time.ZoneBounds and does its sums on zone-less seconds. It
// looks back over one clock change only; a test holds every zone of the
// database to that (no two changes since 1970 lie closer than they are long).
package cron
