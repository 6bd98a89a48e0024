import { type Brand, loadedBrand } from "../../api/ask-brand.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";

/** Whose site it is: as the page was loaded, and as the operator says since then. */
export function useBrand(): Brand {
  const { data = loadedBrand } = useTableQuery(queryTable.brand.now());
  return data;
}
