import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";

/** The service's currency; `null` until it is known. */
export function useCurrency(): string | null {
  return useTableQuery(queryTable.site.settings()).data?.currency ?? null;
}
