import type { BrowserContextOptions } from "playwright-core";
import type { BrowsedSite } from "./browsed-site.ts";
import { signInByCookie } from "./signed-in-page.ts";

type OpenedPage = ReturnType<BrowsedSite["openPage"]>;

/** People who sign in once and come back with what their browser remembers: signing in again and again takes time. */
export function createRememberedSignIns(site: BrowsedSite) {
  const remembered = new Map<string, Exclude<BrowserContextOptions["storageState"], string | undefined>>();
  return {
    /** A browser of its own on a page of the site, once its heading is there. */
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
