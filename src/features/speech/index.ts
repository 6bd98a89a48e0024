/**
 * Speech: OpenAI's speech endpoint, as a paid call, or with `Prefer: respond-async` as a task.
 *
 * Promises: audio is sent as the upstream makes it. The price of the whole text is on hold before an upstream gets the
 * text, and is charged once the upstream accepts it, also if the caller hangs up. If the upstream breaks off and reports
 * how many characters it spoke, only those are charged. An `Idempotency-Key` runs one call or creates one task.
 */
export { createSpeech, type Speech } from "./speech-routes.ts";
