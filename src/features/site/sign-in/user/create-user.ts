import type { Clock } from "../../../../lib/clock.ts";
import type { AccountId, IdSource } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";
import type { User } from "./user.ts";
import { insertUser } from "./user-store.ts";

type NewUser = {
  accountId: AccountId;
  email: string;
  name: string | null;
  passwordHash: string | null;
  isEmailVerified: boolean;
  isOperator: boolean;
};

export async function createUser(
  { database, clock, ids }: { database: Database; clock: Clock; ids: IdSource },
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
