const fetchTimeoutMs = 3_000;
const popupFeatures = "popup,width=480,height=360";

export type DeliveryWay = "fetch" | "popup" | "by-hand";

/** Where a request to a program on this computer needs nobody's permission, or has it. */
export function canFetchLoopback(hostname: string, permission: PermissionState | null): boolean {
  return permission === "granted" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** A small empty window. Browsers allow it only while they handle a click, so it is opened before the key exists. */
export function openPopup(): Window | null {
  const popup = window.open("", "_blank", popupFeatures);
  if (popup !== null) {
    popup.document.title = "Handing over";
    popup.document.body.textContent = "Handing over to the program on this computer …";
  }
  return popup;
}

/**
 * Brings the callback address, with what is in it, to the program that waits on this computer. The address is given to
 * the other side only: it appears in no address bar, history or storage of this site.
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
    // biome-ignore lint/style/noRestrictedGlobals: this is the browser, and the other side is no server of ours.
    await fetch(url, {
      mode: "no-cors",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: AbortSignal.timeout(fetchTimeoutMs),
    });
    return true;
  } catch {
    // Blocked, refused or nobody there: there are other ways, and the page goes on to them.
    return false;
  }
}
