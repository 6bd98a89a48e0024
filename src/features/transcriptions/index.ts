/**
 * Transcriptions: OpenAI's transcription and translation endpoints, as flat-priced paid calls.
 *
 * Promises: the gateway reads a recording to its end, measures it and checks that it has sound before it puts anything on
 * hold; a rejected recording costs nothing. The price of the whole recording is on hold before an upstream gets it, and
 * no call is charged more. The recording stays on this machine's disk until the call is over. The gateway writes the
 * subtitles, so every upstream that reports timestamps supports them.
 */
export { createTranscriptions, type Transcriptions } from "./transcription-routes.ts";
