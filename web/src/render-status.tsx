import { renderToStaticMarkup } from "react-dom/server";
import type { Uptime } from "./api/fetch-uptime.ts";
import { StatusContents } from "./pages/status/status-contents.tsx";

/** The program that the server renders `/status` with. */
export function renderStatus(uptime: Uptime): string {
  return renderToStaticMarkup(<StatusContents uptime={uptime} />);
}
