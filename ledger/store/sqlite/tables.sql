CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE event (
	position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	session_id TEXT NOT NULL, 
	sequence INTEGER NOT NULL, 
	event_id TEXT NOT NULL, 
	type TEXT NOT NULL, 
	format INTEGER NOT NULL, 
	call_id TEXT, 
	tool TEXT, 
	schema_version INTEGER, 
	turn INTEGER, 
	idx INTEGER, 
	revision INTEGER, 
	attempt INTEGER, 
	tenant TEXT NOT NULL, 
	principal TEXT, 
	recorded_at TEXT NOT NULL, 
	record BLOB NOT NULL, 
	digest BLOB NOT NULL, 
	CONSTRAINT event_sequence UNIQUE (session_id, sequence), 
	CONSTRAINT event_once UNIQUE (session_id, event_id), 
	CONSTRAINT event_position CHECK (position > 0)
);

CREATE INDEX event_call ON event (call_id, position) WHERE call_id IS NOT NULL;

CREATE INDEX event_type ON event (type, position) WHERE type NOT IN ('call.authorized', 'call.proposed', 'call.started', 'call.succeeded', 'call.validated', 'message.recorded', 'turn.recorded');

CREATE INDEX event_closed ON event (session_id) WHERE type = 'session.closed';

CREATE INDEX event_tool ON event (tool, position) WHERE tool IS NOT NULL;

CREATE TABLE session_head (
	session_id TEXT NOT NULL, 
	sequence INTEGER NOT NULL, 
	digest BLOB NOT NULL, 
	owner TEXT, 
	token INTEGER NOT NULL, 
	expires_at TEXT NOT NULL, 
	PRIMARY KEY (session_id)
);

CREATE TABLE call (
	call_id TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	session_id TEXT NOT NULL, 
	turn INTEGER NOT NULL, 
	idx INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	tool TEXT NOT NULL, 
	schema_version INTEGER, 
	state TEXT NOT NULL, 
	effect TEXT NOT NULL, 
	stage TEXT, 
	gate TEXT, 
	code TEXT, 
	error_class TEXT, 
	reason TEXT, 
	duplicate_of TEXT, 
	attempt INTEGER NOT NULL, 
	arguments_digest TEXT, 
	idempotency_key TEXT, 
	provider_call_id TEXT, 
	provider TEXT, 
	model TEXT, 
	description_digest TEXT, 
	tenant TEXT NOT NULL, 
	principal TEXT, 
	proposed_at TEXT NOT NULL, 
	started_at TEXT, 
	waiting_since TEXT, 
	ended_at TEXT, 
	duration_ms DOUBLE, 
	sequence INTEGER NOT NULL, model_can_repair INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (call_id), 
	CONSTRAINT call_place UNIQUE (session_id, turn, idx, revision)
);

CREATE INDEX call_position ON call (position);

CREATE INDEX call_tool ON call (tool, position);

CREATE INDEX call_open ON call (session_id, state) WHERE state NOT IN ('abandoned', 'denied', 'failed', 'rejected', 'succeeded', 'superseded');

CREATE INDEX call_copy ON call (duplicate_of) WHERE duplicate_of IS NOT NULL;

CREATE TABLE tool_version (
	tool TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	schema_digest TEXT NOT NULL, 
	description_digest TEXT NOT NULL, 
	schema BLOB NOT NULL, 
	output_schema BLOB NOT NULL, 
	contract BLOB NOT NULL, 
	description BLOB NOT NULL, 
	recorded_at TEXT NOT NULL, 
	PRIMARY KEY (tool, version, schema_digest, description_digest)
);

CREATE TABLE session_key (
	session_id TEXT NOT NULL, 
	material BLOB NOT NULL, 
	created_at TEXT NOT NULL, 
	PRIMARY KEY (session_id)
);

CREATE TRIGGER event_no_update BEFORE UPDATE ON event
    BEGIN SELECT RAISE(ABORT, 'ledger: an event is never changed'); END;

CREATE TRIGGER event_no_delete BEFORE DELETE ON event
    BEGIN SELECT RAISE(ABORT, 'ledger: an event is never deleted'); END;

CREATE TRIGGER event_append BEFORE INSERT ON event
    BEGIN
        SELECT RAISE(ABORT, 'ledger: the position is not yours to give') WHERE NEW.position <> -1;
        SELECT RAISE(ABORT, 'ledger: not the next sequence of the session')
        WHERE NEW.sequence IS NOT
            ifnull((SELECT max(sequence) FROM event WHERE session_id = NEW.session_id), 0) + 1;
        SELECT RAISE(ABORT, 'ledger: the event id is recorded already')
        WHERE EXISTS (SELECT 1 FROM event WHERE session_id = NEW.session_id AND event_id = NEW.event_id);
    END;

CREATE TABLE session_tag (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	PRIMARY KEY (name, value, session_id)
)
 WITHOUT ROWID

;

CREATE TABLE call_resource (
	resource TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	call_id TEXT NOT NULL, 
	PRIMARY KEY (resource, position)
)
 WITHOUT ROWID

;

CREATE TABLE event_span (
	position INTEGER NOT NULL, 
	earliest TEXT NOT NULL, 
	latest TEXT NOT NULL, 
	PRIMARY KEY (position)
);

CREATE INDEX call_end ON call (state, position) WHERE state IN ('abandoned', 'denied', 'failed', 'rejected', 'superseded');

CREATE INDEX call_gate ON call (gate, position) WHERE gate IS NOT NULL;

CREATE INDEX call_code ON call (code, position) WHERE code IS NOT NULL;

CREATE INDEX call_class ON call (error_class, position) WHERE error_class IS NOT NULL;

CREATE INDEX call_reason ON call (reason, position) WHERE reason IS NOT NULL;

CREATE INDEX call_stage ON call (stage, position) WHERE stage <> 'active';

CREATE UNIQUE INDEX call_key ON call (idempotency_key, tenant) WHERE idempotency_key IS NOT NULL;

CREATE TABLE limited_start (
	limit_key TEXT NOT NULL, 
	free_at TEXT NOT NULL, 
	call_id TEXT NOT NULL, 
	PRIMARY KEY (limit_key, free_at, call_id)
)
 WITHOUT ROWID

;

CREATE INDEX limited_start_free ON limited_start (free_at);

INSERT INTO alembic_version (version_num) VALUES ('0003');

PRAGMA application_id = 1818584167;

PRAGMA user_version = 1;
