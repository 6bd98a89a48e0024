/**
 * Speech: OpenAI's speech endpoint, as a paid call, or with `Prefer: respond-async` as a task.
 *
 * Promises: the caller receives audio as the upstream produces it. The price of the whole text is on hold before an
 * upstream gets the text. A caller who hangs up pays for the whole text. If the upstream breaks off and reports how many
 * characters it spoke, only those are charged. An `Idempotency-Key` runs one call or creates one task.
 */
export { createSpeech, type Speech } from "./speech-routes.ts";
