package views

import (
	"net/netip"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// teamExamples are teams, people and one-time links.
func teamExamples() []Example {
	team := access.Team{ID: 1, Code: "payments", Name: "Payments 支付团队", CreatedAt: ago(4000 * time.Hour)}
	owned := sampleTeam(team)
	open := owned
	open.MayOpen, open.Form, open.Values.Prefix, open.Newcomers = true, FormOpen, "169.254.169.254", true
	open.Errors = []fault.FieldError{fault.Field("prefix", "%s is a metadata service of clouds: it hands out credentials, and nothing opens it", "169.254.169.254")}
	once := owned
	once.Link, once.Until = "https://ax.example.com/invitation?token=Zx3kP0Qm8vJr5tWc1nYb7hUe4sLa9dFg2iKo6pRq0wE", ahead(72*time.Hour)
	token := owned
	token.Secret, token.Made = "ax_7fQ2mZc19LkPp3VtYbR8sWdEe0a", owned.Tokens[0]
	secret := owned
	secret.Form, secret.Values.SecretName, secret.Values.SecretHosts = FormSecret, "pay_token", "https://pay.example.com"
	secret.Errors = []fault.FieldError{fault.Field("secret_name", "Capital letters, digits and underscores, beginning with a letter, such as PAY_TOKEN"), fault.Field("secret_value", "A value is needed")}
	refused := owned
	refused.Form, refused.Values.Login = FormMember, "nobody-here"
	refused.Errors = []fault.FieldError{fault.Field("login", "There is nobody with this login")}
	seen := owned
	seen.MayManage, seen.MaySeal, seen.Secrets, seen.Brokers, seen.Invitations, seen.Members = false, false, nil, nil, nil, owned.Members[1:]
	none := TeamsPage{MayMake: true, Making: true, Values: TeamValues{Code: "X"}, Errors: []fault.FieldError{fault.Field("code", "A team's code has 2 to 32 letters a–z, digits and -")}}
	invitation := access.Invitation{ID: 7, Kind: access.InviteToTeam, Role: access.Editor, CreatedBy: "ops-lead", ExpiresAt: ahead(46 * time.Hour)}
	behind := InvitationPage{Token: "t", Offer: access.Offer{Invitation: invitation, Team: team}, Left: 46 * time.Hour, SignInURL: "/login", Zones: []string{"Asia/Shanghai", "UTC"}, Values: InvitationValues{Zone: "UTC", Language: English}}
	wrong := behind
	wrong.Errors = []fault.FieldError{fault.Field("login", "The login %s is taken", "ops-lead"), fault.Field("password", "There is nobody with this login")}
	joining := behind
	joining.Joining = true
	password := behind
	password.Offer = access.Offer{Invitation: access.Invitation{Kind: access.NewPassword}, Person: access.Person{Login: "store-dev"}}
	return append(mqTeamExamples(owned), []Example{
		{Name: "teams", Component: Teams(TeamsPage{MayMake: true, Teams: []TeamLine{{team, access.Owner}, {access.Team{ID: 2, Code: "data", Name: "Data platform", CreatedAt: ago(900 * time.Hour)}, ""}}})},
		{Name: "teams-new-refused", Component: Teams(none)},
		{Name: "team", Component: TeamDetail(owned)},
		{Name: "team-link", Component: TeamDetail(once)},
		{Name: "team-token", Component: TeamDetail(token)},
		{Name: "team-refused", Component: TeamDetail(refused)},
		{Name: "team-open-refused", Component: TeamDetail(open)},
		{Name: "team-secret-refused", Component: TeamDetail(secret)},
		{Name: "team-seen", Component: TeamDetail(seen)},
		{Name: "users", Component: Users(sampleUsers(team))},
		{Name: "users-none", Component: Users(UsersPage{Words: "zz"})},
		{Name: "user", Component: UserDetail(UserPage{Standing: sampleUsers(team).People[0], Teams: []access.Team{team}, MayChange: true, Link: once.Link, Until: ahead(24 * time.Hour)})},
		{Name: "user-disabled", Component: UserDetail(UserPage{Standing: sampleUsers(team).People[2], Teams: []access.Team{team}, MayChange: true, Errors: []fault.FieldError{{Text: fault.Text{Format: "This is the last administrator"}}}})},
		{Name: "user-provider", Component: UserDetail(UserPage{Standing: sampleUsers(team).People[1], Teams: []access.Team{team}, MayChange: true, Provider: "Example Corp 示例公司", Subject: "00u1x7p3q9ZkLm",
			Errors: []fault.FieldError{{Text: fault.Text{Format: "Somebody else is bound to this subject already"}}}})},
		{Name: "invitation", Guest: true, Component: Invitation(behind)},
		{Name: "invitation-refused", Guest: true, Component: Invitation(wrong)},
		{Name: "invitation-joining", Component: Invitation(joining)},
		{Name: "invitation-password", Guest: true, Component: Invitation(password)},
		{Name: "invitation-spent", Guest: true, Component: Invitation(InvitationPage{Finished: true})},
	}...)
}

func sampleUser(id int64, login string) access.Person {
	return access.Person{ID: id, Login: login, Name: login, Email: login + "@example.com", CreatedAt: ago(3000 * time.Hour), LastLoginAt: ago(5 * time.Hour)}
}

func sampleTeam(team access.Team) TeamPage {
	gone := sampleUser(3, "partner-settlement-readonly")
	gone.Disabled = true
	return TeamPage{
		Team: team, MayManage: true, Values: TeamValues{TeamName: team.Name, InviteRole: "operator", MemberRole: "operator", TokenRole: "operator", TokenEnd: "90"},
		Members: []access.Member{
			{Person: sampleUser(1, "ops-lead"), Role: access.Owner, LastSeen: ago(4 * time.Second)},
			{Person: sampleUser(2, "pay-oncall"), Role: access.Operator, LastSeen: ago(26 * time.Hour), Provided: true},
			{Person: gone, Role: access.Viewer},
		},
		MaySeal: true,
		Brokers: shownBrokers(),
		Secrets: []access.Secret{
			{Name: "LEDGER_BASIC", Hosts: []string{"ledger.internal:8443"}, ChangedBy: "ops-lead", ChangedAt: ago(3000 * time.Hour)},
			{Name: "PAY_TOKEN", Hosts: []string{"pay.example.com", "pay-standby.example.com"}, Tasks: 12, ChangedBy: "partner-settlement-readonly", ChangedAt: ago(26 * time.Hour)},
		},
		Networks: access.Loopback(),
		Allowances: []access.Allowance{
			{ID: 1, Prefix: netip.MustParsePrefix("10.20.0.0/16"), Reason: "order services, asked for by store-dev 订单服务", CreatedBy: "ops-lead"},
			{ID: 2, Prefix: netip.MustParsePrefix("fd12:3456:789a::/48"), Reason: "the ledger's own network", CreatedBy: "ops-lead"},
		},
		Invitations: []access.Invitation{
			{ID: 7, For: "store-dev@example.com", Role: access.Editor, CreatedBy: "ops-lead", ExpiresAt: ahead(46 * time.Hour)},
			{ID: 8, Role: access.Viewer, CreatedBy: "ops-lead", ExpiresAt: ahead(71 * time.Hour)},
		},
		Tokens: []access.APIToken{
			{ID: 1, Name: "ci-deploy", Role: access.Editor, Prefix: "ax_7fQ2", Last4: "Ee0a", CreatedBy: "ops-lead", ExpiresAt: ahead(1400 * time.Hour), LastUsedAt: ago(4 * time.Second)},
			{ID: 2, Name: "legacy-cron-bridge", Role: access.Operator, Prefix: "ax_19Lk", Last4: "0qXz", CreatedBy: "ops-lead", ExpiresAt: ahead(144 * time.Hour), LastUsedAt: ago(2 * time.Hour)},
			{ID: 3, Name: "looker-read", Role: access.Viewer, Prefix: "ax_m0Zc", Last4: "tR51", CreatedBy: "ops-lead"},
			{ID: 4, Name: "old", Role: access.Viewer, Prefix: "ax_aaaa", Last4: "bbbb", CreatedBy: "ops-lead", ExpiresAt: ago(24 * time.Hour)},
			{ID: 5, Name: "leaked", Role: access.Owner, Prefix: "ax_cccc", Last4: "dddd", CreatedBy: "ops-lead", RevokedAt: ago(24 * time.Hour)},
		},
	}
}

func sampleUsers(team access.Team) UsersPage {
	lead, audit, gone := sampleUser(1, "ops-lead"), sampleUser(2, "audit-reader"), sampleUser(3, "partner-settlement-readonly")
	lead.Admin, audit.Auditor, gone.Disabled = true, true, true
	return UsersPage{
		MayMake: true, Teams: []access.Team{team},
		People: []access.Standing{
			{Person: lead, Roles: map[int64]access.Role{1: access.Owner}, LastSeen: ago(4 * time.Second), SecondStep: true},
			{Person: audit, LastSeen: ago(120 * time.Hour)},
			{Person: gone, Roles: map[int64]access.Role{1: access.Viewer}},
			{Person: sampleUser(4, "store-dev"), NoPassword: true},
		},
	}
}
