-- +goose Up
-- look_at and receipt_deadline are set only while a sweep is to look, so that
-- they need no state before them: each move of a state rewrote both keys.

UPDATE instances SET look_at = NULL WHERE look_at IS NOT NULL AND state NOT IN ('pending', 'queued', 'retrying');

-- One statement, so that it is done whole or not at all; none when it was done
-- already.
SET @change = (SELECT IF(COUNT(*) = 0, 'DO 0', 'ALTER TABLE instances DROP KEY instances_state_look, DROP KEY instances_state_receipt, ADD KEY instances_look (look_at), ADD KEY instances_receipt (receipt_deadline)')
    FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'instances' AND index_name = 'instances_state_look');
PREPARE instance_keys FROM @change;
EXECUTE instance_keys;
DEALLOCATE PREPARE instance_keys;
