/**
 * Usage, charges with their explanation, holds and the statement of an account.
 *
 * Promises: every number comes from the ledger, its roll-ups and the charges since, so charges, usage and statement of a
 * period have the same sums. Days and hours follow the account's time zone, independent of the database's
 * time zone data. Reading a page costs the same however long the history is. No account sees another's data.
 */
export { type ChargeRecord, findCharge, listCharges } from "./charge-store.ts";
export {
  createPageSchema,
  createUnknownCursor,
  csvType,
  listFields,
  presentPage,
  toSeconds,
} from "./list-schema.ts";
export { parseRange } from "./parse-period.ts";
export { readTimeZone } from "./sum-usage.ts";
export { addUsageRoutes } from "./usage-routes.ts";
export { chargeFilterFields, moneySchema, periodFields } from "./usage-schema.ts";
