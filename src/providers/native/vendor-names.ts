import type { ChatCall } from "../contract.ts";

/** What would name the upstream in an event that nobody knows the meaning of. */
export type VendorNames = {
  /** The vendor's own id of the answer, once it is known. */
  add(name: unknown): void;
  areIn(text: string): boolean;
};

export function createVendorNames({ upstreamModel, apiKey }: ChatCall, host: string): VendorNames {
  const names = [upstreamModel, host, '"request_id"', ...(apiKey === null || apiKey === "" ? [] : [apiKey])];
  return {
    add(name) {
      if (typeof name === "string" && name !== "") names.push(name);
    },
    areIn: (text) => names.some((name) => text.includes(name)),
  };
}
