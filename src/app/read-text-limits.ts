import { findAccount } from "../features/accounts/index.ts";
import { hasPaid } from "../features/ledger/index.ts";
import type { createResponses } from "../features/responses/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { readJsonLimits } from "./read-json-limits.ts";

type TextLimits = Pick<Parameters<typeof createResponses>[0], "itemLimits" | "textLimits">;

/** Limits on stored text per account, and on the text that a response may continue. */
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
