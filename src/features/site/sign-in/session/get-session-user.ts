import type { Database } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import type { User } from "../user/user.ts";
import { findUser } from "../user/user-store.ts";
import type { SiteSession } from "./site-session.ts";

/** The session's user, who may have been deleted a moment ago. */
export async function getSessionUser(database: Database, { userId }: Pick<SiteSession, "userId">): Promise<User> {
  const user = await findUser(database, userId);
  if (user === null) throw new AppError("not_signed_in", "The session has ended. Sign in again.");
  return user;
}
