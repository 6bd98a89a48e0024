import { hasMark, isHourMark } from "../../providers/cache-control.ts";
import type { ChatRequest } from "../../providers/chat-request.ts";
import type { NativeRequest } from "../../providers/contract.ts";
import type { Price } from "../catalog/index.ts";
import type { InputSize } from "./measure-input.ts";
import { type AskedKinds, plainKinds } from "./quote-chat.ts";

type Asked = {
  request: ChatRequest;
  /** The request as the caller sent it in another API's format, which may contain more. */
  native: NativeRequest | undefined;
  size: Pick<InputSize, "isText">;
  rates: Price;
};

/**
 * The token types with a price of their own that a request can use. Cache marks are searched only if they can cost
 * more.
 */
export function findAskedKinds({ request, native, size, rates }: Asked): AskedKinds {
  const hourWrites = hasHourCachePrice(rates) && asksForHour(request, native);
  const audioInput = !size.isText;
  const audioOutput = request.audio !== undefined && request.audio !== null;
  return hourWrites || audioInput || audioOutput ? { hourWrites, audioInput, audioOutput } : plainKinds;
}

/** A cache write of one hour costs the operator twice the input price, so callers get it only if it has a price. */
export function hasHourCachePrice({ amounts }: Price): boolean {
  return amounts.billingType === "token" && amounts.cacheWrite1hPrice !== null;
}

/** A Messages request may have one cache mark for the whole prompt. */
function asksForHour(request: ChatRequest, native: NativeRequest | undefined): boolean {
  const whole = native?.body.cache_control;
  const isWholeMarked = typeof whole === "object" && whole !== null && isHourMark(whole as Record<string, unknown>);
  return isWholeMarked || hasMark(request, isHourMark);
}
