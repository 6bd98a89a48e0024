import { ApiError } from "../../api/console-api.ts";
import type { paths } from "../../api/console-paths.ts";

type BodyOf<Path extends "/passkeys" | "/sign-in/passkey"> =
  paths[Path]["post"]["requestBody"]["content"]["application/json"];
type NewPasskey = BodyOf<"/passkeys">["response"];
type PasskeyProof = BodyOf<"/sign-in/passkey">["response"];

/** Whether the browser supports passkeys with JSON options. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
}

/** Signs in with a passkey. `options` come from the server. */
export async function proveByPasskey(options: unknown): Promise<PasskeyProof> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON);
  // The browser's standard JSON form is what the server accepts.
  return (await present(navigator.credentials.get({ publicKey }))) as PasskeyProof;
}

/** Creates a passkey. `options` come from the server. */
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
    ? "This device already has a passkey for your account."
    : "The passkey was not used. Try again, or choose another method.";
  return new ApiError({ status: 0, code: "passkey_not_used", message });
}
