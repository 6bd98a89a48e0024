import { setTimeout as wait } from "node:timers/promises";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import type { AuthorizationOptions, IssuedKey } from "./authorize-browser.ts";
import { CliError } from "./cli-error.ts";
import { cleanText } from "./paint.ts";

type DeviceOffer = {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string;
  interval: number;
  expires_in: number;
};

const intervalSecondsMin = 1;
const slowerBySeconds = 5;

/** For machines without a browser: the user enters a code on another device. */
export async function authorizeDevice({ siteApi, client, terminal, signal }: AuthorizationOptions): Promise<string> {
  const offer = await siteApi.ask<DeviceOffer>({ method: "POST", path: "/connect/device", json: { client }, signal });
  const { paintError } = terminal;
  terminal.complain(
    `On any device, open\n\n  ${cleanText(offer.verification_uri)}\n\nand enter  ${paintError.bold(cleanText(offer.user_code))}\n`,
  );
  let intervalSeconds = Math.max(intervalSecondsMin, offer.interval);
  const endsMs = performance.now() + offer.expires_in * 1000;
  while (performance.now() < endsMs) {
    await wait(intervalSeconds * 1000, undefined, { signal });
    const answer = await askForKey(offer.device_code, { siteApi, signal });
    if (typeof answer !== "string") return answer.api_key;
    if (answer === "slow_down") intervalSeconds += slowerBySeconds;
  }
  throw createExpiry();
}

async function askForKey(
  device_code: string,
  { siteApi, signal }: { siteApi: ApiClient; signal: AbortSignal },
): Promise<IssuedKey | "authorization_pending" | "slow_down"> {
  try {
    const call = { method: "POST", path: "/connect/device/token", json: { device_code }, signal } as const;
    return await siteApi.ask<IssuedKey>(call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === "authorization_pending" || error.code === "slow_down") return error.code;
    if (error.code === "access_denied") throw new CliError("Access was denied. No changes.", { cause: error });
    if (error.code === "expired_token") throw createExpiry();
    throw error;
  }
}

function createExpiry(): CliError {
  return new CliError("The code has expired.", { remedy: "Run: sluice login --device" });
}
