import type { QueryKey } from "@tanstack/react-query";
import type { queryTable } from "./query-table.ts";

type Subject = keyof typeof queryTable;

type ChangeTreatment = {
  /** What is asked again when something of the kind changed: everything of a subject, or one of its queries. */
  queries: readonly (readonly [subject: Subject, name?: string])[];
  /** How often it is asked again at the most, while changes keep coming. */
  everyMs: number;
};

/** What the server tells of, and which answers it makes old. A kind that is not here is not heard. */
const changeTable = {
  balance: { queries: [["balance"], ["charges"], ["ledger"], ["usage"], ["checkouts"]], everyMs: 3_000 },
  tasks: { queries: [["tasks"]], everyMs: 1_000 },
  deliveries: { queries: [["webhooks"], ["tasks", "event"]], everyMs: 1_000 },
  keys: { queries: [["keys"], ["clients"]], everyMs: 1_000 },
  // The log's list and figures follow the page's own switch between live and paused.
  requests: { queries: [["requests", "state"]], everyMs: 2_000 },
} as const satisfies Record<string, ChangeTreatment>;

export type ChangeKind = keyof typeof changeTable;

export const changeKinds = Object.keys(changeTable) as ChangeKind[];

export function getTreatment(kind: ChangeKind): ChangeTreatment {
  return changeTable[kind];
}

const fedKeys: readonly QueryKey[] = changeKinds.flatMap((kind) => [...getTreatment(kind).queries]);

/** Whether the server tells when the answer is no longer true. */
export function isFed(queryKey: QueryKey): boolean {
  return fedKeys.some((prefix) => prefix.every((word, index) => queryKey[index] === word));
}

/** The kinds that a message names. Servers of another version may know others. */
export function parseKinds(data: string): ChangeKind[] {
  const words: unknown = JSON.parse(data);
  return Array.isArray(words) ? changeKinds.filter((kind) => words.includes(kind)) : [];
}
