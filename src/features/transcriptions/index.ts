/**
 * Transcriptions: what is said in a recording, written down in its language or in English.
 *
 * Promises: a recording is read to its end, measured and found to have sound in it before anything is put on hold; what is
 * refused costs nothing. The price of all of it is on hold before an upstream gets it, and nothing beyond that is charged.
 * The recording lies on this machine's disk until the call is over, and not longer. Subtitles are written here, so that
 * every upstream that tells times has them.
 */
export { createTranscriptions, type Transcriptions } from "./create-transcriptions.ts";
