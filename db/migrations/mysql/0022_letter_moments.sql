-- +goose Up
-- Webhooks are told what opened and closed of late.

-- One statement, so that it is done whole or not at all; none when it was done
-- already.
SET @change = (SELECT IF(COUNT(*) = 0, 'ALTER TABLE dead_letters ADD KEY dead_letters_opened (opened_at), ADD KEY dead_letters_closed (closed_at)', 'DO 0')
    FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'dead_letters' AND index_name = 'dead_letters_opened');
PREPARE letter_moments FROM @change;
EXECUTE letter_moments;
DEALLOCATE PREPARE letter_moments;
