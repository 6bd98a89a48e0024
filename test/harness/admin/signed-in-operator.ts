import type { Page } from "playwright-core";
import { grantOperator } from "../../../src/features/admin/index.ts";
import type { OperatorRole } from "../../../src/lib/operator-role.ts";
import type { BrowsedSite } from "../site/browsed-site.ts";
import { goodPassword } from "../site/site-visitor.ts";
import { readBase32, showTotp } from "../site/totp-app.ts";
import { onHost } from "./admin-visitor.ts";

/** Signs a new operator with an authenticator app in, in the page's browser. Returns the address. */
export async function signInOperator(
  site: BrowsedSite,
  page: Page,
  { role = "operator" }: { role?: OperatorRole } = {},
): Promise<string> {
  const email = await site.createPerson();
  await grantOperator(site.gateway.parts, { email, role, acting: onHost, reason: null });
  let cookie = "";
  const post = async (path: string, body: object) => {
    const response = await fetch(`${site.gateway.siteUrl}/console/api${path}`, {
      method: "POST",
      headers: { origin: site.siteUrl, "content-type": "application/json", cookie },
      body: JSON.stringify(body),
    });
    const [line = ""] = response.headers.getSetCookie().filter((each) => each.startsWith("sluice-session="));
    const [own = ""] = line.split(";");
    if (own !== "") cookie = own;
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.status === 204 ? null : await response.json();
  };
  await post("/sign-in", { email, password: goodPassword });
  const offer = (await post("/totp", {})) as { secret: string };
  await post("/totp/confirm", { code: showTotp(readBase32(offer.secret), site.clock.now()) });
  const value = cookie.slice(cookie.indexOf("=") + 1);
  await page
    .context()
    .addCookies([{ name: "sluice-session", value, url: site.siteUrl, httpOnly: true, sameSite: "Lax" }]);
  return email;
}
