import type { ServiceStatus } from "../../api/ask-showcase.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { nameType } from "../../parts/model-words.ts";

const looks: Record<ServiceStatus["state"], { dot: string; sentence: string }> = {
  ok: { dot: "bg-success", sentence: "All parts work" },
  degraded: { dot: "bg-warning", sentence: "Some parts do not work as they should" },
  down: { dot: "bg-danger", sentence: "The service does not work at the moment" },
};

const partNames: Readonly<Record<string, string>> = { api: "API", database: "Database", workers: "Tasks" };

/** How the service is now; which parts are amiss, where some are. */
export function StatusLine() {
  const { data, error } = useTableQuery(queryTable.showcase.status());
  if (data === undefined) return error === null ? null : <p>How the service is cannot be asked at the moment.</p>;
  const { dot, sentence } = looks[data.state];
  const troubled = data.checks
    .filter(({ state }) => state !== "ok")
    .map(({ name }) => partNames[name] ?? nameType(name));
  return (
    <p className="flex items-center gap-2">
      <span aria-hidden="true" className={`size-2 shrink-0 rounded-full ${dot}`} />
      {troubled.length === 0 ? `${sentence}.` : `${sentence}: ${troubled.join(", ")}.`}
    </p>
  );
}
