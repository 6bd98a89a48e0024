/**
 * Embeddings: OpenAI's embeddings endpoint, as a paid call.
 *
 * Promises: there is one vector for each input, in the order of the inputs, in the form and of the length that were
 * asked for, or an error. Only input is charged: the tokens that the upstream reports, and by our own count where it does
 * not, which the charge then says. Vectors are the model's; nothing else of the upstream's answer is handed on.
 */
export { createEmbeddings, type Embeddings } from "./create-embeddings.ts";
