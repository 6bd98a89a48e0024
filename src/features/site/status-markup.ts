import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Clock } from "../../lib/clock.ts";
import { remember } from "../../lib/remember.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { presentStatus, type StatusPage } from "../status/index.ts";

/** How often the data is read at most, also while the database is unavailable. */
const rememberedMs = 5_000;
/** A visitor gets the page without data rather than waiting longer. */
const waitMsMax = 2_000;
/** Rendering blocks the process for a tenth of a millisecond a line. With more, only the page's script shows them. */
const linesMax = 300;

type Render = (status: ReturnType<typeof presentStatus>) => string;

type StatusMarkupOptions = {
  statusPage: Pick<StatusPage, "read">;
  clock: Clock;
  logger: Pick<Logger, "warn">;
  /** The program that the build renders the page with. */
  programPath: string;
};

/** The current status as HTML, rendered once per change of its data; `null` without data. Never rejects. */
export function createStatusMarkup({ statusPage, clock, logger, programPath }: StatusMarkupOptions) {
  let latest: { view: object; markup: string } | null = null;
  // Loaded on the first visit: most processes never need it.
  let program: Promise<{ renderStatus: Render }> | null = null;

  async function compose(): Promise<string | null> {
    const view = await statusPage.read();
    if (latest?.view === view) return latest.markup;
    if (view.models.length + view.endpoints.length > linesMax) return null;
    program ??= import(pathToFileURL(programPath).href);
    const markup = (await program).renderStatus(presentStatus(view));
    latest = { view, markup };
    return markup;
  }

  /** Also remembers that there is no data, so that an unavailable database is not asked by every visitor. */
  const readMarkup = remember(clock, rememberedMs, async () => {
    try {
      return existsSync(programPath) ? await compose() : null;
    } catch (error) {
      logger.warn({ error }, "status page sent without data");
      return null;
    }
  });

  // A slow answer is remembered for the next visitors.
  return async (): Promise<string | null> => {
    const late = Promise.withResolvers<null>();
    const timer = setTimeout(late.resolve, waitMsMax, null);
    try {
      return await Promise.race([readMarkup(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  };
}
