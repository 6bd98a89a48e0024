import type { Model } from "../../api/ask-catalog.ts";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { writeModelSamples } from "../../parts/samples/code-samples.ts";

type Surroundings = { baseUrl: string; models: readonly Pick<Model, "id" | "type" | "capabilities">[] };

/**
 * A call to paste into a terminal: chat if the key may chat, else the list of models. The key goes into a variable, so
 * the call itself can be saved and shared.
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
