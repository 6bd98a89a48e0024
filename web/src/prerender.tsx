import { QueryClient } from "@tanstack/react-query";
import { createMemoryHistory } from "@tanstack/react-router";
import { renderToStaticMarkup } from "react-dom/server";
import { slotBrand } from "./api/ask-brand.ts";
import type { Session } from "./api/ask-session.ts";
import { queryTable } from "./api/query-table.ts";
import { Mark } from "./design/mark.tsx";
import { AnnouncementBar, announcementLevels } from "./parts/frame/announcement.tsx";
import { createSiteRouter } from "./router.tsx";
import { Site } from "./site.tsx";

/** Nobody's: what depends on who is signed in is not in a page that everybody is sent. */
const noSession = { account: { time_zone: "UTC" }, user: {} } as Session;

/** The page at an address as it is before anything that it asks for has come. */
export async function prerenderPage(path: string): Promise<string> {
  const queries = new QueryClient();
  queries.setQueryData(queryTable.brand.now().queryKey, slotBrand);
  queries.setQueryData(queryTable.session.current().queryKey, path.startsWith("/console") ? noSession : undefined);
  const router = createSiteRouter(queries, createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  return renderToStaticMarkup(<Site queries={queries} router={router} />);
}

/** What stands in the place of a brand's slots, where it depends on which of them the operator has filled. */
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
