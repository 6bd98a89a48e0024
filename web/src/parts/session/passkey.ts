import { ApiError } from "../../api/console-api.ts";
import type { paths } from "../../api/console-paths.ts";

type BodyOf<Path extends "/passkeys" | "/sign-in/passkey"> =
  paths[Path]["post"]["requestBody"]["content"]["application/json"];
type NewPasskey = BodyOf<"/passkeys">["response"];
type PasskeyProof = BodyOf<"/sign-in/passkey">["response"];

/** Whether this browser can use passkeys in the form that our server speaks. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Asks the person to prove themselves with a passkey. `options` come from the server. */
export async function proveByPasskey(options: unknown): Promise<PasskeyProof> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  // The browser writes it in the form of the standard, which is the form that the server takes.
  return (await present(navigator.credentials.get({ publicKey }))) as PasskeyProof;
}

/** Makes a new passkey. `options` come from the server. */
export async function makePasskey(options: unknown): Promise<NewPasskey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as PublicKeyCredentialCreationOptionsJSON);
  return (await present(navigator.credentials.create({ publicKey }))) as NewPasskey;
}

async function present(asked: Promise<Credential | null>): Promise<unknown> {
  const credential = await asked.catch((error: unknown) => {
    throw describe(error);
  });
  if (!(credential instanceof PublicKeyCredential)) throw describe(null);
  return credential.toJSON();
}

function describe(error: unknown): ApiError {
  const isKnownAlready = error instanceof DOMException && error.name === "InvalidStateError";
  const message = isKnownAlready
    ? "This device has a passkey for your account already."
    : "The passkey was not used. Try again, or choose another way.";
  return new ApiError({ status: 0, code: "passkey_not_used", message });
}
