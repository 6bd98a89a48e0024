import { AppError } from "../../platform/errors/app-error.ts";
import { countInput } from "../chat/index.ts";
import { readResponseRequest } from "./read-response-request.ts";
import type { PlacedItem, ResponseRequest } from "./response-request.ts";

/** Counts the input as it is charged without a usage report of the upstream. */
export function countInputTokens(request: ResponseRequest, items: readonly PlacedItem[]): number {
  const { chat, obstacle } = readResponseRequest(request, items);
  if (obstacle === null) return countInput(chat);
  const message = `\`${obstacle.param}\` can't be counted: only the upstream knows its size.`;
  throw new AppError("unsupported_capability", message, { param: obstacle.param });
}
