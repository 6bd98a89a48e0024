/**
 * How long this process waits for its database, in milliseconds. Together they keep two promises: when the database falls
 * silent, a paid call is answered within five seconds; when it is away for less than two, nobody is refused.
 */
export const databaseLimits = {
  /** A connection that is not there by now does not come: whoever should accept it is silent. */
  connectMsMax: 4000,
  /** How long a host that is not in use may take to say whether it takes writes, before the next one is asked. */
  hostMsMax: 1500,
  /** How long a request waits for one of the pool's connections. */
  queueMsMax: 4500,
  /** How long a database that is away is waited for before anything was sent to it. */
  awayMsMax: 2500,
  /** How long after its first query a request may still try another connection in place of a dead one. */
  deadLineMsMax: 4000,
  /** How long to wait before a database that is away is tried again. */
  retryMs: 100,
  /** A query without an answer for so long is looked into: is the server still at work on it? */
  suspectMs: 800,
  /** How long that look may take before the server counts as silent. */
  examineMsMax: 3000,
  /** How often at the least it is looked into again. */
  suspectMsMax: 5000,
  /** An answer that had been sent before that look has arrived by now. */
  answerGraceMs: 250,
  /** The server ends a statement after this, and a transaction in which nothing happens. */
  statementMsMax: 30_000,
  idleInTransactionMsMax: 10_000,
  /** How long the network may keep quiet before it is asked whether the other side is there. */
  keepAliveMs: 5000,
  /** How long the server may take to say goodbye. */
  goodbyeMsMax: 1000,
  /** How long a call waits for its hold, and a failed call for the release of one. */
  holdMsMax: 4000,
  /** How long a settlement waits for the database: to the end of its hold, which outlives the call by five minutes. */
  settlementMsMax: 290_000,
  /** How long it waits where too many do. */
  crowdedSettlementMsMax: 20_000,
  /** After an outage, how long live processes have to renew their leases before any is taken for dead. */
  leaseGraceMs: 15_000,
  /** How long to wait before a lease that could not be renewed is tried again. */
  leaseRetryMs: 1000,
  /** A ledger whose oldest operation waits for longer than this does not keep up. */
  ledgerAgeMsMax: 3000,
  /** How long a probe of readiness may take. */
  readyMsMax: 1500,
  /** How long a gateway that starts waits between two tries. */
  startRetryMs: 2000,
  /** How long after the time for running requests everything else may still use the database while it does not answer. */
  abandonAfterMs: 3000,
} as const;
