import type { ApiKey } from "./account.ts";
import { findKeyClient } from "./client-keys.ts";

export const keyKinds = ["secret", "client", "console"] as const;
/** Whether a person made a key for their own use, a program got it through a browser, or it stands for the console. */
type KeyKind = (typeof keyKinds)[number];

export function findKeyKind(apiKey: Pick<ApiKey, "name" | "isConsole">): KeyKind {
  if (apiKey.isConsole) return "console";
  return findKeyClient(apiKey) === null ? "secret" : "client";
}
