package access

import (
	"context"
	"fmt"
	"strconv"

	"ax/app/fault"
)

// Offer is what a one-time link opens, for the page behind it.
type Offer struct {
	Invitation Invitation
	Team       Team   // of InviteToTeam
	Person     Person // of NewPassword, without password hash
}

// Offer tells what the link of the secret is good for.
// Faults: NotFound, with one text for unknown, used, withdrawn and too old.
func (s *Invitations) Offer(ctx context.Context, secret string) (Offer, error) {
	i, err := s.store.InvitationByHash(ctx, digest(secret))
	if fault.KindOf(err) == fault.KindNotFound || (err == nil && !i.Open(s.now())) {
		return Offer{}, spentInvitation()
	}
	if err != nil {
		return Offer{}, fmt.Errorf("read the invitation: %w", err)
	}
	if err := s.stillAnswered(ctx, i); err != nil {
		return Offer{}, err
	}
	o := Offer{Invitation: i}
	if i.Kind == NewPassword {
		o.Person, _, err = s.store.Standing(ctx, i.UserID)
		o.Person.PasswordHash = ""
		if err == nil && o.Person.Disabled {
			return Offer{}, spentInvitation()
		}
		return o, err
	}
	teams, err := s.store.Teams(ctx, Scope{Teams: []int64{i.TeamID}})
	if err != nil {
		return Offer{}, fmt.Errorf("read the team of the invitation: %w", err)
	}
	if len(teams) == 0 {
		return Offer{}, spentInvitation()
	}
	o.Team = teams[0]
	return o, nil
}

// stillAnswered refuses the link of somebody who may no longer make one: a
// person who was taken out of a team must not come back by a link made before.
func (s *Invitations) stillAnswered(ctx context.Context, i Invitation) error {
	if i.ByUser == 0 {
		return nil
	}
	p, roles, err := s.store.Standing(ctx, i.ByUser)
	if err != nil {
		return fmt.Errorf("read who invited: %w", err)
	}
	verb := ManageTeam
	if i.Kind == NewPassword {
		verb = Administer
	}
	if p.Disabled || !p.actor(roles).Can(verb, i.TeamID) {
		return spentInvitation()
	}
	return nil
}

func spentInvitation() error {
	return fault.NotFound("This link is wrong, used, withdrawn or too old. Ask who sent it for a new one")
}

// Join lets a person who is signed in into the team. A role that is higher
// already stays. Faults: NotFound (spent link), Denied (not a person).
func (s *Invitations) Join(ctx context.Context, a Actor, secret string) (Team, error) {
	if a.Kind != User {
		return Team{}, fault.Denied("Only a person can accept an invitation")
	}
	o, err := s.teamOffer(ctx, secret)
	if err != nil {
		return Team{}, err
	}
	p := Person{ID: a.ID, Login: a.Name}
	return o.Team, s.accept(ctx, o, a, Acceptance{Person: p})
}

// JoinNew makes the person that the link was for, as a member of the team.
// Field names of its faults: login, name, email, password, language, zone.
// Faults: NotFound (spent link), Invalid, Conflict with the field (login
// taken).
func (s *Invitations) JoinNew(ctx context.Context, secret string, in NewUser, address, requestID string) (Team, error) {
	o, err := s.teamOffer(ctx, secret)
	if err != nil {
		return Team{}, err
	}
	in.Admin, in.Auditor = false, false // nobody but an administrator makes one
	p, err := newPerson(in, s.hasher, s.zone, s.now())
	if err != nil {
		return Team{}, err
	}
	by := Actor{Kind: User, Name: p.Login, Address: host(address), RequestID: requestID}
	return o.Team, s.accept(ctx, o, by, Acceptance{
		Person: p, Made: Entry{At: p.CreatedAt, Actor: by, Action: "user.create", Object: p.Object()},
	})
}

func (s *Invitations) teamOffer(ctx context.Context, secret string) (Offer, error) {
	o, err := s.Offer(ctx, secret)
	if err == nil && o.Invitation.Kind != InviteToTeam {
		err = spentInvitation()
	}
	return o, err
}

func (s *Invitations) accept(ctx context.Context, o Offer, by Actor, a Acceptance) error {
	a.Invitation, a.At = o.Invitation, s.now()
	reason := "invitation " + strconv.FormatInt(o.Invitation.ID, 10) + " by " + o.Invitation.CreatedBy
	a.Join = func(was Role) (Role, Entry) {
		is := o.Invitation.Role
		if was.rank() > is.rank() {
			is = was
		}
		return is, Entry{
			At: a.At, Actor: by, Action: "team.member", Object: o.Team.Object(), TeamID: o.Team.ID, Reason: reason,
			Changes: []Change{{Field: a.Person.Login, Old: string(was), New: string(is)}},
		}
	}
	_, err := s.store.AcceptInvitation(ctx, a)
	if fault.KindOf(err) == fault.KindConflict && fault.Fields(err) == nil { // somebody was faster
		return spentInvitation()
	}
	if err != nil {
		return fmt.Errorf("accept the invitation: %w", err)
	}
	return nil
}

// SetPassword chooses the password of the person that the link is for, and
// ends their sessions. Faults: NotFound (spent link), Invalid (password).
func (s *Invitations) SetPassword(ctx context.Context, secret, password, address, requestID string) (Person, error) {
	o, err := s.Offer(ctx, secret)
	if err != nil {
		return Person{}, err
	}
	if o.Invitation.Kind != NewPassword {
		return Person{}, spentInvitation()
	}
	if bad := checkPassword(o.Person.Login, password); bad != nil {
		return Person{}, fault.Invalid(bad...)
	}
	hash, err := s.hasher.Hash(password) // slow: not while the row is locked
	if err != nil {
		return Person{}, fmt.Errorf("hash the password: %w", err)
	}
	now := s.now()
	err = s.store.UsePasswordLink(ctx, o.Invitation, now, func(was Person) (Person, Entry, error) {
		if was.Disabled {
			return Person{}, Entry{}, fault.Conflict("This person is disabled")
		}
		is := was
		is.PasswordHash = hash
		is.Epoch++
		by := Actor{Kind: User, ID: was.ID, Name: was.Login, Address: host(address), RequestID: requestID}
		return is, Entry{
			At: now, Actor: by, Action: "user.password", Object: was.Object(),
			Changes: diffPerson(was, is), Reason: "link by " + o.Invitation.CreatedBy,
		}, nil
	})
	if fault.KindOf(err) == fault.KindConflict {
		return Person{}, spentInvitation()
	}
	if err != nil {
		return Person{}, fmt.Errorf("choose a password: %w", err)
	}
	return o.Person, nil
}
