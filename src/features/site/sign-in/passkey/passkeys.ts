import type {
  AuthenticationResponseJSON,
  AuthenticatorTransportFuture,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from "@simplewebauthn/server";
import type { UserId } from "../../../../lib/ids.ts";
import { inTransaction } from "../../../../platform/database/database.ts";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { announceChange } from "../announce-change.ts";
import { type Browser, openSession, requireLiveSession, type StillHolds } from "../session/sessions.ts";
import type { SiteSession } from "../session/site-session.ts";
import type { SignInParts } from "../sign-in-parts.ts";
import { beginAttempt, limitBeginnings } from "../throttle.ts";
import { lockUser } from "../user/user-store.ts";
import { hashToken, makeToken } from "../user/user-token.ts";
import { insertToken, takeToken } from "../user/user-token-store.ts";
import { findPasskey, insertPasskey, listPasskeys, type Passkey, updatePasskeyUse } from "./passkey-store.ts";

export const passkeyMs = 5 * 60_000;
const passkeysMax = 20;

/** The challenge that an authenticator has to sign, with the text of the cookie that leads back to it. */
type Begun<Options> = { options: Options; passkeyToken: string };
type Purpose = "use" | "add";

/** Loaded with the first passkey: it takes a fifth of a second. */
async function loadLibrary() {
  return await import("@simplewebauthn/server");
}

/** Any passkey of this site will do: the authenticator knows whose it is, so nobody has to say so before. */
export async function beginPasskeyUse(
  parts: SignInParts,
  address: string,
): Promise<Begun<PublicKeyCredentialRequestOptionsJSON>> {
  await beginAttempt(parts, limitBeginnings(address));
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID: getSite(parts).host,
    userVerification: "required",
    timeout: passkeyMs,
  });
  return { options, passkeyToken: await keepChallenge(parts, { purpose: "use", challenge: options.challenge }) };
}

type PasskeyAnswer = { passkeyToken: string | null; response: AuthenticationResponseJSON };

/** Answers the text of the session's cookie. */
export async function signInWithPasskey(
  parts: SignInParts,
  { browser, ...answer }: PasskeyAnswer & { browser: Browser },
): Promise<string> {
  const { userId, credentialId } = await acceptPasskey(parts, answer);
  const stillHolds: StillHolds = async (tx) => (await findPasskey(tx, credentialId)) !== null;
  const sessionToken = await openSession(parts, { userId, browser, stillHolds });
  if (sessionToken === null) throw createRefusal();
  parts.logger.info({ user_id: userId, method: "passkey", address: browser.address }, "signed in");
  return sessionToken;
}

/** Whose passkey it is. It stands for both factors: who has it, and a finger, a face or a PIN. */
export async function acceptPasskey(parts: SignInParts, { passkeyToken, response }: PasskeyAnswer): Promise<Passkey> {
  const challenge = await takeChallenge(parts, passkeyToken, "use");
  const passkey = await findPasskey(parts.database, response.id);
  if (passkey === null) throw createRefusal();
  const signCount = await verifyUse(parts, { response, challenge, passkey });
  const use = { signCount, usedAt: parts.clock.now() };
  if (!(await updatePasskeyUse(parts.database, passkey, use))) throw createRefusal();
  return passkey;
}

async function verifyUse(
  parts: SignInParts,
  { response, challenge, passkey }: { response: AuthenticationResponseJSON; challenge: string; passkey: Passkey },
): Promise<bigint> {
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { host, origin } = getSite(parts);
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
  parts: SignInParts,
  session: SiteSession,
): Promise<Begun<PublicKeyCredentialCreationOptionsJSON>> {
  const { generateRegistrationOptions } = await loadLibrary();
  const known = await listPasskeys(parts.database, session.userId);
  const options = await generateRegistrationOptions({
    rpName: "Sluice",
    rpID: getSite(parts).host,
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
  return { options, passkeyToken: await keepChallenge(parts, kept) };
}

type PasskeyAddition = { passkeyToken: string | null; name: string; response: RegistrationResponseJSON };

export async function addPasskey(
  parts: SignInParts,
  session: SiteSession,
  { passkeyToken, name, response }: PasskeyAddition,
): Promise<Passkey> {
  const challenge = await takeChallenge(parts, passkeyToken, "add", session.userId);
  const credential = await verifyAddition(parts, response, challenge);
  const passkey = {
    id: parts.ids.next("passkey"),
    userId: session.userId,
    ...credential,
    name: name.trim(),
    createdAt: parts.clock.now(),
  };
  await inTransaction(parts.database, async (tx) => {
    await lockUser(tx, session.userId);
    // Whoever was signed out meanwhile leaves no way in behind.
    await requireLiveSession({ ...parts, database: tx }, session.id);
    if ((await listPasskeys(tx, session.userId)).length >= passkeysMax) {
      throw new AppError("invalid_parameter", `You have ${passkeysMax} passkeys already. Remove one first.`);
    }
    if (!(await insertPasskey(tx, passkey))) {
      throw new AppError("invalid_parameter", "This passkey is in use already.", { param: "response" });
    }
  });
  announceChange(parts, session, "A passkey was added");
  return { ...passkey, lastUsedAt: null };
}

async function verifyAddition(parts: SignInParts, response: RegistrationResponseJSON, challenge: string) {
  const { verifyRegistrationResponse } = await loadLibrary();
  const { host, origin } = getSite(parts);
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
  parts: SignInParts,
  { purpose, challenge, userId = null }: { purpose: Purpose; challenge: string; userId?: UserId | null },
): Promise<string> {
  const token = makeToken(parts.randomBytes);
  const now = parts.clock.now();
  await insertToken(parts.database, {
    hash: token.hash,
    kind: "passkey",
    email: null,
    userId,
    details: { purpose, challenge },
    createdAt: now,
    expiresAt: new Date(now.getTime() + passkeyMs),
  });
  return token.text;
}

/** A challenge is signed once, for what it was made for and for whom. */
async function takeChallenge(
  parts: SignInParts,
  passkeyToken: string | null,
  purpose: Purpose,
  userId: UserId | null = null,
): Promise<string> {
  const place = { kind: "passkey", hash: hashToken(passkeyToken ?? ""), now: parts.clock.now() } as const;
  const token = passkeyToken === null ? null : await takeToken(parts.database, place);
  if (token === null || token.details.purpose !== purpose || token.userId !== userId) {
    throw new AppError("invalid_token", "This took too long, or was done already. Try the passkey again.");
  }
  return String(token.details.challenge);
}

function getSite({ siteUrl }: SignInParts): { host: string; origin: string } {
  const { hostname, origin } = new URL(siteUrl);
  return { host: hostname, origin };
}

function createRefusal(cause?: unknown): AppError {
  return new AppError("wrong_credentials", "This passkey does not sign in here.", {
    ...(cause === undefined ? {} : { cause }),
  });
}
