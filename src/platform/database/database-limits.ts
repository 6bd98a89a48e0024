/**
 * How long this process waits for its database, in milliseconds. Together they guarantee: when the database falls silent, a paid
 * call is answered within five seconds; outages of less than two seconds fail no call.
 */
export const databaseLimits = {
  /** For a new connection. */
  connectMsMax: 4000,
  /** For a host that is not the current one to show that it accepts writes, before the next host is tried. */
  hostMsMax: 1500,
  /** For a connection of the pool. */
  queueMsMax: 4500,
  /** How long a query is retried while the database is unavailable, before anything was sent. */
  unavailableMsMax: 2500,
  /** How long a query is retried on other connections after a dead one. */
  deadConnectionMsMax: 4000,
  /** Between two tries. */
  retryMs: 100,
  /** After this time without an answer, the server is asked whether it still works on the query. */
  suspectMs: 800,
  /** How long that check may take before the server counts as silent. */
  examineMsMax: 3000,
  /** The check repeats with growing intervals, up to this one. */
  suspectMsMax: 5000,
  /** An answer that was sent before the check arrives within this time. */
  answerGraceMs: 250,
  /** The server's own timeouts: `statement_timeout` and `idle_in_transaction_session_timeout`. */
  statementMsMax: 30_000,
  idleInTransactionMsMax: 10_000,
  /** TCP keep-alive. */
  keepAliveMs: 5000,
  /** For the server to close a connection. */
  closeMsMax: 1000,
  /** For a call's hold, and for the release of a failed call's hold. */
  holdMsMax: 4000,
  /** For a settlement: until its hold expires, five minutes after the call. */
  settlementMsMax: 290_000,
  /** For a settlement while too many wait. */
  crowdedSettlementMsMax: 20_000,
  /** After an outage, live processes have this long to renew their leases before any counts as dead. */
  leaseGraceMs: 15_000,
  /** Between two tries to renew a lease. */
  leaseRetryMs: 1000,
  /** The ledger is overloaded if its oldest operation waits longer. */
  ledgerAgeMsMax: 3000,
  /** For a readiness probe. */
  readyMsMax: 1500,
  /** Between two tries of a starting gateway. */
  startRetryMs: 2000,
  /** When stopping: how long other work may use a silent database after the time for running requests. */
  abandonAfterMs: 3000,
} as const;
