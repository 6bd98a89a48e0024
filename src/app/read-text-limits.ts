import { findAccount } from "../features/accounts/index.ts";
import { hasPaid } from "../features/ledger/index.ts";
import type { createResponses } from "../features/responses/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { readJsonLimits } from "./read-json-limits.ts";

type TextLimits = Pick<Parameters<typeof createResponses>[0], "itemLimits" | "textLimits">;

/** How much text an account may store, and how much of it a response may go on from. */
export function readTextLimits(settings: Settings): TextLimits {
  return {
    itemLimits: { ...readJsonLimits(settings), bytesMax: settings.json_body_bytes_max },
    textLimits: {
      accountBytesMax: settings.account_text_bytes_max,
      unpaidBytesMax: settings.unpaid_text_bytes_max,
      hasPaid: async (database, accountId) =>
        (await hasPaid(database, accountId)) || (await findAccount(database, accountId))?.planId !== null,
    },
  };
}
