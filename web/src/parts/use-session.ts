import { useSuspenseQuery } from "@tanstack/react-query";
import { use } from "react";
import { type Session, sessionQuery } from "../api/session-query.ts";
import { leaveForSignIn } from "./leave-for-sign-in.ts";

const untilThePageIsLeft = new Promise<never>(() => {});

/** The session on pages that only somebody who is signed in gets to. One that has ended leads to sign-in and back. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data !== null) return data;
  leaveForSignIn();
  return use(untilThePageIsLeft);
}
