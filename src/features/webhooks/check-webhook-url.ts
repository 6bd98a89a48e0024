import { AppError } from "../../platform/errors/app-error.ts";
import { checkPublicUrl } from "../../platform/net/check-public-url.ts";
import { urlCharactersMax } from "./webhook-endpoint.ts";

/** Throws if a URL cannot be delivered to, as far as it can be known offline. DNS is checked on every attempt (SSRF). */
export function checkWebhookUrl(
  url: string,
  { param, allowsPrivate }: { param: string; allowsPrivate: boolean },
): void {
  const obstacle = checkPublicUrl(url, { allowsPrivate }) ?? checkLength(url);
  if (obstacle !== null) throw new AppError("invalid_url", obstacle, { param });
}

/** The canonical form that is stored and compared. Fragments are never sent. */
export function normaliseUrl(url: string): string {
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}

function checkLength(url: string): string | null {
  const isLong = url.length > urlCharactersMax || normaliseUrl(url).length > urlCharactersMax;
  return isLong ? `The URL has more than ${urlCharactersMax} characters.` : null;
}
