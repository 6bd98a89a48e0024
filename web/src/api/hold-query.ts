import type { Query } from "@tanstack/react-query";

/** An answer that is to stay as it is, whatever the server tells: somebody reads it, or its time is over. */
export function hold(isOn: boolean) {
  return { meta: { isHeld: isOn } };
}

export function isHeld(query: Pick<Query, "meta">): boolean {
  return query.meta?.isHeld === true;
}
