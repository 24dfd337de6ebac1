package views

// apiExamples are the documents of the API.
func apiExamples() []Example {
	trigger := APICall{
		ID: "trigger-task", Method: "POST", Path: "/tasks/{code}/trigger", Summary: "Run a task once", Role: "operator",
		About:   "Now, after a delay or at a moment. The same biz_id again gives the same instance.",
		Example: sampleCurl,
		Params: []APIField{
			{Name: "code", Place: "path", Type: "string, in the path", Needed: true, About: "The task's code", Example: "order.close-unpaid"},
			{Name: "Idempotency-Key", Place: "header", Type: "string, in the header", About: "Any text of yours for this request", Example: "close-SO-20261202-778431"},
		},
		Body: []APIField{
			{Name: "biz_id", Type: "string", About: "Your name for the business action; left out: ax makes one", Example: "SO-20261202-778431"},
			{Name: "delay_seconds", Type: "integer", About: "Run after so many seconds", Example: "1800"},
			{Name: "payload", Type: "any JSON", About: "JSON instead of the task's payload", Example: `{"order":778431}`},
		},
		Answer: []APIField{
			{Name: "id", Type: "string", About: "The instance's id"},
			{Name: "state", Type: "pending | queued | running | awaiting | retrying | succeeded | failed | timed_out | lost | skipped | canceled"},
			{Name: "due_at", Type: "date-time", About: "Moves with retries and deferrals"},
		},
		Ends: []APIEnd{{200, "The biz_id was accepted before: its instance, with duplicate true"}, {202, "Accepted"}, {409, "Conflict"}},
	}
	receipt := APICall{
		ID: "send-receipt", Method: "POST", Path: "/instances/{id}/receipt", Summary: "Report the end of accepted work",
		Example: sampleCurl, Ends: []APIEnd{{200, "OK"}, {404, "Not Found"}},
	}
	page := APIDocsPage{
		Base: "https://ax.example.com/api/v1", Calls: 5, Error: sampleProblem,
		Run: APIExample{Call: sampleCurl, Status: 202, Answer: `{"id": "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", "state": "pending", "duplicate": false}`},
		Groups: []APIGroup{
			{Name: "Tasks", Calls: []APICall{
				{ID: "list-tasks", Method: "GET", Path: "/tasks", Summary: "List tasks", Role: "viewer"},
				{ID: "update-task", Method: "PUT", Path: "/tasks/{code}", Summary: "Replace a task's definition", Role: "editor"},
				{ID: "archive-task", Method: "DELETE", Path: "/tasks/{code}", Summary: "Archive a task", Role: "editor"},
				trigger,
			}},
			{Name: "Instances", Calls: []APICall{receipt}},
		},
	}
	return []Example{
		{Name: "api", Component: APIDocs(page)},
		{Name: "api-nothing", Component: APIDocs(APIDocsPage{Base: page.Base, Query: "nonesuch", Error: sampleProblem})},
		{Name: "api-call", Component: APICallDocs(APICallPage{Call: trigger})},
		{Name: "api-receipt", Component: APICallDocs(APICallPage{Call: receipt})},
	}
}

const sampleCurl = `curl -sS https://ax.example.com/api/v1/tasks/order.close-unpaid/trigger \
  -H "Authorization: Bearer $AX_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"biz_id": "SO-20261202-778431", "delay_seconds": 1800}'`

const sampleProblem = `{
  "title": "Unprocessable Entity",
  "errors": [{
    "field": "schedule.timezone",
    "message": "A cron schedule needs a time zone, such as Asia/Shanghai"
  }]
}`
