/**
 * Mails to account owners about their money.
 *
 * Promises: a notice commits with the change that it reports, and is mailed once, by a job. A repeated event has the same
 * notice id, so it causes no second mail.
 */
export { insertNotice } from "./notice-store.ts";
export { sendNotices } from "./send-notices.ts";
