/** A label. Series for its `values` exist from the start, at zero. */
type LabelEntry = { name: string; values?: readonly string[] };

export type MetricEntry = {
  name: string;
  kind: "counter" | "gauge" | "histogram";
  /** A row of the dashboard and a section of the docs. */
  area: (typeof metricAreas)[number];
  help: string;
  labels: readonly LabelEntry[];
  /** Upper bounds. */
  buckets?: readonly number[];
  /** Read from the database, so all gateways report the same value: aggregate with max, never sum. */
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
 * Every metric of `/metrics`, the docs, the dashboard and the alerts. Labels are bounded: route patterns, models and
 * upstreams of the catalog; never an account, a key or an actual path.
 */
export const metricTable = {
  requestDuration: {
    name: "sluice_http_request_duration_seconds",
    kind: "histogram",
    area: "traffic",
    help: "From the first byte of a request to the last byte of its response, including streams. `none` is a path without a route; `aborted` means the client disconnected first.",
    labels: [{ name: "method" }, { name: "route" }, { name: "status_class", values: statusClasses }],
    buckets: requestSeconds,
  },
  requestLogWritten: {
    name: "sluice_request_log_written_total",
    kind: "counter",
    area: "traffic",
    help: "Calls written to the request log.",
    labels: [],
  },
  requestLogLost: {
    name: "sluice_request_log_lost_total",
    kind: "counter",
    area: "traffic",
    help: "Calls missing from the request log because too many waited for the database. Their accounts see a gap.",
    labels: [],
  },
  requestsInProgress: {
    name: "sluice_http_requests_in_progress",
    kind: "gauge",
    area: "traffic",
    help: "Requests in progress, including open streams.",
    labels: [],
  },
  errors: {
    name: "sluice_http_errors_total",
    kind: "counter",
    area: "traffic",
    help: "Error responses by code (docs/api/errors.md).",
    labels: [{ name: "code" }],
  },
  timeToFirstToken: {
    name: "sluice_time_to_first_token_seconds",
    kind: "histogram",
    area: "traffic",
    help: "From the first byte of a request to the first chunk of its streamed response.",
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
    help: "Charged calls and tasks, in money or quota.",
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
    help: "Cost of upstream usage beyond what was charged, in the currency of the setting.",
    labels: [{ name: "model" }],
  },
  upstreamCost: {
    name: "sluice_upstream_cost_total",
    kind: "counter",
    area: "money",
    help: "What upstreams charged the operator, in the currency of the setting. `payer` is `balance` if the work was charged to a balance.",
    labels: [{ name: "model" }, { name: "upstream" }, { name: "payer", values: ["balance", "other"] }],
  },
  upstreamCostReported: {
    name: "sluice_upstream_cost_reported_total",
    kind: "counter",
    area: "money",
    help: "Costs as vendors reported them, of routes that also have a cost sheet.",
    labels: [{ name: "upstream" }, { name: "upstream_model" }],
  },
  upstreamCostComputed: {
    name: "sluice_upstream_cost_computed_total",
    kind: "counter",
    area: "money",
    help: "The same costs as the cost sheets compute them.",
    labels: [{ name: "upstream" }, { name: "upstream_model" }],
  },
  callFaults: {
    name: "sluice_call_faults_total",
    kind: "counter",
    area: "money",
    help: "Paid calls in which the gateway's code threw. Each ended, and so did its hold.",
    labels: [{ name: "model" }],
  },
  unchargedWork: {
    name: "sluice_uncharged_work_total",
    kind: "counter",
    area: "money",
    help: "Calls and tasks delivered without a charge, because the hold had ended or the charge could not be written. Should stay 0.",
    labels: [{ name: "work", values: ["call", "task"] }],
  },
  openHolds: {
    name: "sluice_holds_open",
    kind: "gauge",
    area: "money",
    help: "Open holds by unit.",
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
    help: "Violations of the ledger's invariants found by checks of this process. Should stay 0.",
    labels: [],
  },
  ledgerQueueLength: {
    name: "sluice_ledger_queue_length",
    kind: "gauge",
    area: "database",
    help: "Ledger operations waiting for the next group commit.",
    labels: [],
  },
  ledgerQueueAge: {
    name: "sluice_ledger_queue_oldest_seconds",
    kind: "gauge",
    area: "database",
    help: "Age of the oldest ledger operation that is not durable yet; 0 if none waits.",
    labels: [],
  },
  ledgerBatchSize: {
    name: "sluice_ledger_batch_operations",
    kind: "histogram",
    area: "database",
    help: "Operations per group commit.",
    labels: [],
    buckets: batchSizes,
  },
  ledgerCommitDuration: {
    name: "sluice_ledger_commit_duration_seconds",
    kind: "histogram",
    area: "database",
    help: "Duration of successful group commits.",
    labels: [],
    buckets: commitSeconds,
  },
  ledgerFailedCommits: {
    name: "sluice_ledger_failed_commits_total",
    kind: "counter",
    area: "database",
    help: "Failed group commits. They are retried if the database was unavailable.",
    labels: [],
  },
  upstreamOutcomes: {
    name: "sluice_upstream_outcomes_total",
    kind: "counter",
    area: "upstreams",
    help: "Outcomes of upstream calls: `answered` when a response begins, `abandoned` when the caller left, else the kind of failure, also in the middle of a response.",
    labels: [{ name: "upstream" }, { name: "outcome" }],
  },
  circuits: {
    name: "sluice_upstream_circuits",
    kind: "gauge",
    area: "upstreams",
    help: "Targets of an upstream (a model with a key) by circuit state, as seen by this process.",
    labels: [{ name: "upstream" }, { name: "state", values: circuitStates }],
  },
  openTasks: {
    name: "sluice_tasks_open",
    kind: "gauge",
    area: "tasks",
    help: "Open tasks, including child tasks.",
    labels: [{ name: "state", values: ["queued", "processing"] }],
    isShared: true,
  },
  upstreamTasks: {
    name: "sluice_upstream_tasks",
    kind: "gauge",
    area: "tasks",
    help: "Tasks that an upstream has, and tasks that wait because it is full.",
    labels: [{ name: "upstream" }, { name: "state", values: ["at-work", "waiting"] }],
    isShared: true,
  },
  oldestQueuedTask: {
    name: "sluice_tasks_oldest_queued_seconds",
    kind: "gauge",
    area: "tasks",
    help: "Age of the oldest queued task; 0 if none is queued.",
    labels: [],
    isShared: true,
  },
  taskLag: {
    name: "sluice_task_lag_seconds",
    kind: "gauge",
    area: "tasks",
    help: "How long the oldest due task has waited for a worker; 0 if none is due.",
    labels: [],
    isShared: true,
  },
  taskDuration: {
    name: "sluice_task_duration_seconds",
    kind: "histogram",
    area: "tasks",
    help: "From the submission of a task to its end, for tasks that this process ended.",
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
    help: "Duration of delivery attempts by outcome.",
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
    help: "Pending deliveries, including those waiting for their next attempt.",
    labels: [],
    isShared: true,
  },
  deliveryLag: {
    name: "sluice_delivery_lag_seconds",
    kind: "gauge",
    area: "deliveries",
    help: "How long the oldest due delivery has waited for its attempt; 0 if none is due.",
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
    help: "Maximum connections of the pool.",
    labels: [],
  },
  poolWaiting: {
    name: "sluice_database_pool_waiting",
    kind: "gauge",
    area: "database",
    help: "Queries waiting for a connection of the pool.",
    labels: [],
  },
  readingAge: {
    name: "sluice_database_reading_age_seconds",
    kind: "gauge",
    area: "database",
    help: "Age of the last reading of a group of metrics from the database. It grows while the database is unavailable; NaN before the first reading.",
    labels: [{ name: "reading", values: readings }],
  },
  changeFeedLive: {
    name: "sluice_change_feed_live",
    kind: "gauge",
    area: "database",
    help: "1 while the change feed of keys and the catalog is connected, 0 while caches are bypassed.",
    labels: [],
  },
  jobFailures: {
    name: "sluice_job_failures_total",
    kind: "counter",
    area: "database",
    help: "Failed runs of scheduled jobs in this process.",
    labels: [{ name: "scheduled_job" }],
  },
  redisFallback: {
    name: "sluice_redis_fallback",
    kind: "gauge",
    area: "limits",
    help: "1 while Redis is unavailable and this process counts limits alone; 0 otherwise, also without Redis.",
    labels: [],
  },
  ready: {
    name: "sluice_ready",
    kind: "gauge",
    area: "process",
    help: "1 while `/readyz` returns 200.",
    labels: [],
  },
  clockOffset: {
    name: "sluice_clock_offset_seconds",
    kind: "gauge",
    area: "process",
    help: "How far the machine's clock is ahead of the database's; negative if it is behind.",
    labels: [],
  },
  eventLoopDelay: {
    name: "sluice_event_loop_delay_seconds",
    kind: "histogram",
    area: "process",
    help: "Delay of a 500 ms timer.",
    labels: [],
    buckets: loopSeconds,
  },
  eventLoopTime: {
    name: "sluice_event_loop_seconds_total",
    kind: "counter",
    area: "process",
    help: "Event loop time by state. The active share is the utilization.",
    labels: [{ name: "state", values: ["active", "idle"] }],
  },
  heap: {
    name: "sluice_memory_bytes",
    kind: "gauge",
    area: "process",
    help: "Memory by kind.",
    labels: [{ name: "kind", values: ["heap_used", "heap_total", "external", "array_buffers"] }],
  },
  residentMemory: {
    name: "process_resident_memory_bytes",
    kind: "gauge",
    area: "process",
    help: "Resident memory of the process.",
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
    help: "Start time of the process, in seconds since 1970.",
    labels: [],
  },
  openFiles: {
    name: "process_open_fds",
    kind: "gauge",
    area: "process",
    help: "Open file descriptors, including connections; NaN if unknown.",
    labels: [],
  },
  build: {
    name: "sluice_build_info",
    kind: "gauge",
    area: "process",
    help: "Always 1; the labels contain the version and the currency of all amounts.",
    labels: [{ name: "version" }, { name: "currency" }],
  },
} as const satisfies Record<string, MetricEntry>;

export type MetricTable = typeof metricTable;
export type MetricName = keyof MetricTable;
