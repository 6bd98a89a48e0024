import { use } from "react";
import type { Session } from "../../api/fetch-session.ts";
import { queryTable } from "../../api/query-table.ts";
import { useSuspenseTableQuery } from "../../api/use-table-query.ts";
import { redirectToSignIn } from "./redirect-to-sign-in.ts";

const untilThePageIsLeft = new Promise<never>(() => {});

/** The session on signed-in pages. An expired one redirects to sign-in and back. */
export function useSession(): Session {
  const { data } = useSuspenseTableQuery(queryTable.session.current());
  if (data !== null) return data;
  redirectToSignIn();
  return use(untilThePageIsLeft);
}
