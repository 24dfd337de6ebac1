package mq

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"

	"ax/app/fail"
)

// publish sends one message on a channel that nothing else uses meanwhile.
func (l *link) publish(ctx context.Context, m Message) *Failure {
	if why := l.blocked.Load(); why != nil {
		return unsent("nothing was sent: the broker takes no messages at present (%s)", *why)
	}
	by, err := l.lane(ctx)
	if err != nil {
		return l.noLane(ctx, err)
	}
	f := l.send(ctx, by, m)
	if f == nil || f.Code == amqp.NoRoute {
		l.giveBack(by)
		return f
	}
	// A late word on this channel must not be taken for one on the next
	// message.
	go func() { _ = by.ch.Close() }()
	return f
}

// noLane is the failure when no channel could be opened: nothing was sent.
func (l *link) noLane(ctx context.Context, err error) *Failure {
	if why := l.blocked.Load(); why != nil {
		return unsent("nothing was sent: the broker takes no messages at present (%s)", *why)
	}
	if ctx.Err() != nil {
		return unsent("the broker opened no channel in time: %w", ctx.Err())
	}
	f := unsent("open a channel: %w", err)
	if said, ok := errors.AsType[*amqp.Error](err); ok && said.Code != amqp.ErrClosed.Code {
		f.Code = said.Code
	}
	return f
}

// send publishes and waits for the confirm.
func (l *link) send(ctx context.Context, by *lane, m Message) *Failure {
	before := l.conn.writes.Load()
	confirm, err := await(ctx, func() (*amqp.DeferredConfirmation, error) {
		return by.ch.PublishWithDeferredConfirmWithContext(ctx, m.Exchange, m.Key, true, false, publishing(m))
	}, func(*amqp.DeferredConfirmation) {})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return unknown("the message could not be written in time: %w", ctx.Err())
	case errors.Is(err, amqp.ErrClosed) && l.conn.writes.Load() == before:
		return unsent("the connection was closed before anything was sent: %w", err)
	default:
		return unknown("the connection broke while the message was written: %w", err)
	}
	if err := fail.At("mq.published"); err != nil {
		return unknown("%w", err)
	}
	acked, err := confirm.WaitContext(ctx)
	switch {
	case err != nil:
		return l.silent(err)
	case !acked:
		return l.refused(by)
	}
	select {
	case back, ok := <-by.returned: // it comes before the confirm
		if ok { // else the connection ended just now
			return &Failure{Definite: true, Code: int(back.ReplyCode), Err: returnedError(back)}
		}
	default:
	}
	return nil
}

func publishing(m Message) amqp.Publishing {
	headers := amqp.Table{}
	for name, value := range m.Headers {
		headers[name] = value
	}
	return amqp.Publishing{
		Headers: headers, ContentType: "application/json", ContentEncoding: "utf-8", DeliveryMode: amqp.Persistent,
		MessageId: m.ID, CorrelationId: m.Correlation, Type: m.Type, AppId: "ax", Body: m.Body,
	}
}

// silent is the failure when no word came in time.
func (l *link) silent(err error) *Failure {
	if why := l.blocked.Load(); why != nil {
		return unknown("sent, but the broker takes no messages at present (%s) and may take it later: %w", *why, err)
	}
	return unknown("sent, but the broker did not confirm it in time: %w", err)
}

// refused tells a nack from a channel that was closed: the library ends both
// waits alike.
func (l *link) refused(by *lane) *Failure {
	if !by.ch.IsClosed() {
		// A message may have been taken by one queue and refused by another,
		// and the broker says no more than this.
		return unknown("the broker could not take the message (nack); some of its queues may have it")
	}
	why := <-by.gone // told, or closed, before the wait ended
	if why == nil {
		return &Failure{Err: errClosed}
	}
	switch why.Code {
	case amqp.NotFound, amqp.AccessRefused, amqp.PreconditionFailed, amqp.ContentTooLarge:
		if !l.amqp.IsClosed() {
			// Said of the one message on this channel, before it was routed.
			return &Failure{Definite: true, Code: why.Code, Err: wordsOf(why)}
		}
	}
	return &Failure{Code: why.Code, Err: errors.Join(errors.New("the connection ended before the broker confirmed the message"), wordsOf(why))}
}
