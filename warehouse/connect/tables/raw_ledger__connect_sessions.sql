-- One row per session, including forgotten ones and those deleted in the ledger.
create table if not exists raw_ledger__connect_sessions (
    session_key varchar primary key,  -- Name of the session outside the ledger; its id can't be worked out from it
    day date not null,  -- UTC day on which it was opened
    assistant varchar,  -- codex, claude-code, gemini, grok or custom; null before a plan was requested
    os varchar,  -- macos, linux or windows; null before a plan was requested
    runtime_profile varchar,  -- Runtime profile; null before a plan was requested
    steps integer not null,  -- Steps of its plan
    done integer not null,  -- Steps that are done
    skipped integer not null,  -- Steps that were skipped
    failed integer not null,  -- Steps that failed and were not mended
    finished boolean not null,  -- True if every step is done or skipped
    registered boolean not null,  -- True if it named an intake
    closed boolean not null,  -- True if it was closed before its time
    forgotten boolean not null  -- True if its person asked to be forgotten
);
