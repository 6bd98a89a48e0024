import { invariant } from "../../../lib/invariant.ts";
import { makeToken } from "../sign-in/user/user-token.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { type BrowserWay, requestMs } from "./connect-request.ts";
import { insertRequest } from "./connect-store.ts";
import { makeUserCode } from "./user-code.ts";

const requestIdBytes = 16;
/** Collisions are so rare that one retry is hardly ever needed. */
const userCodeDrawsMax = 5;
const userAgentCharactersMax = 300;
export const pollSecondsFirst = 5;

/** Stores a program's request and returns its id. */
export async function openBrowserRequest(
  dependencies: SiteDependencies,
  { client, way }: { client: string; way: BrowserWay },
): Promise<string> {
  const request = createRequest(dependencies, client);
  await insertRequest(dependencies.database, { ...request, way, secretHash: null });
  return request.id;
}

/** The same for the device flow: a device code to poll with, and a user code to type. */
export async function openDeviceRequest(
  dependencies: SiteDependencies,
  { client, address, userAgent }: { client: string; address: string; userAgent: string },
): Promise<{ deviceCode: string; userCode: string; expiresInSeconds: number }> {
  const request = createRequest(dependencies, client);
  const asker = { address, userAgent: userAgent.slice(0, userAgentCharactersMax), at: request.createdAt };
  const deviceCode = makeToken(dependencies.randomBytes);
  for (let draws = 0; draws < userCodeDrawsMax; draws += 1) {
    const userCode = makeUserCode(dependencies.randomBytes);
    const way = { kind: "device", userCode, pollSeconds: pollSecondsFirst, polledAt: null, asker } as const;
    if (await insertRequest(dependencies.database, { ...request, way, secretHash: deviceCode.hash })) {
      return { deviceCode: deviceCode.text, userCode, expiresInSeconds: requestMs / 1000 };
    }
  }
  invariant(false, "no free user code found");
}

function createRequest({ clock, randomBytes }: SiteDependencies, client: string) {
  const createdAt = clock.now();
  return {
    id: Buffer.from(randomBytes(requestIdBytes)).toString("base64url"),
    client,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + requestMs),
  };
}
