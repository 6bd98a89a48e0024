import { type BrowsedSite, signInByPage } from "./browsed-site.ts";

/** A browser of its own in which the person has signed in and sees the console. */
export async function openSignedInPage(site: BrowsedSite, email: string): ReturnType<BrowsedSite["openPage"]> {
  const opened = await site.openPage();
  await signInByPage(opened.page, email, "/console");
  await opened.page.getByRole("heading", { name: "Console" }).waitFor();
  return opened;
}
