package mq

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

func returnedError(back amqp.Return) error {
	return fmt.Errorf("the broker gave the message back: %d %s, no queue is bound for this routing key", back.ReplyCode, back.ReplyText)
}

// wordsOf gives what the broker said.
func wordsOf(e *amqp.Error) error { return fmt.Errorf("the broker said %d %s", e.Code, e.Reason) }
