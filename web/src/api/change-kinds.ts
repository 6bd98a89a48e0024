import type { QueryKey } from "@tanstack/react-query";
import type { queryTable } from "./query-table.ts";

type Subject = keyof typeof queryTable;

type ChangeTreatment = {
  /** What is asked again when something of the kind changed: everything of a subject, or one of its queries. */
  query: readonly [subject: Subject, name?: string];
  /** How often it is asked again at the most, while changes keep coming. */
  everyMs: number;
};

/** Whoever has pasted their first call looks for it at once. */
const firstCall = { query: ["firstCall"], everyMs: 300 } as const;

/** What the server tells of, and which answers it makes old. A kind that is not here is not heard. */
const changeTable = {
  balance: [...every(3_000, ["balance"], ["charges"], ["ledger"], ["usage"], ["checkouts"]), firstCall],
  tasks: [...every(1_000, ["tasks"]), firstCall],
  deliveries: every(1_000, ["webhooks"], ["tasks", "event"]),
  keys: every(1_000, ["keys"], ["clients"]),
  requests: [
    ...every(1_000, ["requests", "list"], ["requests", "state"]),
    // Its figures are counted from all calls of the time.
    ...every(10_000, ["requests", "summary"]),
    firstCall,
  ],
  site: every(1_000, ["brand"]),
} satisfies Record<string, readonly ChangeTreatment[]>;

function every(everyMs: number, ...queries: ChangeTreatment["query"][]): ChangeTreatment[] {
  return queries.map((query) => ({ query, everyMs }));
}

export type ChangeKind = keyof typeof changeTable;

export const changeKinds = Object.keys(changeTable) as ChangeKind[];

export function listTreatments(kind: ChangeKind): readonly ChangeTreatment[] {
  return changeTable[kind];
}

const fedKeys: readonly QueryKey[] = changeKinds.flatMap((kind) => listTreatments(kind).map(({ query }) => query));

/** Whether the server tells when the answer is no longer true. */
export function isFed(queryKey: QueryKey): boolean {
  return fedKeys.some((prefix) => prefix.every((word, index) => queryKey[index] === word));
}

/** The kinds that a message names. Servers of another version may know others. */
export function parseKinds(data: string): ChangeKind[] {
  const words: unknown = JSON.parse(data);
  return Array.isArray(words) ? changeKinds.filter((kind) => words.includes(kind)) : [];
}
