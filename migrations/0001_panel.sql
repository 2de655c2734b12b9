-- 0001: what a panel and its nodes hold. Units are in the names; times are UTC seconds; 0 means never,
-- none or unlimited where the name says so. An applied migration is never edited.

CREATE TABLE setting (
  key   TEXT PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- People who operate the panel ------------------------------------------------------------------
CREATE TABLE admin (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id      TEXT NOT NULL UNIQUE,
  name           TEXT NOT NULL,
  name_key       TEXT NOT NULL UNIQUE,
  role           TEXT NOT NULL CHECK (role IN ('owner', 'helper', 'reseller', 'readonly')),
  enabled        INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  password_hash  TEXT NOT NULL,
  totp_sealed    BLOB,
  totp_last_step INTEGER NOT NULL DEFAULT 0,
  language       TEXT NOT NULL DEFAULT '',
  created_unix   INTEGER NOT NULL,
  signed_in_unix INTEGER NOT NULL DEFAULT 0,
  version        INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE admin_session (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id      TEXT NOT NULL UNIQUE,
  admin_id       INTEGER NOT NULL REFERENCES admin (id) ON DELETE CASCADE,
  token_hash     BLOB NOT NULL UNIQUE,
  created_unix   INTEGER NOT NULL,
  last_seen_unix INTEGER NOT NULL,
  expires_unix   INTEGER NOT NULL,
  step_up_unix   INTEGER NOT NULL DEFAULT 0,
  address        TEXT NOT NULL DEFAULT '',
  user_agent     TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX admin_session_by_admin ON admin_session (admin_id);
CREATE INDEX admin_session_by_end ON admin_session (expires_unix);

CREATE TABLE api_token (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id      TEXT NOT NULL UNIQUE,
  name           TEXT NOT NULL,
  admin_id       INTEGER REFERENCES admin (id) ON DELETE CASCADE,   -- NULL: made on the control socket
  token_hash     BLOB NOT NULL UNIQUE,
  rights         INTEGER NOT NULL,
  rate_per_s     INTEGER NOT NULL DEFAULT 0,                        -- 0: no limit
  created_unix   INTEGER NOT NULL,
  expires_unix   INTEGER NOT NULL DEFAULT 0,
  last_used_unix INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX api_token_by_admin ON api_token (admin_id);

CREATE TABLE idempotency (
  actor        TEXT NOT NULL,
  key          TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  status       INTEGER NOT NULL,
  resource     TEXT NOT NULL,      -- public ids, one a line
  revision     INTEGER NOT NULL,
  created_unix INTEGER NOT NULL,
  PRIMARY KEY (actor, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_unix);

CREATE TABLE audit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at_unix INTEGER NOT NULL,
  actor   TEXT NOT NULL,           -- "adm_...", "tok_...", "control", "timer"
  address TEXT NOT NULL,
  action  TEXT NOT NULL,           -- "user.create"
  target  TEXT NOT NULL,           -- public id
  detail  TEXT NOT NULL,           -- JSON object, without secrets
  result  TEXT NOT NULL            -- "ok" or the code of the refusal
) STRICT;
CREATE INDEX audit_by_age ON audit (at_unix);

CREATE TABLE event (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  at_unix  INTEGER NOT NULL,
  kind     TEXT NOT NULL,
  severity TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
  subject  TEXT NOT NULL,
  data     TEXT NOT NULL
) STRICT;
CREATE INDEX event_by_age ON event (at_unix);

CREATE TABLE event_cursor (
  consumer TEXT PRIMARY KEY,
  last_id  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is served --------------------------------------------------------------------------------
CREATE TABLE profile (
  id                    INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id             TEXT NOT NULL UNIQUE,
  kind                  TEXT NOT NULL DEFAULT 'hysteria2',
  name                  TEXT NOT NULL,
  name_key              TEXT NOT NULL UNIQUE,
  note                  TEXT NOT NULL DEFAULT '',
  port                  INTEGER NOT NULL,
  hop_ports             TEXT NOT NULL DEFAULT '',   -- "20000-29999,31000"
  hop_interval_s        INTEGER NOT NULL DEFAULT 30,
  obfs                  TEXT NOT NULL DEFAULT 'none' CHECK (obfs IN ('none', 'salamander', 'gecko')),
  obfs_password_sealed  BLOB,
  obfs_min_packet_bytes INTEGER NOT NULL DEFAULT 0,
  obfs_max_packet_bytes INTEGER NOT NULL DEFAULT 0,
  cert_mode             TEXT NOT NULL DEFAULT 'self_signed' CHECK (cert_mode IN ('self_signed', 'acme', 'file')),
  sni                   TEXT NOT NULL DEFAULT '',
  server_sealed         BLOB NOT NULL,              -- JSON of what only the server reads (masquerade, ...)
  created_unix          INTEGER NOT NULL,
  version               INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE node (
  id                      INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id               TEXT NOT NULL UNIQUE,
  name                    TEXT NOT NULL,
  name_key                TEXT NOT NULL UNIQUE,
  address                 TEXT NOT NULL,             -- host name or IP literal that clients dial
  country                 TEXT NOT NULL DEFAULT '',  -- ISO 3166 alpha-2
  city                    TEXT NOT NULL DEFAULT '',
  note                    TEXT NOT NULL DEFAULT '',
  cost_note               TEXT NOT NULL DEFAULT '',
  enabled                 INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  usage_factor_percent    INTEGER NOT NULL DEFAULT 100,
  traffic_allowance_bytes INTEGER NOT NULL DEFAULT 0,
  traffic_reset_day       INTEGER NOT NULL DEFAULT 1,
  agent_version           TEXT NOT NULL DEFAULT '',
  core_version            TEXT NOT NULL DEFAULT '',
  facts                   TEXT NOT NULL DEFAULT '{}', -- JSON of `hello`: host name, system, ...
  last_seen_unix          INTEGER NOT NULL DEFAULT 0,
  applied_revision        INTEGER NOT NULL DEFAULT 0,
  created_unix            INTEGER NOT NULL,
  retired_unix            INTEGER NOT NULL DEFAULT 0,
  version                 INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE TABLE node_tag (
  node_id INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  tag     TEXT NOT NULL,
  PRIMARY KEY (node_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_tag_by_tag ON node_tag (tag);

CREATE TABLE node_certificate (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id         INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  serial          BLOB NOT NULL UNIQUE,
  fingerprint     BLOB NOT NULL UNIQUE,
  not_before_unix INTEGER NOT NULL,
  not_after_unix  INTEGER NOT NULL,
  revoked_unix    INTEGER NOT NULL DEFAULT 0,
  created_unix    INTEGER NOT NULL
) STRICT;
CREATE INDEX node_certificate_by_node ON node_certificate (node_id);

CREATE TABLE enrollment (
  token_hash   BLOB PRIMARY KEY,
  node_id      INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  created_unix INTEGER NOT NULL,
  expires_unix INTEGER NOT NULL,
  used_unix    INTEGER NOT NULL DEFAULT 0,
  csr_hash     BLOB,
  answer_pem   TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX enrollment_by_node ON enrollment (node_id);

CREATE TABLE inbound (
  id                  INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id           TEXT NOT NULL UNIQUE,
  node_id             INTEGER NOT NULL REFERENCES node (id),
  profile_id          INTEGER NOT NULL REFERENCES profile (id),
  core                TEXT NOT NULL DEFAULT 'hysteria',
  managed             INTEGER NOT NULL DEFAULT 1 CHECK (managed IN (0, 1)),
  enabled             INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  port                INTEGER NOT NULL DEFAULT 0,   -- 0: the profile's
  sni                 TEXT NOT NULL DEFAULT '',     -- '': the profile's
  state               TEXT NOT NULL DEFAULT 'pending'
                      CHECK (state IN ('pending', 'running', 'stopped', 'failed', 'unreachable', 'external')),
  state_error         TEXT NOT NULL DEFAULT '',
  state_since_unix    INTEGER NOT NULL DEFAULT 0,
  first_run_unix      INTEGER NOT NULL DEFAULT 0,
  last_ok_unix        INTEGER NOT NULL DEFAULT 0,
  cert_pin            BLOB,                          -- SHA-256 of the leaf
  key_pin             BLOB,                          -- SHA-256 of its public key (SPKI)
  cert_pem            TEXT NOT NULL DEFAULT '',
  cert_not_after_unix INTEGER NOT NULL DEFAULT 0,
  record_hash         BLOB NOT NULL DEFAULT x'',     -- '': not on the node
  created_unix        INTEGER NOT NULL,
  version             INTEGER NOT NULL DEFAULT 1,
  UNIQUE (node_id, profile_id)
) STRICT;
CREATE INDEX inbound_by_profile ON inbound (profile_id);

CREATE TABLE host (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id    TEXT NOT NULL UNIQUE,
  inbound_id   INTEGER NOT NULL REFERENCES inbound (id) ON DELETE CASCADE,
  name         TEXT NOT NULL DEFAULT '',            -- the template's {host}
  address      TEXT NOT NULL DEFAULT '',            -- '': the node's
  port         INTEGER NOT NULL DEFAULT 0,          -- 0: the inbound's
  sni          TEXT NOT NULL DEFAULT '',            -- '': the inbound's
  sort_order   INTEGER NOT NULL DEFAULT 0,
  enabled      INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  hidden       INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  formats      TEXT NOT NULL DEFAULT '',            -- '': all; else names separated by ','
  created_unix INTEGER NOT NULL,
  version      INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX host_by_inbound ON host (inbound_id);

-- Who is served ---------------------------------------------------------------------------------
CREATE TABLE group_ (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id    TEXT NOT NULL UNIQUE,
  name         TEXT NOT NULL,
  name_key     TEXT UNIQUE,                          -- NULL once deleted: the name is free at once
  note         TEXT NOT NULL DEFAULT '',
  sum          BLOB NOT NULL DEFAULT (zeroblob(32)), -- sum of its served members' record hashes
  created_unix INTEGER NOT NULL,
  version      INTEGER NOT NULL DEFAULT 1,
  deleted_unix INTEGER NOT NULL DEFAULT 0            -- the row goes when its last member has left
) STRICT;
CREATE INDEX group_by_deletion ON group_ (deleted_unix) WHERE deleted_unix > 0;

CREATE TABLE group_access (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id   INTEGER NOT NULL REFERENCES group_ (id) ON DELETE CASCADE,
  profile_id INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
  scope      TEXT NOT NULL CHECK (scope IN ('all', 'node', 'tag')),
  node_id    INTEGER REFERENCES node (id) ON DELETE CASCADE,
  tag        TEXT NOT NULL DEFAULT '',
  CHECK ((scope = 'node') = (node_id IS NOT NULL)),
  CHECK ((scope = 'tag') = (tag <> ''))
) STRICT;
CREATE UNIQUE INDEX group_access_once ON group_access (group_id, profile_id, scope, ifnull(node_id, 0), tag);
CREATE INDEX group_access_by_profile ON group_access (profile_id);
CREATE INDEX group_access_by_node ON group_access (node_id) WHERE node_id IS NOT NULL;

CREATE TABLE user (
  id                 INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id          TEXT NOT NULL UNIQUE,
  name               TEXT NOT NULL,
  name_key           TEXT UNIQUE,                   -- NULL once deleted: the name is free at once
  display_name       TEXT NOT NULL DEFAULT '',
  note               TEXT NOT NULL DEFAULT '',
  tag                TEXT NOT NULL DEFAULT '',
  email              TEXT NOT NULL DEFAULT '',
  telegram_id        INTEGER NOT NULL DEFAULT 0,
  language           TEXT NOT NULL DEFAULT '',
  meta               TEXT NOT NULL DEFAULT '{}',
  owner_admin_id     INTEGER REFERENCES admin (id) ON DELETE SET NULL,
  enabled            INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  created_unix       INTEGER NOT NULL,
  expires_unix       INTEGER NOT NULL DEFAULT 0,
  hold_s             INTEGER NOT NULL DEFAULT 0,
  hold_no            INTEGER NOT NULL DEFAULT 0,
  hold_deadline_unix INTEGER NOT NULL DEFAULT 0,
  first_use_unix     INTEGER NOT NULL DEFAULT 0,
  served             INTEGER NOT NULL DEFAULT 0 CHECK (served IN (0, 1)),
  state              TEXT NOT NULL CHECK (state = 'active' OR state = 'on_hold' OR state = 'limited' OR
                     state = 'expired' OR state = 'disabled' OR state = 'deleted'), -- IN (...) costs 20 us a write
  quota_bytes        INTEGER NOT NULL DEFAULT 0,
  quota_period       TEXT NOT NULL DEFAULT 'none' CHECK (quota_period = 'none' OR quota_period = 'month' OR
                     quota_period = 'calendar_month' OR quota_period = 'day' OR quota_period = 'week' OR
                     quota_period = 'year' OR quota_period = 'rolling30' OR quota_period = 'days'),
  quota_period_days  INTEGER NOT NULL DEFAULT 0,
  period_anchor_unix INTEGER NOT NULL DEFAULT 0,
  device_limit       INTEGER NOT NULL DEFAULT 0,
  hwid_limit         INTEGER NOT NULL DEFAULT -1,
  plan_id            INTEGER NOT NULL DEFAULT 0,
  next_plan_id       INTEGER NOT NULL DEFAULT 0,
  sub_token_hash     BLOB UNIQUE,                   -- NULL once deleted
  sub_token_sealed   BLOB,
  sub_revoked_unix   INTEGER NOT NULL DEFAULT 0,
  record_hash        BLOB NOT NULL DEFAULT x'',     -- '': not served
  version            INTEGER NOT NULL DEFAULT 1,
  deleted_unix       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX user_by_state ON user (state, name_key);
CREATE INDEX user_by_end ON user (expires_unix, id) WHERE deleted_unix = 0; -- never (0) too: lists sort by it
-- Whom the clock will change: a user leaves these when the writer has stored what it did to him, so what
-- is past in them is what no timer run has seen yet.
CREATE INDEX user_due_end ON user (expires_unix) WHERE expires_unix > 0 AND (served = 1 OR state = 'limited');
CREATE INDEX user_due_hold ON user (hold_deadline_unix)
  WHERE hold_deadline_unix > 0 AND first_use_unix = 0 AND (served = 1 OR state = 'limited');
CREATE INDEX user_by_created ON user (created_unix, id) WHERE deleted_unix = 0;
CREATE INDEX user_by_tag ON user (tag, name_key) WHERE tag <> '' AND deleted_unix = 0;
CREATE INDEX user_by_telegram ON user (telegram_id) WHERE telegram_id <> 0;
CREATE INDEX user_by_owner ON user (owner_admin_id) WHERE owner_admin_id IS NOT NULL;
CREATE INDEX user_by_deletion ON user (deleted_unix) WHERE deleted_unix > 0;

CREATE TABLE user_group (
  user_id  INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  group_id INTEGER NOT NULL REFERENCES group_ (id),
  PRIMARY KEY (user_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX user_group_by_group ON user_group (group_id, user_id);

CREATE TABLE user_node (                            -- nodes taken away from one user
  user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  node_id INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, node_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_node_by_node ON user_node (node_id);

CREATE TABLE user_usage (                           -- written all the time: narrow, no further index
  user_id           INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  period_no         INTEGER NOT NULL DEFAULT 1,
  period_start_unix INTEGER NOT NULL DEFAULT 0,
  period_end_unix   INTEGER NOT NULL DEFAULT 0,     -- 0: never
  used_up_bytes     INTEGER NOT NULL DEFAULT 0,
  used_down_bytes   INTEGER NOT NULL DEFAULT 0,
  total_up_bytes    INTEGER NOT NULL DEFAULT 0,
  total_down_bytes  INTEGER NOT NULL DEFAULT 0,
  last_seen_unix    INTEGER NOT NULL DEFAULT 0,
  last_node_id      INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE user_period (                          -- when the timer must look: only users with a period
  user_id         INTEGER PRIMARY KEY REFERENCES user (id) ON DELETE CASCADE,
  period_end_unix INTEGER NOT NULL
) STRICT;
CREATE INDEX user_period_by_end ON user_period (period_end_unix);

CREATE TABLE credential (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id        INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
  kind           TEXT NOT NULL DEFAULT 'hysteria2',
  hash           BLOB NOT NULL UNIQUE,
  sealed         BLOB NOT NULL,
  not_after_unix INTEGER NOT NULL DEFAULT 0,
  created_unix   INTEGER NOT NULL
) STRICT;
CREATE INDEX credential_by_user ON credential (user_id);
CREATE INDEX credential_by_end ON credential (not_after_unix) WHERE not_after_unix > 0;

CREATE VIRTUAL TABLE user_search USING fts5 (
  name, display_name, note, tag, email,
  content = 'user', content_rowid = 'id', tokenize = 'trigram', columnsize = 0 -- with positions: a text is one phrase
);

-- What nodes shall hold, and how they are told ------------------------------------------------------
CREATE TABLE change_log (
  seq      INTEGER PRIMARY KEY AUTOINCREMENT,
  kind     INTEGER NOT NULL,
  id       INTEGER NOT NULL,
  group_id INTEGER NOT NULL,
  gained   INTEGER NOT NULL,
  at_unix  INTEGER NOT NULL
) STRICT;

CREATE TABLE node_state (
  node_id INTEGER PRIMARY KEY REFERENCES node (id) ON DELETE CASCADE,
  base    BLOB NOT NULL DEFAULT (zeroblob(32)),      -- its inbounds and access records
  minus   BLOB NOT NULL DEFAULT (zeroblob(32))       -- users taken away from it
) STRICT;

CREATE TABLE node_group (                           -- the access records: a group with its inbounds here
  node_id     INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  group_id    INTEGER NOT NULL REFERENCES group_ (id) ON DELETE CASCADE,
  record_hash BLOB NOT NULL,                         -- '': only servers that no agent runs, no record
  PRIMARY KEY (node_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_group_by_group ON node_group (group_id, node_id);

CREATE TABLE node_group_inbound (
  group_id   INTEGER NOT NULL,
  inbound_id INTEGER NOT NULL REFERENCES inbound (id) ON DELETE CASCADE,
  node_id    INTEGER NOT NULL,
  PRIMARY KEY (group_id, inbound_id),
  FOREIGN KEY (node_id, group_id) REFERENCES node_group (node_id, group_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX node_group_inbound_by_node ON node_group_inbound (node_id, group_id);
CREATE INDEX node_group_inbound_by_inbound ON node_group_inbound (inbound_id);

CREATE TABLE lease (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  node_id           INTEGER NOT NULL,
  journal           BLOB NOT NULL,
  user_id           INTEGER NOT NULL,
  period_start_unix INTEGER NOT NULL,
  granted_bytes     INTEGER NOT NULL,
  known_bytes       INTEGER NOT NULL,
  until_unix        INTEGER NOT NULL,
  no                INTEGER NOT NULL,
  UNIQUE (node_id, journal, user_id, period_start_unix)
) STRICT;
CREATE INDEX lease_by_user ON lease (user_id);
CREATE INDEX lease_by_end ON lease (until_unix);

-- Usage. Ids without foreign keys: a line for a user or inbound that is gone is kept. -------------------
CREATE TABLE usage_hour (
  start_unix INTEGER NOT NULL,
  inbound_id INTEGER NOT NULL,
  user_id    INTEGER NOT NULL,
  up_bytes   INTEGER NOT NULL,
  down_bytes INTEGER NOT NULL,
  PRIMARY KEY (start_unix, inbound_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_day (
  user_id    INTEGER NOT NULL,
  day        INTEGER NOT NULL,                      -- local date as yyyymmdd, fixed when written
  inbound_id INTEGER NOT NULL,
  up_bytes   INTEGER NOT NULL,
  down_bytes INTEGER NOT NULL,
  PRIMARY KEY (user_id, day, inbound_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_day_by_day ON usage_day (day);

CREATE TABLE node_usage_hour (
  node_id    INTEGER NOT NULL,
  start_unix INTEGER NOT NULL,
  up_bytes   INTEGER NOT NULL,
  down_bytes INTEGER NOT NULL,
  PRIMARY KEY (node_id, start_unix)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_usage_hour_by_age ON node_usage_hour (start_unix);

CREATE TABLE node_journal (
  node_id     INTEGER NOT NULL,
  journal     BLOB NOT NULL,
  last_seq    INTEGER NOT NULL,
  last_to_unix INTEGER NOT NULL,
  total_bytes INTEGER NOT NULL,
  opened_unix INTEGER NOT NULL,
  PRIMARY KEY (node_id, journal)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_epoch (
  node_id   INTEGER NOT NULL,
  epoch     TEXT NOT NULL,
  inbound_id INTEGER NOT NULL,
  sum_bytes INTEGER NOT NULL,
  seen_unix INTEGER NOT NULL,
  PRIMARY KEY (node_id, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE node_report (
  node_id       INTEGER NOT NULL,
  journal       BLOB NOT NULL,
  seq           INTEGER NOT NULL,
  sha256        BLOB NOT NULL,
  factor_percent INTEGER NOT NULL,
  bytes         INTEGER NOT NULL,
  stored_unix   INTEGER NOT NULL,
  PRIMARY KEY (node_id, journal, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_report_by_age ON node_report (stored_unix);

CREATE TABLE node_metric (
  node_id INTEGER NOT NULL,
  at_unix INTEGER NOT NULL,
  data    TEXT NOT NULL,
  PRIMARY KEY (node_id, at_unix)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_metric_by_age ON node_metric (at_unix);
