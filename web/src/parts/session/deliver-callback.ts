const fetchTimeoutMs = 3_000;
const popupFeatures = "popup,width=480,height=360";

export type DeliveryWay = "fetch" | "popup" | "by-hand";

/** Whether a request to a local program needs no permission, or has it. */
export function canFetchLoopback(hostname: string, permission: PermissionState | null): boolean {
  return permission === "granted" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** An empty popup. Browsers allow it only during a click, so it opens before the key exists. */
export function openPopup(): Window | null {
  const popup = window.open("", "_blank", popupFeatures);
  if (popup !== null) {
    popup.document.title = "Connecting";
    popup.document.body.textContent = "Connecting to the program on this computer …";
  }
  return popup;
}

/**
 * Delivers the callback URL to the local program. The URL with the key appears in no address bar, history or storage of
 * this site.
 */
export async function deliverCallback(callbackUrl: string, popup: Window | null): Promise<DeliveryWay> {
  if (popup !== null && !popup.closed) {
    popup.location.replace(callbackUrl);
    return "popup";
  }
  if (await fetchQuietly(callbackUrl)) return "fetch";
  const secondPopup = openPopup();
  if (secondPopup === null) return "by-hand";
  secondPopup.location.replace(callbackUrl);
  return "popup";
}

async function fetchQuietly(url: string): Promise<boolean> {
  try {
    // biome-ignore lint/style/noRestrictedGlobals: calls a local program, not our server.
    await fetch(url, {
      mode: "no-cors",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(fetchTimeoutMs),
    });
    return true;
  } catch {
    // Blocked, rejected or not running: the page falls back to other ways.
    return false;
  }
}
