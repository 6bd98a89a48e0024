import { ProviderError } from "../contract.ts";
import type { GenerationCall } from "../generation.ts";
import { addressInputs } from "../inline-media.ts";
import { findFieldObstacle, listValues, writeFields } from "../write-media-fields.ts";
import { findFalFields } from "./find-fal-fields.ts";

/** In total: whole videos inside requests would soon fill the queue. */
const inlineBytesMax = 20 * 1024 * 1024;

/** The input of a model. */
export async function buildFalInput({
  request,
  inputs,
  route,
  upstreamModel,
}: GenerationCall): Promise<Record<string, unknown>> {
  const addresses = await addressInputs(inputs, { bytesMax: inlineBytesMax });
  const placed = inputs.map(({ role, contentType }, index) => ({ role, contentType, address: addresses[index] ?? "" }));
  const values = listValues(request, placed);
  const rules = findFalFields(upstreamModel)[request.type];
  if (rules === undefined) throw new ProviderError("rejected", `This endpoint makes no ${request.type}.`);
  const obstacle = findFieldObstacle(values, rules, route);
  if (obstacle !== null) throw new ProviderError("rejected", obstacle.message, { param: obstacle.param });
  return writeFields(values, rules, route);
}
