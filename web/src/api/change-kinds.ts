import type { QueryKey } from "@tanstack/react-query";
import type { queryTable } from "./query-table.ts";

type Subject = keyof typeof queryTable;

type ChangeTreatment = {
  /** The queries to refetch on a change: a whole subject, or one of its queries. */
  query: readonly [subject: Subject, name?: string];
  /** Minimum interval between refetches. */
  everyMs: number;
};

/** Refetch first-call status immediately: new users wait for it. */
const firstCall = { query: ["firstCall"], everyMs: 300 } as const;

/** Change kinds the server sends, and the queries each invalidates. Unknown kinds are ignored. */
const changeTable = {
  balance: [
    ...every(3_000, ["balance"], ["charges"], ["ledger"], ["usage"], ["checkouts"], ["documents"], ["topUps"]),
    firstCall,
  ],
  tasks: [...every(1_000, ["tasks"]), firstCall],
  deliveries: every(1_000, ["webhooks"], ["tasks", "event"]),
  keys: every(1_000, ["keys"], ["clients"]),
  requests: [
    ...every(1_000, ["requests", "list"], ["requests", "state"]),
    // The summary aggregates all requests of the period.
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

/** Whether the server pushes changes for this query. */
export function isFed(queryKey: QueryKey): boolean {
  return fedKeys.some((prefix) => prefix.every((word, index) => queryKey[index] === word));
}

/** The known kinds in a message; servers of another version may send others. */
export function parseKinds(data: string): ChangeKind[] {
  const words: unknown = JSON.parse(data);
  return Array.isArray(words) ? changeKinds.filter((kind) => words.includes(kind)) : [];
}
