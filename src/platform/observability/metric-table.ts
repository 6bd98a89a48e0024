/** One label of a metric. With `values` it is one of these, and each is there from the start, at zero. */
type LabelEntry = { name: string; values?: readonly string[] };

export type MetricEntry = {
  name: string;
  kind: "counter" | "gauge" | "histogram";
  /** What it is about: a row of the dashboard and a part of the page. */
  area: (typeof metricAreas)[number];
  help: string;
  labels: readonly LabelEntry[];
  /** The upper bounds of a histogram's buckets. */
  buckets?: readonly number[];
  /** Asked of the database, so that all gateways on it tell the same: take the largest, never the sum. */
  isShared?: true;
};

export const metricAreas = [
  "traffic",
  "money",
  "upstreams",
  "tasks",
  "deliveries",
  "database",
  "limits",
  "process",
] as const;

const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;
const firstTokenSeconds = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 60] as const;
const taskSeconds = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14_400] as const;
const deliverySeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15] as const;
const commitSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const;
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const;
const loopSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const;

const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx", "aborted"] as const;
const circuitStates = ["closed", "degraded", "open", "half-open"] as const;
const units = ["money", "text", "image", "video"] as const;
const readings = ["tasks", "deliveries", "holds"] as const;

/**
 * Every metric: what `/metrics` serves, what the page docs/operating/observing.md lists, and what the dashboard and the
 * alerts may name. Labels are bounded: routes as they are written in the code, models and upstreams of the catalog; never
 * an account, a key or a path that somebody called.
 */
export const metricTable = {
  requestDuration: {
    name: "sluice_http_request_duration_seconds",
    kind: "histogram",
    area: "traffic",
    help: "From the first byte of a request to the last of its answer, streams to their end. `none` is a path without a route; `aborted` says that the client left first.",
    labels: [{ name: "method" }, { name: "route" }, { name: "status_class", values: statusClasses }],
    buckets: requestSeconds,
  },
  requestLogWritten: {
    name: "sluice_request_log_written_total",
    kind: "counter",
    area: "traffic",
    help: "Calls that were written to the request log.",
    labels: [],
  },
  requestLogLost: {
    name: "sluice_request_log_lost_total",
    kind: "counter",
    area: "traffic",
    help: "Calls that are not in the request log because too many waited for the database. Those whose calls they were see a gap.",
    labels: [],
  },
  requestsInProgress: {
    name: "sluice_http_requests_in_progress",
    kind: "gauge",
    area: "traffic",
    help: "Requests that are being answered, open streams among them.",
    labels: [],
  },
  errors: {
    name: "sluice_http_errors_total",
    kind: "counter",
    area: "traffic",
    help: "Requests that were answered with an error, by its code (docs/api/errors.md).",
    labels: [{ name: "code" }],
  },
  timeToFirstToken: {
    name: "sluice_time_to_first_token_seconds",
    kind: "histogram",
    area: "traffic",
    help: "From the first byte of a request to the first piece of its streamed answer.",
    labels: [{ name: "route" }, { name: "model" }],
    buckets: firstTokenSeconds,
  },
  tokens: {
    name: "sluice_tokens_total",
    kind: "counter",
    area: "traffic",
    help: "Tokens of settled calls.",
    labels: [{ name: "model" }, { name: "direction", values: ["input", "output"] }],
  },
  charges: {
    name: "sluice_charges_total",
    kind: "counter",
    area: "money",
    help: "Calls and tasks that were charged, be it money or quota.",
    labels: [{ name: "model" }],
  },
  chargedAmount: {
    name: "sluice_charged_amount_total",
    kind: "counter",
    area: "money",
    help: "Money charged for calls and tasks, in the currency of the setting.",
    labels: [{ name: "model" }],
  },
  lostAmount: {
    name: "sluice_lost_amount_total",
    kind: "counter",
    area: "money",
    help: "Money that upstreams used beyond what is charged, in the currency of the setting.",
    labels: [{ name: "model" }],
  },
  callFaults: {
    name: "sluice_call_faults_total",
    kind: "counter",
    area: "money",
    help: "Paid calls in which code of the gateway threw. Each ended, and its hold with it.",
    labels: [{ name: "model" }],
  },
  unchargedWork: {
    name: "sluice_uncharged_work_total",
    kind: "counter",
    area: "money",
    help: "Calls and tasks whose work was delivered and could not be charged, because the hold had ended or the charge could not be written. One is too many.",
    labels: [{ name: "work", values: ["call", "task"] }],
  },
  openHolds: {
    name: "sluice_holds_open",
    kind: "gauge",
    area: "money",
    help: "Holds that are open, by what they hold.",
    labels: [{ name: "unit", values: units }],
    isShared: true,
  },
  openHoldsAmount: {
    name: "sluice_holds_open_amount",
    kind: "gauge",
    area: "money",
    help: "Money on hold, in the currency of the setting.",
    labels: [],
    isShared: true,
  },
  violations: {
    name: "sluice_ledger_violations_total",
    kind: "counter",
    area: "money",
    help: "Violations of the ledger's invariants that a check of this process found. One is too many.",
    labels: [],
  },
  ledgerQueueLength: {
    name: "sluice_ledger_queue_length",
    kind: "gauge",
    area: "database",
    help: "Operations of the ledger that wait for the next group commit.",
    labels: [],
  },
  ledgerQueueAge: {
    name: "sluice_ledger_queue_oldest_seconds",
    kind: "gauge",
    area: "database",
    help: "For how long the oldest operation of the ledger has waited to be durable; 0 when none waits.",
    labels: [],
  },
  ledgerBatchSize: {
    name: "sluice_ledger_batch_operations",
    kind: "histogram",
    area: "database",
    help: "How many operations a group commit had.",
    labels: [],
    buckets: batchSizes,
  },
  ledgerCommitDuration: {
    name: "sluice_ledger_commit_duration_seconds",
    kind: "histogram",
    area: "database",
    help: "How long a group commit took that succeeded.",
    labels: [],
    buckets: commitSeconds,
  },
  ledgerFailedCommits: {
    name: "sluice_ledger_failed_commits_total",
    kind: "counter",
    area: "database",
    help: "Group commits that failed; those that found no database are tried again.",
    labels: [],
  },
  upstreamOutcomes: {
    name: "sluice_upstream_outcomes_total",
    kind: "counter",
    area: "upstreams",
    help: "What calls to upstreams came to: `answered` when an answer begins, `abandoned` when nobody waited for it, else how it failed, also in the middle of an answer.",
    labels: [{ name: "upstream" }, { name: "outcome" }],
  },
  circuits: {
    name: "sluice_upstream_circuits",
    kind: "gauge",
    area: "upstreams",
    help: "Targets of an upstream (a model with a key) by the state of their circuit, as this process sees it.",
    labels: [{ name: "upstream" }, { name: "state", values: circuitStates }],
  },
  openTasks: {
    name: "sluice_tasks_open",
    kind: "gauge",
    area: "tasks",
    help: "Tasks that are not over, parts of others included.",
    labels: [{ name: "state", values: ["queued", "processing"] }],
    isShared: true,
  },
  oldestQueuedTask: {
    name: "sluice_tasks_oldest_queued_seconds",
    kind: "gauge",
    area: "tasks",
    help: "Age of the oldest task that is queued; 0 when none is.",
    labels: [],
    isShared: true,
  },
  taskLag: {
    name: "sluice_task_lag_seconds",
    kind: "gauge",
    area: "tasks",
    help: "For how long the task that is due for the longest has waited for a worker; 0 when none is due.",
    labels: [],
    isShared: true,
  },
  taskDuration: {
    name: "sluice_task_duration_seconds",
    kind: "histogram",
    area: "tasks",
    help: "From the submission of a task to its end, of those that this process ended.",
    labels: [
      { name: "type", values: ["image", "video", "avatar", "drama", "speech"] },
      { name: "state", values: ["succeeded", "failed", "canceled", "expired"] },
    ],
    buckets: taskSeconds,
  },
  deliveryAttempts: {
    name: "sluice_delivery_attempt_duration_seconds",
    kind: "histogram",
    area: "deliveries",
    help: "How long attempts to deliver an event took, by what came of them.",
    labels: [
      {
        name: "outcome",
        values: [
          "succeeded",
          "bad_status",
          "redirect",
          "timeout",
          "unreachable",
          "forbidden_address",
          "bad_answer",
          "internal_error",
        ],
      },
    ],
    buckets: deliverySeconds,
  },
  pendingDeliveries: {
    name: "sluice_deliveries_pending",
    kind: "gauge",
    area: "deliveries",
    help: "Deliveries that are not over, those included that wait for their next attempt.",
    labels: [],
    isShared: true,
  },
  deliveryLag: {
    name: "sluice_delivery_lag_seconds",
    kind: "gauge",
    area: "deliveries",
    help: "For how long the delivery that is due for the longest has waited for its attempt; 0 when none is due.",
    labels: [],
    isShared: true,
  },
  poolConnections: {
    name: "sluice_database_pool_connections",
    kind: "gauge",
    area: "database",
    help: "Connections of the pool.",
    labels: [{ name: "state", values: ["used", "idle"] }],
  },
  poolConnectionsMax: {
    name: "sluice_database_pool_connections_max",
    kind: "gauge",
    area: "database",
    help: "The most connections that the pool may have.",
    labels: [],
  },
  poolWaiting: {
    name: "sluice_database_pool_waiting",
    kind: "gauge",
    area: "database",
    help: "How many wait for a connection of the pool.",
    labels: [],
  },
  readingAge: {
    name: "sluice_database_reading_age_seconds",
    kind: "gauge",
    area: "database",
    help: "How old what the database was last asked for a group of metrics is. It grows while the database is away; NaN before the first answer.",
    labels: [{ name: "reading", values: readings }],
  },
  changeFeedLive: {
    name: "sluice_change_feed_live",
    kind: "gauge",
    area: "database",
    help: "1 while changes of keys and the catalog are heard at once, 0 while caches are bypassed.",
    labels: [],
  },
  jobFailures: {
    name: "sluice_job_failures_total",
    kind: "counter",
    area: "database",
    help: "Scheduled jobs of this process that failed.",
    labels: [{ name: "scheduled_job" }],
  },
  redisFallback: {
    name: "sluice_redis_fallback",
    kind: "gauge",
    area: "limits",
    help: "1 while Redis does not answer and this process counts limits for itself; 0 otherwise, also without a Redis.",
    labels: [],
  },
  ready: {
    name: "sluice_ready",
    kind: "gauge",
    area: "process",
    help: "1 while `/readyz` answers 200.",
    labels: [],
  },
  clockOffset: {
    name: "sluice_clock_offset_seconds",
    kind: "gauge",
    area: "process",
    help: "How far the machine's clock is ahead of the database's; negative where it is behind.",
    labels: [],
  },
  eventLoopDelay: {
    name: "sluice_event_loop_delay_seconds",
    kind: "histogram",
    area: "process",
    help: "How late a timer came that asks twenty times a second.",
    labels: [],
    buckets: loopSeconds,
  },
  eventLoopTime: {
    name: "sluice_event_loop_seconds_total",
    kind: "counter",
    area: "process",
    help: "Time of the event loop: active is at work, idle is waiting. The active share is its utilization.",
    labels: [{ name: "state", values: ["active", "idle"] }],
  },
  heap: {
    name: "sluice_memory_bytes",
    kind: "gauge",
    area: "process",
    help: "Memory by what it is for.",
    labels: [{ name: "kind", values: ["heap_used", "heap_total", "external", "array_buffers"] }],
  },
  residentMemory: {
    name: "process_resident_memory_bytes",
    kind: "gauge",
    area: "process",
    help: "Memory of the process as the system counts it.",
    labels: [],
  },
  cpuTime: {
    name: "process_cpu_seconds_total",
    kind: "counter",
    area: "process",
    help: "Processor time of the process, user and system.",
    labels: [],
  },
  startTime: {
    name: "process_start_time_seconds",
    kind: "gauge",
    area: "process",
    help: "When the process started, as seconds since 1970.",
    labels: [],
  },
  openFiles: {
    name: "process_open_fds",
    kind: "gauge",
    area: "process",
    help: "Open file descriptors, connections among them; NaN where the system does not tell.",
    labels: [],
  },
  build: {
    name: "sluice_build_info",
    kind: "gauge",
    area: "process",
    help: "Always 1; the labels tell the version and the currency of all amounts.",
    labels: [{ name: "version" }, { name: "currency" }],
  },
} as const satisfies Record<string, MetricEntry>;

export type MetricTable = typeof metricTable;
export type MetricName = keyof MetricTable;
