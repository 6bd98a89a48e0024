import { type Brand, loadedBrand } from "../../api/fetch-brand.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";

/** The brand at page load, updated when the operator changes it. */
export function useBrand(): Brand {
  const { data = loadedBrand } = useTableQuery(queryTable.brand.now());
  return data;
}
