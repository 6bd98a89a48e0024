import type { ChatCall } from "../contract.ts";

/** Names that would reveal the upstream in an unknown event. */
export type VendorNames = {
  /** Adds the vendor's id of the answer. */
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
