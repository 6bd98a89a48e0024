import type { Page } from "playwright-core";
import type { BrowsedSite } from "./browsed-site.ts";
import { goodPassword } from "./site-visitor.ts";

/** A new browser context with a signed-in user; no page is open yet. */
export async function openSignedInPage(site: BrowsedSite, email: string): ReturnType<BrowsedSite["openPage"]> {
  const opened = await site.openPage();
  await signInByCookie(site, opened.page, email);
  return opened;
}

/** Signs in with a request, for tests of later pages: `signInByPage` uses the form. */
export async function signInByCookie(site: BrowsedSite, page: Page, email: string): Promise<void> {
  // Names that only the browser resolves to this computer do not resolve here.
  const response = await fetch(`${site.gateway.siteUrl}/console/api/sign-in`, {
    method: "POST",
    headers: { origin: site.siteUrl, "content-type": "application/json" },
    body: JSON.stringify({ email, password: goodPassword }),
  });
  const [line = ""] = response.headers.getSetCookie().filter((each) => each.startsWith("sluice-session="));
  const value = /=([^;]+)/.exec(line)?.[1];
  if (value === undefined) throw new Error(`Signing in answered ${response.status}: ${await response.text()}`);
  await page
    .context()
    .addCookies([{ name: "sluice-session", value, url: site.siteUrl, httpOnly: true, sameSite: "Lax" }]);
}
