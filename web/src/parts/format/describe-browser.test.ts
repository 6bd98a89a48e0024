import { expect, test } from "vitest";
import { describeBrowser } from "./describe-browser.ts";

test.for([
  ["Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36", "Chrome on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 Safari/537.36 Edg/156.0", "Edge on Windows"],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605 Version/18 Safari/605", "Safari on macOS"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 19 like Mac OS X) Safari/605", "Safari on iOS"],
  ["Mozilla/5.0 (Linux; Android 16) Firefox/153.0", "Firefox on Android"],
  ["curl/8.0", "curl/8.0"],
  ["", "Unknown browser"],
] as const)("%s is %s", ([userAgent, words]) => {
  expect(describeBrowser(userAgent)).toBe(words);
});
