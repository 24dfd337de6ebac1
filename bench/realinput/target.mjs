// The callback target of the real-input run. It answers as the path says (or
// payload.behaviour for /orders) and appends every call to LOG/calls.jsonl
// before it answers, every receipt that it sent to LOG/receipts.jsonl.
//
// It is written by docs/callbacks.md alone, and trusts nothing: a call whose
// signature is wrong, or whose headers and body disagree, is answered 401 or
// 400 and stands in the log with that status.
//
//   PORT=… AX_KEY=… LOG=folder node target.mjs
import { createServer } from 'node:http'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const { PORT, AX_KEY, LOG } = process.env
const calls = openSync(join(LOG, 'calls.jsonl'), 'a')
const receipts = openSync(join(LOG, 'receipts.jsonl'), 'a')
const append = (file, row) => writeSync(file, JSON.stringify(row) + '\n')

/** signed tells whether the call is from ax and not old. */
function signed(req, body) {
  const at = req.headers['ax-timestamp']
  const want = Buffer.from('v1=' + createHmac('sha256', AX_KEY).update(`${at}.${req.headers['ax-instance']}.`).update(body).digest('hex'))
  const got = Buffer.from(String(req.headers['ax-signature']))
  return want.length === got.length && timingSafeEqual(want, got) && Math.abs(Date.now() / 1000 - Number(at)) < 300
}

/** agrees tells whether the headers say what the body says. */
function agrees(req, call) {
  const h = req.headers
  return h['ax-instance'] === call.instance_id && Number(h['ax-attempt']) === call.attempt &&
    h['idempotency-key'] === `${call.task}/${call.biz_id}` && /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/.test(h.traceparent ?? '')
}

/** statusOf is the answer to a call; 0 is none. */
function statusOf(behaviour, attempt, replay) {
  switch (behaviour) {
    case 'ok': case 'slow': return 200
    case 'flaky': return attempt === 1 ? 500 : 200
    case 'fail': return replay > 0 ? 200 : 500 // a person repaired it before the replay
    case 'accept': return 202
    case 'hang': return 0
    default: return 404
  }
}

function report(req, call) {
  const row = { instance: call.instance_id, attempt: call.attempt, status: 0 }
  return fetch(req.headers['ax-receipt-url'], {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: req.headers['ax-receipt-token'], outcome: 'succeeded', message: 'done a second later' }),
  }).then(
    async (res) => Object.assign(row, { status: res.status, answer: await res.text() }),
    (err) => Object.assign(row, { answer: String(err) }),
  ).then(() => append(receipts, { at: new Date().toISOString(), ...row }))
}

function answer(req, res, body) {
  const at = new Date().toISOString()
  let call = {}
  let status
  try {
    call = JSON.parse(body)
    status = signed(req, body) ? agrees(req, call) ? undefined : 400 : 401
  } catch {
    status = 400
  }
  const behaviour = req.url === '/orders' ? String(call.payload?.behaviour) : req.url.slice(1)
  const replay = Number(req.headers['ax-replay'])
  status ??= statusOf(behaviour, call.attempt, replay)
  append(calls, {
    at, key: req.headers['idempotency-key'], instance: call.instance_id, attempt: call.attempt, replay, task: call.task,
    biz_id: call.biz_id, scheduled_at: call.scheduled_at, behaviour, status,
  })
  if (status === 0) return // ax hangs up
  const send = () => res.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${behaviour}\n`)
  behaviour === 'slow' ? setTimeout(send, 300) : send()
  if (status === 202) setTimeout(report, 1000, req, call)
}

const server = createServer((req, res) => {
  if (req.method !== 'POST') return res.end('ready\n')
  const parts = []
  req.on('data', (part) => parts.push(part)).on('end', () => answer(req, res, Buffer.concat(parts)))
})
server.listen(Number(PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
