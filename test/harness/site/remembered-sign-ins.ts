import type { BrowserContextOptions } from "playwright-core";
import type { BrowsedSite } from "./browsed-site.ts";
import { signInByCookie } from "./signed-in-page.ts";

type OpenedPage = ReturnType<BrowsedSite["openPage"]>;

/** Users who sign in once and reuse their session cookies: signing in repeatedly takes time. */
export function createRememberedSignIns(site: BrowsedSite) {
  const remembered = new Map<string, Exclude<BrowserContextOptions["storageState"], string | undefined>>();
  return {
    /** A new browser context on a page of the site, once its heading is there. */
    async open(email: string, path: string): OpenedPage {
      const storageState = remembered.get(email);
      const opened = await site.openPage(storageState === undefined ? {} : { storageState });
      const { page } = opened;
      if (storageState === undefined) await signInByCookie(site, page, email);
      await page.goto(path);
      // The sign-in has a heading too.
      await page.locator("#content").getByRole("heading", { level: 1 }).waitFor();
      remembered.set(email, await page.context().storageState());
      return opened;
    },
  };
}
