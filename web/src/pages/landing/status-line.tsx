import type { ServiceStatus } from "../../api/ask-showcase.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { nameType } from "../../parts/format/model-words.ts";

const looks: Record<ServiceStatus["state"], { dot: string; sentence: string }> = {
  ok: { dot: "bg-success", sentence: "All systems operational" },
  degraded: { dot: "bg-warning", sentence: "Some systems are degraded" },
  down: { dot: "bg-danger", sentence: "Service outage" },
};

const systemNames: Readonly<Record<string, string>> = { api: "API", database: "Database", workers: "Tasks" };

/** Service status, with the affected systems. */
export function StatusLine() {
  const { data, error } = useTableQuery(queryTable.showcase.status());
  if (data === undefined) return error === null ? null : <p>Status unavailable</p>;
  const { dot, sentence } = looks[data.state];
  const affected = data.checks
    .filter(({ state }) => state !== "ok")
    .map(({ name }) => systemNames[name] ?? nameType(name));
  return (
    <p className="flex items-center gap-2">
      <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${dot}`} />
      {affected.length === 0 ? `${sentence}.` : `${sentence}: ${affected.join(", ")}.`}
    </p>
  );
}
