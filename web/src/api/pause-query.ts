import type { Query } from "@tanstack/react-query";

/** Marks a query that change events must not refetch: the user paused it, or its period is over. */
export function hold(isOn: boolean) {
  return { meta: { isHeld: isOn } };
}

export function isHeld(query: Pick<Query, "meta">): boolean {
  return query.meta?.isHeld === true;
}
