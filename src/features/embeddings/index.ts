/**
 * Embeddings: OpenAI's embeddings endpoint, as a flat-priced paid call.
 *
 * Promises: a call returns one vector per input, in the order of the inputs, with the requested encoding and length, or
 * it returns an error. Only input tokens are charged, as the upstream reports them. Without a report the gateway counts
 * them, and the charge says so. Nothing of the upstream's answer but its vectors reaches the caller.
 */
export { createEmbeddings, type Embeddings } from "./embedding-routes.ts";
