import type {
  AuthenticationResponseJSON,
  AuthenticatorTransportFuture,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { SiteSession } from "../../../../lib/console-session.ts";
import type { UserId } from "../../../../lib/ids.ts";
import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { appendOwnAction } from "../../../audit/index.ts";
import { type Browser, requireLiveSession, type StillHolds } from "../session/sessions.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { limitBeginnings } from "../throttle.ts";
import { lockUser } from "../user/user-store.ts";
import { hashToken, issueToken } from "../user/user-token.ts";
import { takeToken } from "../user/user-token-store.ts";
import { findPasskey, insertPasskey, listPasskeys, type Passkey, updatePasskeyUse } from "./passkey-store.ts";

export const passkeyMs = 5 * 60_000;
const passkeysMax = 20;

/** The challenge to sign, and the cookie token that leads to it. */
type Begun<Options> = { options: Options; passkeyToken: string };
type Purpose = "use" | "add";

/** Loaded lazily: importing it takes 200 ms. */
async function loadLibrary() {
  return await import("@simplewebauthn/server");
}

/** Discoverable credentials: the authenticator knows the user, so no name is needed. */
export async function beginPasskeyUse(
  dependencies: SignInDependencies,
  address: string,
): Promise<Begun<PublicKeyCredentialRequestOptionsJSON>> {
  await dependencies.beginAttempt(limitBeginnings(address));
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID: getSite(dependencies.siteUrl).host,
    userVerification: "required",
    timeout: passkeyMs,
  });
  return { options, passkeyToken: await keepChallenge(dependencies, { purpose: "use", challenge: options.challenge }) };
}

type PasskeyAnswer = { passkeyToken: string | null; response: AuthenticationResponseJSON };

/** Returns the session cookie's token. */
export async function signInWithPasskey(
  dependencies: SignInDependencies,
  { browser, ...answer }: PasskeyAnswer & { browser: Browser },
): Promise<string> {
  const { userId, credentialId } = await acceptPasskey(dependencies, answer);
  const stillHolds: StillHolds = async (tx) => (await findPasskey(tx, credentialId)) !== null;
  const sessionToken = await dependencies.sessions.open(dependencies.database, {
    ...{ userId, browser, stillHolds },
    isTwoStep: true,
  });
  if (sessionToken === null) throw createRefusal();
  dependencies.logger.info({ user_id: userId, method: "passkey", address: browser.address }, "signed in");
  return sessionToken;
}

/** The owner of the passkey. It covers both factors: possession, and a fingerprint, face or PIN. */
export async function acceptPasskey(
  dependencies: SignInDependencies,
  { passkeyToken, response }: PasskeyAnswer,
): Promise<Passkey> {
  const { database, clock, siteUrl } = dependencies;
  const challenge = await takeChallenge(dependencies, passkeyToken, "use");
  const passkey = await findPasskey(database, response.id);
  if (passkey === null) throw createRefusal();
  const signCount = await verifyUse(siteUrl, { response, challenge, passkey });
  const use = { signCount, usedAt: clock.now() };
  if (!(await updatePasskeyUse(database, passkey, use))) throw createRefusal();
  return passkey;
}

async function verifyUse(
  siteUrl: string,
  { response, challenge, passkey }: { response: AuthenticationResponseJSON; challenge: string; passkey: Passkey },
): Promise<bigint> {
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { host, origin } = getSite(siteUrl);
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        counter: Number(passkey.signCount),
      },
    });
    if (!verified) throw createRefusal();
    return BigInt(authenticationInfo.newCounter);
  } catch (error) {
    throw error instanceof AppError ? error : createRefusal(error);
  }
}

export async function beginPasskeyAddition(
  dependencies: SignInDependencies,
  session: SiteSession,
): Promise<Begun<PublicKeyCredentialCreationOptionsJSON>> {
  const { generateRegistrationOptions } = await loadLibrary();
  const known = await listPasskeys(dependencies.database, session.userId);
  const options = await generateRegistrationOptions({
    rpName: dependencies.serviceName,
    rpID: getSite(dependencies.siteUrl).host,
    userID: new TextEncoder().encode(session.userId),
    userName: session.email,
    userDisplayName: session.email,
    attestationType: "none",
    timeout: passkeyMs,
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports as AuthenticatorTransportFuture[],
    })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  const kept = { purpose: "add", challenge: options.challenge, userId: session.userId } as const;
  return { options, passkeyToken: await keepChallenge(dependencies, kept) };
}

export async function addPasskey(
  dependencies: SignInDependencies,
  session: SiteSession,
  { passkeyToken, name, response }: { passkeyToken: string | null; name: string; response: RegistrationResponseJSON },
): Promise<Passkey> {
  const { database, clock, ids, siteUrl, notifyChange } = dependencies;
  const challenge = await takeChallenge(dependencies, passkeyToken, "add", session.userId);
  const credential = await verifyAddition(siteUrl, response, challenge);
  const passkey = {
    id: ids.next("passkey"),
    userId: session.userId,
    ...credential,
    name: name.trim(),
    createdAt: clock.now(),
  };
  await inTransaction(database, async (tx) => {
    await lockUser(tx, session.userId);
    // A user signed out meanwhile must not leave a new sign-in method behind.
    await requireLiveSession(tx, session.id, clock.now());
    if ((await listPasskeys(tx, session.userId)).length >= passkeysMax) {
      throw new AppError("invalid_parameter", `You already have ${passkeysMax} passkeys. Remove one first.`);
    }
    if (!(await insertPasskey(tx, passkey))) {
      throw new AppError("invalid_parameter", "This passkey is already registered.", { param: "response" });
    }
    const after = { name: passkey.name };
    await appendOwnAction(tx, session, { action: "passkey.added", subject: passkey.id, after });
  });
  notifyChange(session, "A passkey was added");
  return { ...passkey, lastUsedAt: null };
}

async function verifyAddition(siteUrl: string, response: RegistrationResponseJSON, challenge: string) {
  const { verifyRegistrationResponse } = await loadLibrary();
  const { host, origin } = getSite(siteUrl);
  const refused = "The passkey could not be added. Try again.";
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: host,
      requireUserVerification: true,
    });
    if (registrationInfo === undefined) throw new AppError("invalid_parameter", refused, { param: "response" });
    const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
    return { credentialId: id, publicKey: Buffer.from(publicKey), signCount: BigInt(counter), transports };
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("invalid_parameter", refused, { param: "response", cause: error });
  }
}

async function keepChallenge(
  dependencies: SignInDependencies,
  { userId = null, ...details }: { purpose: Purpose; challenge: string; userId?: UserId | null },
): Promise<string> {
  const kept = { kind: "passkey", validMs: passkeyMs, userId, details } as const;
  return await issueToken(dependencies.database, dependencies, kept);
}

/** A challenge works once, for its purpose and user. */
async function takeChallenge(
  { database, clock }: SignInDependencies,
  passkeyToken: string | null,
  purpose: Purpose,
  userId: UserId | null = null,
): Promise<string> {
  const place = { kind: "passkey", hash: hashToken(passkeyToken ?? ""), now: clock.now() } as const;
  const token = passkeyToken === null ? null : await takeToken(database, place);
  if (token === null || token.details.purpose !== purpose || token.userId !== userId) {
    throw new AppError("invalid_token", "The passkey request expired or was already used. Try again.");
  }
  return String(token.details.challenge);
}

function getSite(siteUrl: string): { host: string; origin: string } {
  const { hostname, origin } = new URL(siteUrl);
  return { host: hostname, origin };
}

function createRefusal(cause?: unknown): AppError {
  return new AppError("wrong_credentials", "This passkey is not registered here. Choose another sign-in method.", {
    ...(cause === undefined ? {} : { cause }),
  });
}
