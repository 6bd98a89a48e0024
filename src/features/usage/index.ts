/**
 * What an account used, what it was charged for it and why, and where its money went.
 *
 * Promises: everything is read from the ledger and the roll-ups that it writes with each charge, so that the charges of a
 * time, its usage and its statement have the same sums. Days and hours are those of the account's time zone, whatever the database
 * knows of time zones. However long a history is, a page of it costs a page. Nobody sees another account's.
 */
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
