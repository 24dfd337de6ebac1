package views

import (
	"context"

	"ax/app/access"
	"ax/app/fault"
	"ax/views/ui"
)

// SecondStepPart is what the account says of the second step.
type SecondStepPart struct {
	access.SecondStep
	Setup *access.SecondStepSetup // just begun: shown this once
	Begun bool                    // waits for its first code
	Codes []string                // just made: shown this once
}

// AboutSecondStep is the part of the account with the second step.
const AboutSecondStep AccountPart = "second_step"

func (p AccountPage) stepPassword(ctx context.Context) ui.Field {
	f := p.field(ctx, AboutSecondStep, "step_password", t(ctx, "Password now"))
	f.Type, f.Autocomplete, f.Required = "password", "current-password", true
	return f
}

func (p AccountPage) stepCode(ctx context.Context, hint string) ui.Field {
	f := p.field(ctx, AboutSecondStep, "code", t(ctx, "Code|second step"))
	return asCode(f, hint)
}

// asCode is a field for a code: digits on a phone, filled in by the browser.
func asCode(f ui.Field, hint string) ui.Field {
	f.Class, f.Autocomplete, f.Attrs, f.Hint, f.Required = "mono", "one-time-code", noSpelling, hint, true
	return f
}

// LoginCodePage asks for the code of the second step.
type LoginCodePage struct {
	Half   string // of the sign-in, so far
	Next   string // local path to go on to
	Host   string // of this installation, "" hides it
	Errors []fault.FieldError
}
