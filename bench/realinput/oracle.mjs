// Says which slots a list of tasks has, by asking of every second whether each
// schedule wants it. Zones are JavaScript's own (Intl). It shares no code and
// no idea with ax's own search.
//
//   node oracle.mjs <tasks.json >slots.jsonl
//
// tasks.json: [{code, schedule, from, until}], from and until in milliseconds,
// until not included. A line of the output: {"code": …, "slot": milliseconds}.
import { readFileSync } from 'node:fs'

/** field makes a test of a cron field. */
function field(text, low, high) {
  if (text === '?') text = '*'
  const wanted = new Set()
  for (const part of text.split(',')) {
    const [base, step] = part.split('/')
    let [from, to] = base === '*' ? [low, high] : base.split('-').map(Number)
    to ??= step ? high : from
    for (let v = from; v <= to; v += Number(step ?? 1)) wanted.add(v)
  }
  return (v) => wanted.has(v)
}

/** cron makes a test of local time; the run's own schedules leave days free. */
function cron(text) {
  const parts = text.split(' ')
  if (parts.length === 5) parts.unshift('0')
  const [second, minute, hour, day, month, weekday] = parts
  for (const free of [day, month, weekday]) {
    if (free !== '*' && free !== '?') throw new Error(`${text}: only schedules of every day are known`)
  }
  const tests = [field(second, 0, 59), field(minute, 0, 59), field(hour, 0, 23)]
  return (local) => tests.every((test, i) => test(local[i]))
}

const formats = new Map()

/** local gives [second, minute, hour] of an instant in a zone. */
function local(ms, zone) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }))
  }
  const parts = Object.fromEntries(formats.get(zone).formatToParts(ms).map((p) => [p.type, Number(p.value)]))
  return [parts.second, parts.minute, parts.hour]
}

function wants(schedule) {
  switch (schedule.kind) {
    case 'cron': {
      const test = cron(schedule.cron)
      return (ms) => test(localOnce(ms, schedule.timezone))
    }
    case 'interval': {
      const anchor = Date.parse(schedule.anchor)
      return (ms) => ms >= anchor && (ms - anchor) % (schedule.every_seconds * 1000) === 0
    }
    case 'once': return (ms) => ms === Date.parse(schedule.run_at)
    default: return () => false
  }
}

const known = new Map()

/** localOnce is local, which is asked for the same second by many tasks. */
function localOnce(ms, zone) {
  const key = `${ms} ${zone}`
  if (!known.has(key)) known.set(key, local(ms, zone))
  return known.get(key)
}

for (const task of JSON.parse(readFileSync(0, 'utf8'))) {
  const test = wants(task.schedule)
  for (let ms = Math.ceil(task.from / 1000) * 1000; ms < task.until; ms += 1000) {
    if (test(ms)) console.log(JSON.stringify({ code: task.code, slot: ms }))
  }
}
