import { hasMark, isHourMark } from "../../providers/cache-marks.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { NativeRequest } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";
import type { InputSize } from "./measure-input.ts";
import { type AskedKinds, plainKinds } from "./quote-chat.ts";

type Asked = {
  request: ChatRequest;
  /** The same on the caller's own wire, which may say more. */
  native: NativeRequest | undefined;
  size: Pick<InputSize, "isText">;
  rates: Price;
};

/** What a request can be charged for beside plain tokens. Marks are looked for only where they can cost more. */
export function findAskedKinds({ request, native, size, rates }: Asked): AskedKinds {
  const hourWrites = isHourSold(rates) && asksForHour(request, native);
  const audioInput = !size.isText;
  const audioOutput = request.audio !== undefined && request.audio !== null;
  return hourWrites || audioInput || audioOutput ? { hourWrites, audioInput, audioOutput } : plainKinds;
}

/** An hour in a cache costs the operator twice the input: callers have it where it has a price. */
export function isHourSold({ amounts }: Price): boolean {
  return amounts.billingType === "token" && amounts.cacheWrite1hPrice !== null;
}

/** A request of the Messages API may have one mark for all of it. */
function asksForHour(request: ChatRequest, native: NativeRequest | undefined): boolean {
  const whole = native?.body.cache_control;
  const isWholeMarked = typeof whole === "object" && whole !== null && isHourMark(whole as Record<string, unknown>);
  return isWholeMarked || hasMark(request, isHourMark);
}
