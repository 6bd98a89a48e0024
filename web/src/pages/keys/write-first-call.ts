import type { Model } from "../../api/ask-catalog.ts";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { writeModelSamples } from "../../parts/samples/code-samples.ts";

type Surroundings = { baseUrl: string; models: readonly Pick<Model, "id" | "type" | "capabilities">[] };

/**
 * Something that the key may do, to be pasted into a terminal: a word from a chat model where it may use one, else the
 * list of models. The key goes into a variable, so that the call itself can be kept and shared.
 */
export function writeFirstCall(
  { key, models: allowed, endpoints }: NewApiKey,
  { baseUrl, models }: Surroundings,
): string {
  const mayChat = endpoints === null || endpoints.includes("chat");
  const model = models.find(({ id, type }) => type === "chat" && (allowed === null || allowed.includes(id)));
  const [curl] = mayChat && model !== undefined ? writeModelSamples(model, baseUrl) : [null];
  const call = curl?.code ?? `curl -sS ${baseUrl}/models \\\n  -H "Authorization: Bearer $SLUICE_API_KEY"`;
  return `export SLUICE_API_KEY=${key}\n\n${call}`;
}
