/** A panel's query and its legend. */
type Query = { expr: string; legend: string };

type Panel = { title: string; unit: string; queries: readonly Query[]; type?: "timeseries" | "stat" };

type Row = { title: string; panels: readonly Panel[] };

/** Matches the gateways selected in the dashboard's variables. */
const own = 'job="$job", instance=~"$instance"';
const rate = (metric: string, matchers = ""): string =>
  `rate(${metric}{${own}${matchers === "" ? "" : `, ${matchers}`}}[$__rate_interval])`;
const sum = (by: string, expr: string): string => `sum by (${by}) (${expr})`;
const quantile = (share: number, by: string, metric: string, matchers = ""): string =>
  `histogram_quantile(${share}, sum by (le${by === "" ? "" : `, ${by}`}) (${rate(`${metric}_bucket`, matchers)}))`;
/** Takes the maximum of metrics that every gateway reports equally, instead of the sum. */
const shared = (metric: string, by = ""): string => `max${by === "" ? "" : ` by (${by})`} (${metric}{job="$job"})`;
const plain = (metric: string): string => `${metric}{${own}}`;

const traffic: Row = {
  title: "Traffic",
  panels: [
    {
      title: "Requests by status",
      unit: "reqps",
      queries: [
        {
          expr: sum("status_class", rate("sluice_http_request_duration_seconds_count")),
          legend: "{{status_class}}",
        },
      ],
    },
    {
      title: "Latency by route, 95 %",
      unit: "s",
      queries: [
        {
          expr: quantile(0.95, "route", "sluice_http_request_duration_seconds", 'route=~"/v1/.*"'),
          legend: "{{route}}",
        },
      ],
    },
    {
      title: "Time to first token",
      unit: "s",
      queries: [
        { expr: quantile(0.5, "model", "sluice_time_to_first_token_seconds"), legend: "{{model}} 50 %" },
        { expr: quantile(0.95, "model", "sluice_time_to_first_token_seconds"), legend: "{{model}} 95 %" },
      ],
    },
    {
      title: "Tokens",
      unit: "short",
      queries: [{ expr: sum("model, direction", rate("sluice_tokens_total")), legend: "{{model}} {{direction}}" }],
    },
    {
      title: "Errors by code",
      unit: "reqps",
      queries: [{ expr: sum("code", rate("sluice_http_errors_total")), legend: "{{code}}" }],
    },
    {
      title: "Requests in progress",
      unit: "short",
      queries: [{ expr: plain("sluice_http_requests_in_progress"), legend: "{{instance}}" }],
    },
    {
      title: "Request log",
      unit: "reqps",
      queries: [
        { expr: sum("instance", rate("sluice_request_log_written_total")), legend: "{{instance}} written" },
        { expr: sum("instance", rate("sluice_request_log_lost_total")), legend: "{{instance}} lost" },
      ],
    },
  ],
};

const money: Row = {
  title: "Money",
  panels: [
    {
      title: "Charged per hour, by model",
      unit: "short",
      queries: [{ expr: `3600 * ${sum("model", rate("sluice_charged_amount_total"))}`, legend: "{{model}}" }],
    },
    {
      title: "Charges",
      unit: "ops",
      queries: [{ expr: sum("model", rate("sluice_charges_total")), legend: "{{model}}" }],
    },
    {
      title: "Upstream cost per hour, by model",
      unit: "short",
      queries: [{ expr: `3600 * ${sum("model", rate("sluice_upstream_cost_total"))}`, legend: "{{model}}" }],
    },
    {
      title: "Reported and computed cost, last hour",
      unit: "short",
      queries: [
        {
          expr: `sum by (upstream) (increase(sluice_upstream_cost_reported_total{${own}}[1h]))`,
          legend: "{{upstream}} reported",
        },
        {
          expr: `sum by (upstream) (increase(sluice_upstream_cost_computed_total{${own}}[1h]))`,
          legend: "{{upstream}} computed",
        },
      ],
    },
    {
      title: "Lost amount, last hour",
      unit: "short",
      queries: [{ expr: `sum by (model) (increase(sluice_lost_amount_total{${own}}[1h]))`, legend: "{{model}}" }],
    },
    {
      title: "Calls failed inside the gateway, last hour",
      unit: "short",
      queries: [{ expr: `sum by (model) (increase(sluice_call_faults_total{${own}}[1h]))`, legend: "{{model}}" }],
    },
    {
      title: "Delivered but not charged, last day",
      unit: "short",
      type: "stat",
      queries: [{ expr: `sum by (work) (increase(sluice_uncharged_work_total{${own}}[1d]))`, legend: "{{work}}" }],
    },
    {
      title: "Open holds",
      unit: "short",
      queries: [
        { expr: shared("sluice_holds_open", "unit"), legend: "{{unit}}" },
        { expr: shared("sluice_holds_open_amount"), legend: "money on hold" },
      ],
    },
    {
      title: "Ledger violations, last day",
      unit: "short",
      type: "stat",
      queries: [{ expr: `sum(increase(sluice_ledger_violations_total{${own}}[1d]))`, legend: "violations" }],
    },
  ],
};

const upstreams: Row = {
  title: "Upstreams",
  panels: [
    {
      title: "Outcomes",
      unit: "ops",
      queries: [
        {
          expr: sum("upstream, outcome", rate("sluice_upstream_outcomes_total")),
          legend: "{{upstream}} {{outcome}}",
        },
      ],
    },
    {
      title: "Error rate",
      unit: "percentunit",
      queries: [
        {
          expr: `${sum("upstream", rate("sluice_upstream_outcomes_total", 'outcome!~"answered|abandoned|rejected|content-refused|too-long"'))} / ${sum("upstream", rate("sluice_upstream_outcomes_total"))}`,
          legend: "{{upstream}}",
        },
      ],
    },
    {
      title: "Open and half-open circuits",
      unit: "short",
      queries: [
        {
          expr: `sum by (upstream, state) (sluice_upstream_circuits{${own}, state!="closed"})`,
          legend: "{{upstream}} {{state}}",
        },
      ],
    },
  ],
};

const tasks: Row = {
  title: "Tasks",
  panels: [
    {
      title: "Open tasks",
      unit: "short",
      queries: [
        { expr: shared("sluice_tasks_open", "state"), legend: "{{state}}" },
        { expr: shared("sluice_upstream_tasks", "upstream, state"), legend: "{{upstream}} {{state}}" },
      ],
    },
    {
      title: "Lag",
      unit: "s",
      queries: [
        { expr: shared("sluice_task_lag_seconds"), legend: "due for a worker" },
        { expr: shared("sluice_tasks_oldest_queued_seconds"), legend: "oldest queued" },
      ],
    },
    {
      title: "Ended",
      unit: "ops",
      queries: [{ expr: sum("type, state", rate("sluice_task_duration_seconds_count")), legend: "{{type}} {{state}}" }],
    },
    {
      title: "Duration, 95 %",
      unit: "s",
      queries: [
        { expr: quantile(0.95, "type", "sluice_task_duration_seconds", 'state="succeeded"'), legend: "{{type}}" },
      ],
    },
  ],
};

const deliveries: Row = {
  title: "Deliveries",
  panels: [
    {
      title: "Attempts",
      unit: "ops",
      queries: [
        { expr: sum("outcome", rate("sluice_delivery_attempt_duration_seconds_count")), legend: "{{outcome}}" },
      ],
    },
    {
      title: "Pending and lag",
      unit: "short",
      queries: [
        { expr: shared("sluice_deliveries_pending"), legend: "pending" },
        { expr: shared("sluice_delivery_lag_seconds"), legend: "lag in seconds" },
      ],
    },
    {
      title: "Duration of attempts, 95 %",
      unit: "s",
      queries: [{ expr: quantile(0.95, "outcome", "sluice_delivery_attempt_duration_seconds"), legend: "{{outcome}}" }],
    },
  ],
};

const database: Row = {
  title: "Database",
  panels: [
    {
      title: "Waiting ledger operations",
      unit: "short",
      queries: [
        { expr: plain("sluice_ledger_queue_length"), legend: "{{instance}} operations" },
        { expr: plain("sluice_ledger_queue_oldest_seconds"), legend: "{{instance}} oldest, in seconds" },
      ],
    },
    {
      title: "Group commits",
      unit: "s",
      queries: [
        { expr: quantile(0.5, "", "sluice_ledger_commit_duration_seconds"), legend: "50 %" },
        { expr: quantile(0.99, "", "sluice_ledger_commit_duration_seconds"), legend: "99 %" },
      ],
    },
    {
      title: "Operations per group commit",
      unit: "short",
      queries: [
        { expr: quantile(0.5, "", "sluice_ledger_batch_operations"), legend: "50 %" },
        { expr: quantile(0.99, "", "sluice_ledger_batch_operations"), legend: "99 %" },
      ],
    },
    {
      title: "Failed commits and jobs",
      unit: "ops",
      queries: [
        { expr: sum("instance", rate("sluice_ledger_failed_commits_total")), legend: "{{instance}} group commits" },
        { expr: sum("scheduled_job", rate("sluice_job_failures_total")), legend: "{{scheduled_job}}" },
      ],
    },
    {
      title: "Pool",
      unit: "short",
      queries: [
        {
          expr: `sum by (instance, state) (${plain("sluice_database_pool_connections")})`,
          legend: "{{instance}} {{state}}",
        },
        { expr: plain("sluice_database_pool_waiting"), legend: "{{instance}} waiting" },
        { expr: plain("sluice_database_pool_connections_max"), legend: "{{instance}} max" },
      ],
    },
    {
      title: "Age of database readings",
      unit: "s",
      queries: [{ expr: plain("sluice_database_reading_age_seconds"), legend: "{{instance}} {{reading}}" }],
    },
  ],
};

const processes: Row = {
  title: "Process",
  panels: [
    {
      title: "In service",
      unit: "short",
      queries: [
        { expr: plain("sluice_ready"), legend: "{{instance}} ready" },
        { expr: plain("sluice_change_feed_live"), legend: "{{instance}} change feed live" },
        { expr: plain("sluice_redis_fallback"), legend: "{{instance}} without Redis" },
      ],
    },
    {
      title: "Event loop: utilization",
      unit: "percentunit",
      queries: [
        {
          expr: `${sum("instance", rate("sluice_event_loop_seconds_total", 'state="active"'))} / ${sum("instance", rate("sluice_event_loop_seconds_total"))}`,
          legend: "{{instance}}",
        },
      ],
    },
    {
      title: "Event loop: delay, 99 %",
      unit: "s",
      queries: [{ expr: quantile(0.99, "instance", "sluice_event_loop_delay_seconds"), legend: "{{instance}}" }],
    },
    {
      title: "Memory",
      unit: "bytes",
      queries: [
        { expr: plain("process_resident_memory_bytes"), legend: "{{instance}} resident" },
        { expr: plain("sluice_memory_bytes"), legend: "{{instance}} {{kind}}" },
      ],
    },
    {
      title: "CPU",
      unit: "percentunit",
      queries: [{ expr: rate("process_cpu_seconds_total"), legend: "{{instance}}" }],
    },
    {
      title: "Open files",
      unit: "short",
      queries: [{ expr: plain("process_open_fds"), legend: "{{instance}}" }],
    },
    {
      title: "Clock offset from the database",
      unit: "s",
      queries: [{ expr: plain("sluice_clock_offset_seconds"), legend: "{{instance}}" }],
    },
    {
      title: "Uptime",
      unit: "s",
      queries: [{ expr: `time() - ${plain("process_start_time_seconds")}`, legend: "{{instance}}" }],
    },
    {
      title: "Version",
      unit: "short",
      type: "stat",
      queries: [{ expr: sum("version, currency", plain("sluice_build_info")), legend: "{{version}}, {{currency}}" }],
    },
  ],
};

const rows: readonly Row[] = [traffic, money, upstreams, tasks, deliveries, database, processes];

const source = { type: "prometheus", uid: "${datasource}" };
const [panelWidth, panelHeight, panelsInLine] = [8, 8, 3];

/** Generates the dashboard for Grafana 11 and later. */
export function presentDashboard(): string {
  const dashboard = {
    uid: "sluice",
    title: "Sluice",
    description: "docs/operating/observing.md explains the metrics, docs/operating/run-book.md what to do.",
    tags: ["sluice"],
    schemaVersion: 39,
    editable: true,
    graphTooltip: 1,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    timezone: "browser",
    templating: { list: listVariables() },
    annotations: { list: [] },
    links: [],
    panels: layOut(),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}

function listVariables() {
  const query = { type: "query", datasource: source, refresh: 2, sort: 1, options: [], hide: 0 };
  return [
    { name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus", current: {}, hide: 0 },
    {
      ...{ ...query, name: "job", label: "Job", multi: false, includeAll: false },
      current: { selected: true, text: "sluice", value: "sluice" },
      definition: "label_values(sluice_build_info, job)",
      query: { qryType: 1, query: "label_values(sluice_build_info, job)", refId: "job" },
    },
    {
      ...{ ...query, name: "instance", label: "Gateway", multi: true, includeAll: true, allValue: ".*" },
      current: { selected: true, text: ["All"], value: ["$__all"] },
      definition: 'label_values(sluice_build_info{job="$job"}, instance)',
      query: { qryType: 1, query: 'label_values(sluice_build_info{job="$job"}, instance)', refId: "instance" },
    },
  ];
}

/** Lays out three panels per line. */
function layOut(): object[] {
  const laidOut: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    laidOut.push({
      ...{ id: laidOut.length + 1, type: "row", title, collapsed: false, panels: [] },
      gridPos: { h: 1, w: 24, x: 0, y },
    });
    y += 1;
    for (const [index, panel] of panels.entries()) {
      const x = (index % panelsInLine) * panelWidth;
      const line = y + Math.floor(index / panelsInLine) * panelHeight;
      laidOut.push(presentPanel(panel, laidOut.length + 1, { h: panelHeight, w: panelWidth, x, y: line }));
    }
    y += Math.ceil(panels.length / panelsInLine) * panelHeight;
  }
  return laidOut;
}

function presentPanel({ title, unit, queries, type = "timeseries" }: Panel, id: number, gridPos: object): object {
  return {
    ...{ id, type, title, gridPos, datasource: source },
    fieldConfig: { defaults: { unit }, overrides: [] },
    options:
      type === "stat"
        ? { reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false }, textMode: "value_and_name" }
        : {
            legend: { displayMode: "list", placement: "bottom", showLegend: true },
            tooltip: { mode: "multi", sort: "desc" },
          },
    targets: queries.map(({ expr, legend }, index) => ({
      ...{ refId: String.fromCharCode(65 + index), datasource: source, editorMode: "code", range: true },
      ...{ expr, legendFormat: legend },
    })),
  };
}
