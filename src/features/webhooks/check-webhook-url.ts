import { AppError } from "../../platform/errors/app-error.ts";
import { checkPublicUrl } from "../../platform/net/check-public-url.ts";
import { urlCharactersMax } from "./webhook-endpoint.ts";

/**
 * Throws where an address cannot be delivered to, as far as that can be known without the network. What its name leads
 * to is checked whenever something is sent there.
 */
export function checkWebhookUrl(
  url: string,
  { param, allowsPrivate }: { param: string; allowsPrivate: boolean },
): void {
  const obstacle = checkPublicUrl(url, { allowsPrivate }) ?? checkLength(url);
  if (obstacle !== null) throw new AppError("invalid_url", obstacle, { param });
}

/** The one spelling under which an address is kept and compared. What is after a # is never sent. */
export function normaliseUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}

function checkLength(url: string): string | null {
  const isLong = url.length > urlCharactersMax || normaliseUrl(url).length > urlCharactersMax;
  return isLong ? `The URL has more than ${urlCharactersMax} characters.` : null;
}
