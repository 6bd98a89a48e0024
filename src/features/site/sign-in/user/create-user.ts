import type { SiteDependencies } from "../../site-dependencies.ts";
import type { User } from "./user.ts";
import { insertUser } from "./user-store.ts";

type NewUser = Pick<User, "accountId" | "email" | "name" | "passwordHash"> & {
  isEmailVerified: boolean;
};

export async function createUser(
  { database, clock, ids }: Pick<SiteDependencies, "database" | "clock" | "ids">,
  { isEmailVerified, ...request }: NewUser,
): Promise<User> {
  const now = clock.now();
  const user = {
    ...request,
    id: ids.next("user"),
    emailVerifiedAt: isEmailVerified ? now : null,
    createdAt: now,
  };
  await insertUser(database, user);
  return { ...user, totpSecret: null, totpSecretWaiting: null };
}
