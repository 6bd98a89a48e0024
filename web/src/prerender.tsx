import { areas } from "virtual:reference";
import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory } from "@tanstack/react-router";
import { renderToStaticMarkup } from "react-dom/server";
import { slotBrand } from "./api/fetch-brand.ts";
import type { Session, SiteSettings } from "./api/fetch-session.ts";
import { queryTable } from "./api/query-table.ts";
import { Mark } from "./design/mark.tsx";
import { chapterGroups, firstChapter } from "./pages/guide/chapters.ts";
import { AnnouncementBar, announcementLevels } from "./parts/frame/announcement.tsx";
import { createSiteRouter } from "./router.tsx";
import { Site } from "./site.tsx";

/** No session: prerendered pages are the same for everyone. */
const noSession = { account: { time_zone: "UTC" }, user: {} } as Session;

/** Placeholder settings. The server fills the slots, and sends the sign-up form only if sign-up is open. */
const slotSite = { base_url: "%base-url%", sign_up: "open" } as SiteSettings;

/** Renders a page before its requests complete; data shipped with the site is included. */
export async function prerenderPage(path: string): Promise<string> {
  const queries = new QueryClient();
  queries.setQueryData(queryTable.brand.now().queryKey, slotBrand);
  queries.setQueryData(queryTable.session.current().queryKey, path.startsWith("/console") ? noSession : undefined);
  if (/^\/(docs|sign-up)(\/|$)/.test(path)) queries.setQueryData(queryTable.site.settings().queryKey, slotSite);
  const history = createMemoryHistory({ initialEntries: [path] });
  const router = createSiteRouter({ queries, isPatient: () => true }, history);
  await router.load();
  return renderToStaticMarkup(<Site queries={queries} router={router} />);
}

/** Guide and reference pages share routes: each page's route, and the source of its content. */
export function listDocsPages(): { path: string; route: string; source: string | null }[] {
  const chapters = chapterGroups
    .flatMap((group) => group.chapters)
    .map(({ id }) => ({
      path: `/docs/guide/${id}`,
      route: "/docs/guide/:chapter",
      source: `../docs/api/${id}.md`,
    }));
  const route = "/docs/reference/:name";
  const reference = areas.flatMap((area) => [
    { path: `/docs/reference/${area.slug}`, route, source: null },
    ...area.operations.map(({ slug }) => ({
      path: `/docs/reference/${slug}`,
      route,
      source: `../virtual:reference/${area.slug}`,
    })),
  ]);
  const first = { path: "/docs/guide", route: "/docs/guide", source: `../docs/api/${firstChapter.id}.md` };
  return [first, ...chapters, ...reference];
}

/** Markup of brand slots that depend on what the operator has set. */
export function prerenderParts(): { mark: string; announcements: Record<string, string> } {
  const announcements = announcementLevels.flatMap((level) =>
    [slotBrand.announcement.url, null].map((url) => [
      `${level} ${url === null ? "plain" : "linked"}`,
      renderToStaticMarkup(
        <AnnouncementBar announcement={{ ...slotBrand.announcement, level, url }} onDismiss={() => {}} />,
      ),
    ]),
  );
  return { mark: renderToStaticMarkup(<Mark />), announcements: Object.fromEntries(announcements) };
}
