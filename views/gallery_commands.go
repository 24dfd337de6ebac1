package views

import (
	"time"

	"ax/app/fault"
	"ax/app/sched"
)

func shownCommand() sched.Target {
	return sched.Target{
		Kind: sched.TargetShell, Container: "billing", Command: "/opt/jobs/close-day.sh", Args: []string{"--shops", "all open; 全部门店", "--verbose"},
		Input: sched.InputStdin, SuccessCodes: []int{0, 3},
	}
}

func shownCommandForm(errors []fault.FieldError) TaskFormPage {
	p := shownNewTask()
	p.Errors, p.Shell = errors, ShellChoice{Nodes: true, Owner: true, Team: true}
	p.Values.target(shownCommand())
	return p
}

func shownNoCommandForm() TaskFormPage {
	p := shownNewTask()
	p.Errors, p.Shell = nil, ShellChoice{Owner: true, Team: true}
	return p
}

func shownCommandTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Target = shownCommand()
	return p
}

// commandPage is an instance that runs, or ran, a command.
func commandPage(running bool) InstancePage {
	a := runAttempt(1, 52*time.Second, 4*time.Second, sched.OutcomeFailed, 4, "exit code 4: shop 0117 has no cash report", "exit code 4 after 48.2s\n2 processes that it left behind were ended\n\nshop 0117 has no cash report")
	a.Executor, a.Request, a.ResponseBytes = string(sched.TargetShell), "/opt/jobs/close-day.sh\n\"--shops\"\n\"all open; 全部门店\"\n\ninput: stdin, 42 bytes", 9_400_112
	v := viewOf(sched.Failed, a)
	v.Error = a.Error
	if running {
		v = runningView()
		v.Attempts[0].Executor = string(sched.TargetShell)
	}
	v.Task.Spec.Target = shownCommand()
	return InstancePage{View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance}, MayCancel: true, Log: commandLog(running)}
}

func waitingCommand() sched.InstanceView {
	v := viewOf(sched.Queued)
	v.Task.Spec.Target, v.Defers = shownCommand(), 3
	return v
}
