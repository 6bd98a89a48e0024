import type { QueryClient } from "@tanstack/react-query";

/** After money came in: the balance with its buckets, and every list that has it. */
export async function refreshMoney(queries: QueryClient): Promise<void> {
  await Promise.all(["balance", "ledger", "checkouts"].map((name) => queries.invalidateQueries({ queryKey: [name] })));
}
